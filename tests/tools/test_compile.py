"""The compiled programs' check: when it recompiles, and what it notices."""

from pathlib import Path

import pytest

from tools.p4 import compile as p4_compile
from tools.p4 import programs
from tools.p4.assigned import Read, UnknownError
from tools.p4.programs import same_compiler
from tools.p4.unreset import Json

# Its output depends on the source and on $FAKE_TWIST only; it notes every compilation.
FAKE_COMPILER = """#!/bin/sh
if [ "$1" = --version ]; then
    echo "p4c-bm2-ss"
    echo "Version $FAKE_VERSION (SHA: $FAKE_COMMIT BUILD: Release)"
    exit
fi
while [ $# -gt 1 ]; do
    case $1 in
        --p4runtime-files) info=$2; shift ;;
        -o) json=$2; shift ;;
    esac
    shift
done
echo "$1" >> "$FAKE_LOG"
printf '{"header_types": [{"name": "scalars_0", "fields": []}], "headers": [],
    "calculations": [], "learn_lists": [], "field_lists": [], "register_arrays": [],
    "meter_arrays": [], "actions": [], "parsers": [], "pipelines": [], "checksums": [],
    "program": "%s%s"}' "$(cat "$1")" "$FAKE_TWIST" > "$json"
cat "$1" > "$info"
"""


PROFILE = "full"


class Checkout:
    """Two programs, a compiler, and what is recorded of them."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self.p4src, self.log = root / "p4src", root / "log"
        chips = {name for name, _ in p4_compile.ARCHITECTURES.values()}
        tops = [f"v1model/profiles/{PROFILE}/{name}.p4" for name in programs.PROGRAMS]
        for name in (*p4_compile.CONSTANT_SOURCES, *chips, *tops):
            (self.p4src / name).parent.mkdir(parents=True, exist_ok=True)
            (self.p4src / name).write_text(f"const bit<8> {Path(name).stem.upper()} = 0x10;\n")
        patch.setattr(p4_compile, "PROFILES", (PROFILE,))
        patch.setattr(p4_compile, "PROFILE_SOURCES", self.p4src / "v1model" / "profiles")
        for module in (programs, p4_compile):
            patch.setattr(module, "P4SRC", self.p4src)
            patch.setattr(module, "COMPILED", self.p4src / "compiled")
        self.compiler_file = root / "bin" / p4_compile.COMPILER
        self.compiler_file.parent.mkdir()
        self.compiler_file.write_text(FAKE_COMPILER)
        self.compiler_file.chmod(0o755)
        patch.setenv("PATH", str(self.compiler_file.parent), prepend=":")
        patch.setenv("FAKE_LOG", str(self.log))
        self.compiler("1.2.5.16", "34b86e9ba")

    def compiler(self, version: str, commit: str, twist: str = "") -> None:
        """From now on the installed compiler is this one."""
        self._patch.setenv("FAKE_VERSION", version)
        self._patch.setenv("FAKE_COMMIT", commit)
        self._patch.setenv("FAKE_TWIST", twist)

    def committed(self) -> dict[str, bytes]:
        """What p4src/compiled holds, by name."""
        return {file.name: file.read_bytes() for file in (self.p4src / "compiled").iterdir()}

    def compilations(self) -> int:
        """How often it compiled since the last call."""
        found = len(self.log.read_text().splitlines()) if self.log.exists() else 0
        self.log.unlink(missing_ok=True)
        return found


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    made = Checkout(tmp_path, monkeypatch)
    assert p4_compile.write() == 0
    assert made.compilations() == 2
    return made


@pytest.mark.parametrize(
    ("version", "commit", "same"),
    [
        ("1.2.5.16", "34b86e9ba", True),
        ("1.2.5.16", "34b86e9bac", True),
        ("1.2.5.16", "34b86e9", True),
        ("1.2.5.17", "34b86e9ba", False),
        ("1.2.5.16", "abcdef", False),
    ],
)
def test_the_same_compiler_recompiles_however_long_its_commit_is(
    checkout: Checkout, version: str, commit: str, same: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout.compiler(version, commit)
    assert p4_compile.check() == 0
    assert checkout.compilations() == (2 if same else 0)
    other = f"not recompiled: p4c here is {version} {commit}"
    assert ("matches the output of p4c" if same else other) in capsys.readouterr().out


def test_without_a_compiler_hashes_are_compared(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert p4_compile.check() == 0
    assert "not recompiled" in capsys.readouterr().out
    assert p4_compile.write() == 1
    assert "is not on PATH" in capsys.readouterr().err


WRONG_COMPILERS = {
    "fails": "#!/bin/sh\nexit 3\n",
    "says nothing": "#!/bin/sh\n",
    "is no program": "no program",
}


@pytest.mark.parametrize("text", WRONG_COMPILERS.values(), ids=WRONG_COMPILERS)
@pytest.mark.parametrize("option", [[], ["--check"]])
def test_what_is_no_compiler_is_named(
    checkout: Checkout,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    option: list[str],
) -> None:
    checkout.compiler_file.write_text(text)
    monkeypatch.setattr("sys.argv", ["compile", *option])
    before = checkout.committed()
    assert p4_compile.main() == 1
    assert f"{checkout.compiler_file} is not a p4c" in capsys.readouterr().err
    assert checkout.committed() == before


@pytest.mark.parametrize("end", ["exit 1", "exit 0"])
def test_what_is_committed_survives_a_compiler_that_fails(
    checkout: Checkout,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    end: str,
) -> None:
    """The first program compiles, the second does not, with and without an exit status."""
    made = FAKE_COMPILER.replace(
        'echo "$1" >>', f'case $1 in */pe.p4) ;; *) {end} ;; esac\necho "$1" >>'
    )
    assert made != FAKE_COMPILER
    checkout.compiler_file.write_text(made)
    checkout.compiler("1.2.5.17", "abcdef", twist="something else")
    monkeypatch.setattr("sys.argv", ["compile"])
    before = checkout.committed()
    assert p4_compile.main() == 1
    assert "did not compile v1model/profiles/full/p.p4" in capsys.readouterr().err
    assert checkout.committed() == before


def test_other_output_of_the_same_compiler_is_noticed(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout.compiler("1.2.5.16", "34b86e9bac", twist="something else")
    assert p4_compile.check() == 1
    assert "differs from what p4c" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "what"), [("v1model/profiles/full/pe.p4", "sources"), ("compiled/pe.json", "outputs")]
)
def test_changes_are_noticed(
    checkout: Checkout, file: str, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout.p4src / file).write_text("changed")
    assert p4_compile.check() == 1
    assert f"the {what} do not match" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1.2.5 34b86e9ba", "1.2.5 34b86e9bac", True),
        ("9.13.4", "9.13.4", True),
        ("1.2.5 34b86e9ba", "1.2.5 34b86e9bb", False),
        ("1.2.5 34b86e9ba", "1.2.6 34b86e9ba", False),
        ("1.2.5 34b86e9ba", "1.2.5", False),
    ],
)
def test_same_compiler(one: str, other: str, *, same: bool) -> None:
    assert same_compiler(one, other) is same
    assert same_compiler(other, one) is same


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([Read("sum", "ingress, action add, v1model/p.p4:9")], "sum in ingress, action add"),
        (UnknownError("primitive pop"), "does not know primitive pop"),
    ],
)
@pytest.mark.parametrize("option", [[], ["--check"]])
def test_a_local_that_is_read_before_it_is_written_ends_it(
    checkout: Checkout,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    found: list[Read] | UnknownError,
    said: str,
    option: list[str],
) -> None:
    """Without a compiler, too, what is committed is looked at."""

    def read_before_written(_program: Json) -> list[Read]:
        if isinstance(found, UnknownError):
            raise found
        return found

    monkeypatch.setattr(p4_compile, "read_before_written", read_before_written)
    monkeypatch.setattr("sys.argv", ["compile", *option])
    if option:
        monkeypatch.setenv("PATH", "/nonexistent")
    before = checkout.committed()
    assert p4_compile.main() == 1
    assert said in capsys.readouterr().err
    assert checkout.committed() == before
