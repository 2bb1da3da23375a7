"""What is installed from the wheel works alone, outside of a checkout."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from fcn.hosts.processes import Process, wait_until

ROOT = Path(__file__).resolve().parents[2]
NO_SOURCES = (".*", "build", "dist", "out", "*.egg-info", "__pycache__")
PATIENCE_S = 180.0
DATA = {
    "fcn/py.typed",
    "fcn/bench/blaster.c",
    "fcn/controller/examples/network.yaml",
    "fcn/hosts/delayline/delayline.c",
    "fcn/hosts/guest/init.sh",
    "fcn/hosts/roce/src/wire.h",
    "fcn/page/static/index.html",
    "fcn/page/static/main.js",
    "fcn/page/static/page.css",
    "fcn/p4src/compiled/constants.json",
    "fcn/p4src/compiled/p.json",
    "fcn/p4src/compiled/p.p4info.txtpb",
    "fcn/p4src/compiled/pe.json",
    "fcn/p4src/compiled/pe.p4info.txtpb",
    "fcn/p4src/compiled/tna/p.p4info.txtpb",
    "fcn/p4src/compiled/tna/pe.p4info.txtpb",
    "fcn/packets/wireshark/fcn.lua",
    "fcn/ptf_tests/data/softroce-rping-write-v4v6.pcap",
    "fcn/ptf_tests/data/unreachable.toml",
    "fcn/softswitch/engine/native/sw_pass.c",
    "fcn/softswitch/engine/native/sw_ctl.h",
}


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build_wheel(source: Path, into: Path) -> Path:
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", "wheel", *options, "-w", into, source, cwd=into.parent)
    (wheel,) = into.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources as they are, without what was built of them."""
    copy = tmp_path_factory.mktemp("source") / "fcn"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(*NO_SOURCES))
    return copy


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(checkout, tmp_path_factory.mktemp("built") / "wheel")


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def test_the_wheel_holds_one_package_and_its_data(wheel: Path) -> None:
    found = names(wheel)
    assert {name.partition("/")[0] for name in found} == {"fcn"}
    assert found >= DATA
    packages = {name.split("/")[1] for name in found if name.count("/") > 1}
    # The links in fcn/ are the packages; `tests` and `tools` have none.
    assert packages == {link.name for link in (ROOT / "fcn").iterdir() if link.is_symlink()}


@pytest.mark.exhaustive
def test_the_source_distribution_builds_the_same_wheel(
    checkout: Path, wheel: Path, tmp_path: Path
) -> None:
    code = f"from setuptools.build_meta import build_sdist; build_sdist({str(tmp_path)!r})"
    run(sys.executable, "-c", code, cwd=checkout)
    (source,) = tmp_path.glob("*.tar.gz")
    shutil.unpack_archive(source, tmp_path / "unpacked")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    again = build_wheel(unpacked, tmp_path / "wheel")
    assert names(again) == names(wheel)


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel in it."""

    folder: Path
    work: Path

    def program(self, name: str) -> Path:
        """A program of the environment."""
        return self.folder / "bin" / name

    def run(self, name: str, *arguments: str | Path, api: str = "") -> str:
        """Output of a program, run outside of the checkout."""
        env = {"PYTHONPATH": "", "FCN_API": api, "COLUMNS": "200"}
        return run(self.program(name), *arguments, cwd=self.work, env=env)

    def succeeds(self, name: str, *arguments: str | Path, api: str) -> bool:
        """Whether a program's exit code is 0."""
        command = [self.program(name), *arguments]
        env = os.environ | {"PYTHONPATH": "", "FCN_API": api}
        done = subprocess.run(command, cwd=self.work, env=env, capture_output=True, check=False)
        return done.returncode == 0

    @contextmanager
    def running(self, name: str, *arguments: str | Path, says: str) -> Iterator[None]:
        """A program that runs, once it has said so."""
        log = self.work / f"{name}.log"
        while log.exists():
            log = log.with_name(f"{log.stem}-.log")
        with Process(name, [self.program(name), *arguments], log) as process:
            process.wait_ready(lambda: says in log.read_text(), PATIENCE_S)
            yield


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Installed:
    """Nothing is downloaded: other packages are those of the environment the tests run in."""
    folder, work = tmp_path / "venv", tmp_path / "work"
    work.mkdir()
    venv.create(folder, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    # A .pth file's directories are searched, but not their .pth files: no editable install here.
    here = [path for path in (sysconfig.get_path("purelib"), *sys.path) if "-packages" in path]
    (packages / "others.pth").write_text("".join(f"{path}\n" for path in here))
    pip = (sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install")
    run(*pip, "--no-deps", "--no-index", "--force-reinstall", "--quiet", wheel, cwd=work)
    return Installed(folder, work)


def one_pe_and_one_p(example: Path, api: str) -> str:
    """The example with two of its nodes, their switches at ports that are free."""
    network = yaml.safe_load(example.read_text())
    network["api"] = api
    del network["metrics"]
    network["nodes"] = {name: network["nodes"][name] for name in ("pe1", "p1")}
    network["nodes"]["pe1"]["tunnels"] = {}
    network["nodes"]["pe1"]["vrfs"]["blue"]["routes"] = []
    network["links"] = network["links"][:1]
    return yaml.safe_dump(network)


def test_commands_of_the_wheel_work(installed: Installed) -> None:
    where = installed.run("python", "-c", "import fcn.controller as c; print(c.__file__)")
    assert Path(where).is_relative_to(installed.folder)
    example = Path(where).parent / "examples" / "network.yaml"
    assert "links: valid" in installed.run("fcn", "check", "-c", example)
    api, config = f"unix:{installed.work}/api", installed.work / "network.yaml"
    text = one_pe_and_one_p(example, api)
    with ExitStack() as stack:
        for node in ("pe1", "p1"):
            server = f"unix:{installed.work}/{node}"
            options = ("--no-p4", "--device-id", "1", "--", "--grpc-server-addr", server)
            running = installed.running("fcn-softswitch", *options, says="listens")
            stack.enter_context(running)
            before = yaml.safe_load(text)["nodes"][node]["grpc"]
            text = text.replace(before, server)
        config.write_text(text)
        stack.enter_context(installed.running("fcn", "run", "-c", config, says="API on"))
        wait_until(
            lambda: installed.succeeds("fcn", "status", api=api), PATIENCE_S, "both switches up"
        )
