"""Which packet tests a profile can pass: those whose modes its programs have."""

import importlib
from collections.abc import Collection, Iterator
from pathlib import Path

from fcn.contract.profiles import PROFILES, Mode

TEST_DIR = Path(__file__).parent / "tests"


def tests_for(profile: str, named: Collection[str]) -> list[str]:
    """Tests as ptf names them (`file.Class`) that a profile can pass, among those named (`file` or
    `file.Class`), or all."""
    modes = PROFILES[profile]
    return [
        name
        for name, needs in all_tests()
        if needs <= modes and (not named or name in named or name.partition(".")[0] in named)
    ]


def unknown_among(named: Collection[str]) -> list[str]:
    """Names that are of no test and no file."""
    files = {file.stem for file in TEST_DIR.glob("*.py")}
    classes = [name for name in named if name not in files]
    known = {name for name, _ in all_tests()} if classes else set()
    return [name for name in classes if name not in known]


def all_tests() -> Iterator[tuple[str, frozenset[Mode]]]:
    """Every test, with the modes that the programs must have for it."""
    # ptf takes longest to import, and most runs need no list of tests.
    from fcn.ptf_tests.lib.base import FcnTest

    for file in sorted(TEST_DIR.glob("*.py")):
        module = importlib.import_module(f"{__package__}.tests.{file.stem}")
        for name, found in vars(module).items():
            is_test = isinstance(found, type) and issubclass(found, FcnTest)
            if is_test and found.__module__ == module.__name__ and hasattr(found, "runTest"):
                yield f"{file.stem}.{name}", found.needs
