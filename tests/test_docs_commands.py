"""The documentation's commands: the command line takes those of `fcn`, and all do what they say.

They are executed in the order of the pages.
"""

import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

import pytest
import typer
import typer.core
import yaml
from docs_instead import ELSEWHERE, FIRST, INSTEAD, UNTIL
from test_docs import PAGES, ROOT

from fcn.controller.cli.commands import app
from fcn.lab.cli.main import app as lab_app
from fcn.page.__main__ import main as page_main
from fcn.page.top.__main__ import main as top_main
from fcn.softswitch.tracer.__main__ import main as trace_main

USAGE_ERROR = cast(type[Exception], typer.BadParameter.__base__)
"""Of the click within Typer."""


def _alone(program: object) -> typer.Typer:
    made = typer.Typer()
    made.command()(program)  # type: ignore[type-var]
    return made


PROGRAMS = {
    "lab": lab_app,
    "page": _alone(page_main),
    "top": _alone(top_main),
    "trace": _alone(trace_main),
}
"""Commands of `fcn` that are programs of their own; those of `topo` read options themselves."""

FENCED = re.compile(r"^ *```\w*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(
    r"(?:fcn|fcn-\w+|simple_switch_grpc|make|python|pip|apt-get|git|tshark|ln|export|cd|g\+\+) "
)
"""What a line begins with that is a command; others are what commands print, or no commands."""

EXECUTED = [page for page in PAGES if page.parent.name == "docs" or page.name == "README.md"]

WAIT = 300.0
"""Seconds for a command, of which none takes a tenth on an idle machine."""

GRID = {"scenarios": ["dumbbell"], "modes": ["fcn"], "seeds": 1, "until": "1ms"}

Execute = Callable[[str], None]


def shown(text: str) -> Iterator[str]:
    """The commands of a page in their order."""
    for block in FENCED.findall(text):
        for line in re.sub(r" *\\\n *", " ", block).splitlines():
            written = re.split(r" +# ", line.strip())[0].removeprefix("$ ")
            for part in written.split(" && "):
                command = part.strip().removeprefix(".venv/bin/").strip()
                if PROGRAM.match(f"{command} "):
                    yield command


def parse(command: Any, words: list[str], programs: dict[str, typer.Typer]) -> None:  # noqa: ANN401
    """Raises UsageError for what the command line refuses."""
    context = command.make_context(command.name, list(words))
    if not isinstance(command, typer.core.TyperGroup):
        return
    name, found, left = command.resolve_command(context, [*context._protected_args, *context.args])
    assert name is not None
    if name in programs:
        if name == "trace" and left[:1] and not left[0].startswith("-"):
            left = ["--switch", *left]
        found = typer.main.get_command(programs[name])
    if name != "topo":
        parse(found, left, {})


def refused(text: str) -> list[str]:
    """Commands of `fcn` on a page that cannot be, with the reasons; those with something left out
    are not read."""
    wrong = []
    for command in shown(text):
        program, *words = shlex.split(command.partition(" | ")[0])
        if program != "fcn" or "…" in command or "..." in command:
            continue
        try:
            parse(typer.main.get_command(app), words, PROGRAMS)
        except USAGE_ERROR as error:
            wrong.append(f"{command}: {error}")
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_command_line_takes_those_of_a_page(page: Path) -> None:
    assert refused(page.read_text()) == []


def test_mistyped_commands_are_found() -> None:
    text = "```\nfcn status --apii x\nfcn statu\nfcn lab run a --moed b\nfcn status  # --x\n```\n"
    assert [line.partition(":")[0] for line in refused(text)] == [
        "fcn status --apii x", "fcn statu", "fcn lab run a --moed b",
    ]  # fmt: skip


def elsewhere(command: str) -> str:
    """Why it is not executed here; empty where it is."""
    return next((why for each, why in ELSEWHERE.items() if fnmatchcase(command, each)), "")


def test_what_is_said_of_commands_is_of_some() -> None:
    """Neither a reason nor a replacement outlives its command."""
    texts = {command for page in EXECUTED for command in shown(page.read_text())}
    executed = {INSTEAD.get(text, text) for text in texts if not elsewhere(text)}
    assert len(executed) > 30
    assert [each for each in ELSEWHERE if not any(fnmatchcase(text, each) for text in texts)] == []
    assert set(INSTEAD) <= texts
    assert set(FIRST) | set(UNTIL) <= executed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the pages speak of."""
    made = tmp_path_factory.mktemp("docs")
    for name in ("tests", "packets"):
        (made / name).symlink_to(ROOT / name)
    programs = {"fcn": "fcn.controller.cli.main", "fcn-softswitch": "fcn.softswitch"}
    (made / "bin").mkdir()
    for name, module in programs.items():
        program = made / "bin" / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m {module} "$@"\n')
        program.chmod(0o755)
    (made / "grid.yaml").write_text(yaml.safe_dump(GRID))
    links = "0 2 25Gbps 1us 0\n1 3 25Gbps 1us 0\n2 3 25Gbps 5us 0\n"
    (made / "topology.txt").write_text(f"4 2 3\n2 3\n{links}")
    (made / "flow.txt").write_text("1\n0 1 3 100 20000 0\n")
    (made / "permutation.cm").write_text("Nodes 16\nConnections 1\n0->9 start 0 size 20000\n")
    return made


@pytest.fixture(scope="module")
def environment(folder: Path) -> Iterator[dict[str, str]]:
    """The demo's network with traffic between its hosts, and what reaches it."""
    if os.geteuid() != 0:
        pytest.skip("needs root: the network is made of namespaces")
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    found = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    topo = ["fcn", "topo"]
    run = [*topo, "run", "demo", "--target", "softswitch", "--out", str(folder / "net")]
    with ended(run, folder, found) as network:
        assert network.stdout is not None
        said = heard(network.stdout.fileno(), "ends it", "the network")
        found["FCN_API"] = said.partition("fcn status --api ")[2].split()[0]
        (folder / "network.yaml").write_text((folder / "net" / "network.yaml").read_text())
        away(folder)
        send = [*topo, "traffic", "h1", "h3", "--out", str(folder / "net")]
        with ended(send, folder, found):
            yield found


class ended(subprocess.Popen[str]):  # noqa: N801
    """A process that ends with its context."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        super().__init__(
            command, cwd=folder, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def __exit__(self, *details: object) -> None:
        self.terminate()
        self.communicate(timeout=WAIT)


def away(folder: Path) -> None:
    """Two files of the same network whose switches nobody reaches."""
    config = yaml.safe_load((folder / "network.yaml").read_text())
    for node in config["nodes"].values():
        node["grpc"] = f"unix:{folder}/nobody"
    for key in ("page", "metrics", "state"):
        config.pop(key, None)
    alone = config | {"api": f"unix:{folder}/alone"}
    pair = {name: f"unix:{folder}/{name}" for name in ("east", "west")}
    del config["api"]
    (folder / "alone.yaml").write_text(yaml.safe_dump(alone))
    (folder / "pair.yaml").write_text(yaml.safe_dump(config | {"controllers": pair}))


@pytest.fixture(scope="module")
def execute(folder: Path, environment: dict[str, str]) -> Execute:
    """Executes a command once, whichever page has it."""
    done: set[str] = set()

    def run(command: str) -> None:
        if command in done:
            return
        if command in FIRST:
            run(FIRST[command])
        done.add(command)
        print(f"{time.strftime('%X')} {command}", flush=True)
        if command in UNTIL:
            serve(command, folder, environment)
            return
        result = subprocess.run(
            command, shell=True, cwd=folder, env=environment, timeout=WAIT, check=False,
            capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
        assert result.stdout + result.stderr or "ln -s" in command, f"{command} says nothing"

    return run


def heard(source: int, pattern: str, program: str) -> str:
    """What a program says until it has said that."""
    said, end = "", time.monotonic() + WAIT
    while not re.search(pattern, said):
        assert time.monotonic() < end, f"{program} did not say {pattern!r}: {said}"
        if select.select([source], [], [], 1)[0]:
            new = b""
            with suppress(OSError):  # a terminal that its program has left
                new = os.read(source, 65536)
            assert new, f"{program} ended: {said}"
            said += new.decode(errors="replace")
    return said


def serve(command: str, folder: Path, environment: dict[str, str]) -> None:
    """Let it run in a terminal until it says what it is to say, then end it."""
    ours, its = pty.openpty()
    process = subprocess.Popen(
        f"exec {command}", shell=True, cwd=folder, env=environment, start_new_session=True,
        stdin=its, stdout=its, stderr=its,
    )  # fmt: skip
    os.close(its)
    try:
        said = heard(ours, UNTIL[command], command)
        end = time.monotonic() + WAIT
        if command == "fcn top":
            os.write(ours, b"q")
        else:
            os.killpg(process.pid, signal.SIGINT)
        while process.poll() is None:
            assert time.monotonic() < end, f"{command} did not end"
            with suppress(OSError):
                if select.select([ours], [], [], 0.1)[0]:
                    os.read(ours, 65536)
        assert process.returncode in (0, 128 + signal.SIGINT, -signal.SIGINT), said
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(ours)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "page",
    [page for page in EXECUTED if not all(map(elsewhere, shown(page.read_text())))],
    ids=lambda page: page.name,
)
def test_commands_of_a_page(page: Path, execute: Execute) -> None:
    for command in shown(page.read_text()):
        if not elsewhere(command):
            execute(INSTEAD.get(command, command))


@pytest.mark.exhaustive
def test_a_command_that_fails_is_found(execute: Execute) -> None:
    with pytest.raises(AssertionError, match=r"no node .?p99"):
        execute("fcn counters p99")
