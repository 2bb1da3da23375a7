"""`python -m tools.p4.testgen [--chip 1|2] [--tests N] [PROGRAM …]`: p4testgen's word.

p4testgen reads the sources of a program and finds by symbolic execution of P4, for each path
through it, entries and a packet that take it, and what leaves. Here each of these tests is run on
the softswitch with the compiled program; with `--chip` those of the program for that Tofino, on the
v1model program of the same profile, or, where FCN_TOFINO_MODEL names the model of the chip and
FCN_P4 the folder with its programs, on that. Prints a line for each program, and each test that
comes out otherwise; then the exit status is 1.

PROGRAM: `PROFILE/pe`, `PROFILE/p`; default: all. p4testgen is on PATH; for a chip
P4C_16_INCLUDE_PATH names p4c's folder with tna.p4.
"""

import argparse
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

from fcn.contract.constants import PipelineError
from fcn.hosts.scratch import scratch_folder
from fcn.ptf_tests.tofino.chip import ModelError
from fcn.softswitch.api import EngineError
from fcn.softswitch.p4rt.errors import P4RuntimeError
from tools.p4.programs import P4SRC
from tools.p4.testgen.p4testgen import (
    HOW_TO_GET,
    TOOL,
    Generation,
    GenerationError,
    Limits,
    generate,
    rewrite,
)
from tools.p4.testgen.programs import Program, programs
from tools.p4.testgen.stf import Frames, StfError, Test, read

FAILURES = (
    GenerationError,
    StfError,
    PipelineError,
    ModelError,
    EngineError,
    P4RuntimeError,
    TimeoutError,
)
"""Of p4testgen, and of what runs its tests: a program that it does not take, or a wrong folder."""


def judge(program: Program, generation: Generation) -> list[tuple[Test, Frames]]:
    """Print what comes of the tests; those that come out otherwise, with what left."""
    pipeline, switch = program.switch()
    tests = [read(file, pipeline.schema) for file in generation.files]
    certain = [test for test in tests if test.certain]
    left = {test.name: switch.run(test) for test in certain}
    # A chip does not compare lengths with the frame (docs/tofino.md).
    short = [test for test in certain if left[test.name] is None and program.chip and test.expected]
    others = ((test, left[test.name] or ()) for test in certain if test not in short)
    wrong = [(test, frames) for test, frames in others if not test.passed(frames)]
    sent = sum(bool(test.expected) for test in certain)
    print(
        f"{program}: {len(tests)} tests pass {generation.coverage:.0%} of its statements; "
        f"{len(tests) - len(certain)} are uncertain; of {len(certain)}, after which {sent} times a "
        f"frame leaves, {len(wrong)} came out otherwise",
        *([f", and {len(short)} for lengths"] if short else []),
        sep="",
        flush=True,
    )
    return wrong


def main() -> None:
    """Generate, run, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chip", type=int, choices=(1, 2), default=0, help="Tofino 1 or 2")
    parser.add_argument("--tests", type=int, default=200, help="of each program, at most")
    parser.add_argument("--seconds", type=float, default=600, help="for each program, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--leaving", action="store_true", help="only packets that something leaves of"
    )
    parser.add_argument("programs", nargs="*", metavar="PROFILE/ROLE")
    options = parser.parse_args()
    known = {str(each): each for each in programs(options.chip)}
    if unknown := [name for name in options.programs if name not in known]:
        parser.error(f"no program {unknown[0]}; there are: {', '.join(known)}")
    if options.tests < 1 or options.seconds <= 0:
        parser.error("--tests and --seconds: more than 0")
    limits = Limits(options.tests, options.seconds, options.seed, options.leaving)
    if shutil.which(TOOL) is None:
        parser.exit(2, f"{HOW_TO_GET}\n")
    wrong, failed = [], False
    with scratch_folder("fcn-testgen-") as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        chosen = [known[name] for name in dict.fromkeys(options.programs or known)]
        copy = folder / "p4src"
        rewrite(P4SRC, copy)
        generations = [
            pool.submit(generate, copy, each.source, folder / str(each), limits) for each in chosen
        ]
        for program, generation in zip(chosen, generations, strict=True):
            try:
                wrong += judge(program, generation.result())
            except FAILURES as error:
                failed = True
                said = str(error) or type(error).__name__
                print(f"{program}: {said}", file=sys.stderr, flush=True)
        for test, left in wrong:
            print(f"{test.name}: in {_frames(test.packets)}", *test.updates, sep="\n")
            print("wanted", *(f"{each.port} {each.frame}" for each in test.expected), sep="\n  ")
            print("left", _frames(left), sep="\n  ")
    sys.exit(2 if failed else bool(wrong))


def _frames(frames: Frames) -> str:
    return "\n  ".join(f"{port} {frame.hex()}" for port, frame in frames)


if __name__ == "__main__":
    main()
