"""The programs that p4testgen reads, and what it is told of each."""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fcn.contract.constants import PipelineError
from fcn.contract.pipeline import Pipeline, load_pipeline
from fcn.contract.ports import Ports
from fcn.contract.targets import TOFINO1, TOFINO2, V1MODEL
from fcn.ptf_tests.targets.tofino import MODEL as LIBRARY
from fcn.ptf_tests.targets.tofino import PROGRAMS as CHIP_FOLDER
from fcn.ptf_tests.tofino.chip import Chip
from tools.p4.programs import CHIP_PROGRAMS, LEAST, PROFILES, PROGRAMS, chip_source
from tools.p4.testgen.model import Model
from tools.p4.testgen.p4testgen import Source
from tools.p4.testgen.softswitch import Softswitch
from tools.p4.tofino_build import CHIPS

_TARGETS = {0: V1MODEL, 1: TOFINO1, 2: TOFINO2}
_NAMES = {0: "bmv2"} | {chip.number: chip.target for chip in CHIPS}
"""As p4testgen calls them: chips as the compiler does."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program: `profile`/`role`, for the BMv2 architecture or, with `chip`, a Tofino."""

    profile: str
    role: str
    chip: int

    def __str__(self) -> str:
        return f"{self.profile}/{self.role}"

    @property
    def source(self) -> Source:
        """What p4testgen reads."""
        file = f"v1model/profiles/{self}.p4"
        if self.chip:
            file = chip_source(self.role if self.profile == LEAST else str(self))
        target = _TARGETS[self.chip]
        return Source(file, _NAMES[self.chip], target.architecture, _ports(target.ports), self.chip)

    def switch(self) -> tuple[Pipeline, Softswitch | Model]:
        """What runs its tests: the model of the chip where its library is named, which only one
        program of the process uses at a time. Raises PipelineError, ModelError."""
        library = os.environ.get(LIBRARY)
        if self.chip and library:
            folder = Path(os.environ.get(CHIP_FOLDER, ""))
            folder = folder if self.profile == LEAST else folder / self.profile
            pipeline = load_pipeline(self.role, folder)
            if pipeline.target != _TARGETS[self.chip]:
                raise PipelineError(f"{pipeline.p4info} is of a program for {pipeline.target.name}")
            return pipeline, Model(_chip(library), pipeline.schema.get_pipeline_config())
        pipeline = load_pipeline(self.role, profile=self.profile)
        config, cpu = pipeline.schema.get_pipeline_config(), _TARGETS[self.chip].ports.cpu
        return pipeline, Softswitch(config, cpu)


@cache
def _chip(library: str) -> Chip:
    return Chip(Path(library))


def _ports(ports: Ports) -> tuple[tuple[int, int], ...]:
    """The CPU's, and those of the front panel, of the first pipe where there are several."""
    panel = ports.front_panel[0]
    # BMv2's own ports are behind all others, and among these; those of a chip are not.
    last = ports.recirculation - 1 if ports.recirculation in panel else panel[-1]
    return (panel[0], last), (ports.cpu, ports.cpu)


def programs(chip: int) -> list[Program]:
    """All for BMv2 (0), or all for a chip."""
    if not chip:
        return [Program(profile, role, chip) for profile in PROFILES for role in PROGRAMS]
    names = [name for name, chips in CHIP_PROGRAMS.items() if chip in chips]
    parts = (name.rpartition("/") for name in names)
    return [Program(profile or LEAST, role, chip) for profile, _, role in parts]
