"""The model of Tofino 1 or 2, which runs the TNA programs as they are loaded into a chip."""

import os
import sys
from pathlib import Path

from fcn.ptf_tests.targets.base import Target, TargetUnavailableError

MODEL, PROGRAMS = "FCN_TOFINO_MODEL", "FCN_P4"


class Tofino(Target):
    """The model in a process of this interpreter, behind the P4Runtime server of the softswitch."""

    name = "tofino"

    def program(self) -> list[str]:
        """The switch, where its library and the programs for the chip are there."""
        if not _is_file(os.environ.get(MODEL)):
            raise TargetUnavailableError(
                f"{MODEL} names no library of the chip's model; docs/tofino.md says how to build it"
            )
        programs = os.environ.get(PROGRAMS)
        if programs is None or not (Path(programs) / "pe.bin").is_file():
            raise TargetUnavailableError(
                f"{PROGRAMS} names no folder with programs for the chip; "
                "`python -m tools.p4.tofino --package FOLDER` makes one"
            )
        return [sys.executable, "-m", "fcn.ptf_tests.tofino"]

    @classmethod
    def set_queue(
        cls, grpc_address: str, port: int, rate_pps: int, depth: int | None = None
    ) -> None:
        """The model has queues, but nothing that fills them."""
        raise TargetUnavailableError("the model of the chip sends at once, whatever the rate")


def _is_file(name: str | None) -> bool:
    return name is not None and Path(name).is_file()
