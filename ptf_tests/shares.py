"""The suite in several sandboxes at once, each with a share of the files. A test waits more than it
computes: for the kernel, which lets go of the ports of the program before, and for the switch."""

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from fcn.ptf_tests.runner import Totals, with_coverage
from fcn.ptf_tests.selection import TEST_DIR


def shares_of(tests: Sequence[str], count: int) -> list[list[str]]:
    """The tests, or all files, in at most so many shares that are not empty."""
    every = tests or sorted(file.stem for file in TEST_DIR.glob("*.py"))
    return [share for share in (list(every[start::count]) for start in range(count)) if share]


def run(command: Sequence[str], tests: Sequence[str], count: int, log_dir: Path) -> Totals:
    """Run `command` with each share of the tests, as `--log-dir FOLDER SHARE…`; their output comes
    a line at a time. Of all files together the coverage is measured."""
    # Processes are ended first: until then threads read what they print.
    with ThreadPoolExecutor(count) as pool, ExitStack() as stack:
        running = []
        for number, share in enumerate(shares_of(tests, count)):
            words = [*command, "--log-dir", str(log_dir / str(number)), *share]
            process = subprocess.Popen(
                words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)
            running.append(process)
        totals = Totals.together(pool.map(_watch, running))
    files = sorted(log_dir.glob("*/switch.coverage"))
    return with_coverage(totals, files) if files and not tests else totals


def _watch(process: "subprocess.Popen[str]") -> Totals:
    """Repeat what it prints, its totals too; a run that ended early has none, and has failed."""
    totals = Totals(0, 1, 0)
    for line in process.stdout or ():
        sys.stdout.write(line)
        sys.stdout.flush()
        # What is printed where it begins may come behind them.
        totals = Totals.read(line) or totals
    return totals if process.wait() == 0 else totals.with_failure()
