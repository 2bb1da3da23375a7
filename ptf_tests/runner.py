"""Connects a target to the ptf framework, runs the tests and counts their results."""

import contextlib
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fcn.contract.profiles import FULL
from fcn.hosts.scratch import scratch_folder
from fcn.ptf_tests.coverage import FLOOR, UNREACHABLE, measure, read
from fcn.ptf_tests.lib.ports import ALL_PORTS, INTERFACES, make_interfaces
from fcn.ptf_tests.selection import TEST_DIR
from fcn.ptf_tests.targets import TARGETS

GRPC_ADDRESS = "127.0.0.1:9559"
DEVICE_ID = 1
RECEIVE_SIZE = 16384
"""Octets of the largest frame ptf receives."""
QUEUE_LENGTH = 100_000
"""Frames ptf queues per port: more than any test sends, so that none is lost unnoticed."""

_RAN = re.compile(r"^Ran (\d+) tests?", re.MULTILINE)
_OK = re.compile(r"^(?:.* \.\.\. )?ok$", re.MULTILINE)
_SKIPPED = re.compile(r"skipped=(\d+)")
_TOTALS = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped")


@dataclass(frozen=True, slots=True)
class Totals:
    """Results of a run; a test that neither passed nor was skipped has failed."""

    passed: int
    failed: int
    skipped: int

    @property
    def green(self) -> bool:
        """Whether at least one test passed and none failed."""
        return self.passed > 0 and self.failed == 0

    def with_failure(self) -> "Totals":
        """The same, but not green."""
        return Totals(self.passed, max(self.failed, 1), self.skipped)

    @staticmethod
    def together(parts: "Iterable[Totals]") -> "Totals":
        """The sum of several runs."""
        every = list(parts)
        return Totals(
            sum(each.passed for each in every),
            sum(each.failed for each in every),
            sum(each.skipped for each in every),
        )

    @staticmethod
    def read(line: str) -> "Totals | None":
        """What str() made; None where the line is another."""
        found = _TOTALS.fullmatch(line.strip())
        return Totals(*map(int, found.groups())) if found else None

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def totals_of(output: str, exit_code: int) -> Totals:
    """Parse the totals from ptf's output; an incomplete run counts as a failure."""
    ran = _RAN.search(output)
    if ran is None:
        return Totals(0, 1, 0)
    summary = _SKIPPED.search(output, ran.end())
    skipped = int(summary[1]) if summary else 0
    passed = len(_OK.findall(output, 0, ran.start()))
    failed = int(ran[1]) - passed - skipped
    return Totals(passed, failed if exit_code == 0 else max(failed, 1), skipped)


def run(
    target: str, profile: str, tests: Sequence[str], log_dir: Path | None, failfast: bool
) -> Totals:
    """Run the named tests, or all, with the programs of a profile against a target inside the
    current network namespace."""
    with contextlib.ExitStack() as stack:
        if log_dir is None:
            log_dir = stack.enter_context(scratch_folder("fcn-ptf-"))
        log_dir.mkdir(parents=True, exist_ok=True)
        make_interfaces()
        switch = TARGETS[target](
            INTERFACES,
            GRPC_ADDRESS,
            DEVICE_ID,
            log_dir / "switch.log",
            log_dir / "switch.coverage",
        )
        with switch:
            totals = _run_ptf(target, profile, tests, log_dir, failfast)
            alive = switch.is_alive()
        if not alive:
            print(f"the switch process ended:\n{switch.log.read_text(errors='replace')[-4000:]}")
            return totals.with_failure()
        coverage = log_dir / "switch.coverage"
        if coverage.is_file() and profile == FULL and not tests and not failfast:
            totals = with_coverage(totals, [coverage])
        return totals


def with_coverage(totals: Totals, files: Iterable[Path]) -> Totals:
    """Print what the whole suite reached of the programs; too little is a failure."""
    for coverage in measure(read(files)):
        print(coverage)
        if not coverage.green:
            print(f"at least {FLOOR:.0%} is wanted, of what {UNREACHABLE.name} does not list:")
            print("".join(f"  {name}\n" for name in (*coverage.wrong, *coverage.missing)), end="")
            totals = totals.with_failure()
    return totals


def _run_ptf(
    target: str, profile: str, tests: Sequence[str], log_dir: Path, failfast: bool
) -> Totals:
    parameters = f"target='{target}';grpc_address='{GRPC_ADDRESS}';device_id={DEVICE_ID}"
    parameters += f";profile='{profile}'"
    command = [sys.executable, str(Path(sysconfig.get_path("scripts")) / "ptf")]
    command += ["--test-dir", str(TEST_DIR), "--test-params", parameters]
    command += ["--log-file", str(log_dir / "ptf.log"), "--debug", "warning"]
    command += ["--qlen", str(QUEUE_LENGTH), "--socket-recv-size", str(RECEIVE_SIZE)]
    for port in ALL_PORTS:
        command += ["--interface", f"{port}@ptf{port}"]
    command += ["--failfast"] * failfast
    with subprocess.Popen(
        [*command, *tests], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        output = "".join(_echo(process))
    return totals_of(output, process.returncode)


def _echo(process: subprocess.Popen[str]) -> Iterator[str]:
    if process.stdout is None:
        return
    for line in process.stdout:
        print(line, end="", flush=True)
        yield line
