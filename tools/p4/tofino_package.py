"""Packages the programs for a chip as switches take them: a folder that `FCN_P4` can name."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from fcn.softswitch.proto.bfpipeline_pb2 import BfPipelineConfig
from tools.p4.programs import CHIP_PROGRAMS, COMPILED
from tools.p4.tofino_build import ToolError, p4info_of

ALL_PIPES = range(4)


def package(programs: Iterable[str], built: Path, folder: Path) -> None:
    """Put the P4Info and the binary of each program, built in a folder of its name below `built`,
    and the constants into `folder`, which has no others of CHIP_PROGRAMS then. Raises ToolError."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(COMPILED / "constants.json", folder)
    for program in CHIP_PROGRAMS:
        for suffix in (".bin", ".p4info.txtpb"):
            (folder / f"{program}{suffix}").unlink(missing_ok=True)
    for program in programs:
        place = folder / program
        place.parent.mkdir(exist_ok=True)
        shutil.copy(p4info_of(program, built / program), place.parent)
        place.with_suffix(".bin").write_bytes(device_config(place.name, built / program))


def device_config(program: str, built: Path) -> bytes:
    """The message Stratum takes, too (softswitch/proto/bfpipeline.proto). Raises ToolError."""
    message = BfPipelineConfig(p4_name=program)
    profile = message.profiles.add(profile_name="pipe", pipe_scope=ALL_PIPES)
    profile.context = _output(built, "context.json")
    profile.binary = _output(built, "*.bin")
    whole: bytes = message.SerializeToString()
    return whole


def _output(built: Path, name: str) -> bytes:
    found = sorted((built / "assembled").glob(name))
    if len(found) != 1:
        raise ToolError(f"the assembler made {len(found)} files {name} in {built / 'assembled'}")
    return found[0].read_bytes()
