"""p4c's front end accepts every common control for both chips, also those no chip has yet."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tools.p4.programs import INCLUDE, P4SRC, PROGRAMS, included
from tools.p4.tofino_build import CHIPS, COMPILER, Chip


@pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"{COMPILER} is not on PATH")
@pytest.mark.parametrize("chip", CHIPS, ids=lambda chip: str(chip.number))
@pytest.mark.parametrize("program", PROGRAMS)
def test_common_controls_are_accepted(program: str, chip: Chip, tmp_path: Path) -> None:
    shutil.copytree(P4SRC, tmp_path / "p4src", ignore=shutil.ignore_patterns("compiled"))
    source = tmp_path / "p4src" / "tna" / f"{program}.p4"
    has = included(source)
    chips = tmp_path / "p4src/tna"
    used = {each for name in PROGRAMS for each in included(chips / f"{name}.p4")}
    folders = (tmp_path / "p4src/common/base", tmp_path / "p4src/common" / program)
    # What common controls need of the target comes first.
    others = [each for each in chips.glob("*.p4") if each not in used]
    others += [each for folder in folders for each in folder.glob("*.p4") if each not in has]
    assert others, "all of them are in the program: this test is of no use any more"
    text = source.read_text()
    end = [match.end() for match in INCLUDE.finditer(text)][-1]
    more = "".join(f'#include "../{each.relative_to(tmp_path / "p4src")}"\n' for each in others)
    source.write_text(text[:end] + more + text[end:])
    command = [COMPILER, "--target", chip.target, "--arch", chip.arch, "--std=p4-16"]
    command += [f"-D__TARGET_TOFINO__={chip.number}", "--skip-compilation", "pipe"]
    command += [
        "--p4runtime-force-std-externs",
        "--p4runtime-files",
        str(tmp_path / "p4info.txtpb"),
    ]
    command += ["-o", str(tmp_path / "out"), f"tna/{program}.p4"]
    done = subprocess.run(
        command, cwd=tmp_path / "p4src", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
