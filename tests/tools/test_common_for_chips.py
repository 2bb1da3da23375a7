"""p4c's front end accepts every common control for both chips, also those no chip has yet."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.p4.programs import INCLUDE, P4SRC, PROGRAMS, chip_source, included
from tools.p4.tofino_build import CHIPS, COMPILER, Chip


@pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"{COMPILER} is not on PATH")
@pytest.mark.parametrize("chip", CHIPS, ids=lambda chip: str(chip.number))
@pytest.mark.parametrize("program", PROGRAMS)
def test_common_controls_are_accepted(program: str, chip: Chip, tmp_path: Path) -> None:
    shutil.copytree(P4SRC, tmp_path / "p4src", ignore=shutil.ignore_patterns("compiled"))
    copy = tmp_path / "p4src"
    source = copy / "tna" / f"{program}.p4"
    profile = copy / chip_source(program)
    # In a program of the other role some headers are others.
    other = {"pe": "p", "p": "pe"}[program]
    has = included(profile)
    # What other controls need of the target comes first.
    more = [copy / "flow_control" / "tna" / "customer_label.p4"]
    more += [
        each
        for each in sorted(copy.glob("*/**/*.p4"))
        if each not in has
        and not {"v1model", "tna"} & {*each.relative_to(copy).parts}
        and f"{other}_headers" not in each.read_text()
        and f"in {other}_meta_t" not in each.read_text()
    ]
    assert len(more) > 1, "all of them are in the program: this test is of no use any more"
    text = source.read_text()
    end = [match.end() for match in INCLUDE.finditer(text)][-1]
    lines = "".join(f'#include "../{each.relative_to(copy)}"\n' for each in more)
    source.write_text(text[:end] + lines + text[end:])
    profile.write_text(re.sub("(#define HAS_[A-Z_]+) 0", r"\1 1", profile.read_text()))
    command = [COMPILER, "--target", chip.target, "--arch", chip.arch, "--std=p4-16"]
    command += [f"-D__TARGET_TOFINO__={chip.number}", "--skip-compilation", "pipe"]
    command += [
        "--p4runtime-force-std-externs",
        "--p4runtime-files",
        str(tmp_path / "p4info.txtpb"),
    ]
    command += ["-o", str(tmp_path / "out"), chip_source(program)]
    done = subprocess.run(
        command, cwd=tmp_path / "p4src", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
