"""`python -m fcn.ptf_tests --target bmv2|softswitch|tofino [tests]`: runs the suite in a sandbox.

The sandbox is a new network and process namespace: its interfaces and processes are removed with
it, however the run ends, and concurrent runs do not interfere.
"""

import argparse
import contextlib
import importlib.util
import signal
import sys
from pathlib import Path

from fcn.contract.constants import PipelineError
from fcn.contract.pipeline import load_pipeline
from fcn.contract.profiles import FULL, LEAST, PROFILES
from fcn.contract.version import DISTRIBUTION
from fcn.hosts.processes import ProcessError
from fcn.hosts.scratch import scratch_folder
from fcn.ptf_tests import runner, shares
from fcn.ptf_tests.selection import TEST_DIR, tests_for, unknown_among
from fcn.ptf_tests.targets import TARGETS, TargetUnavailableError
from fcn.ptf_tests.targets.tofino import Tofino
from fcn.topologies.isolation import IsolationError, enter


def main() -> None:
    """Parse the options, enter the sandbox, run the suite; exit code 0 when all tests passed."""
    parser = argparse.ArgumentParser(prog="python -m fcn.ptf_tests", description=__doc__)
    parser.add_argument("--target", choices=sorted(TARGETS), default="softswitch")
    parser.add_argument(
        "--profile", choices=sorted(PROFILES), default=FULL, help="of the programs; default: full"
    )
    parser.add_argument(
        "--log-dir", type=Path, help="keep logs and packet traces in this directory"
    )
    parser.add_argument("--failfast", action="store_true", help="stop at the first failure")
    parser.add_argument(
        "--jobs", type=int, default=1, help="sandboxes that share the tests, 1 by default"
    )
    parser.add_argument("tests", nargs="*", help="test files or file.Class; all by default")
    options = parser.parse_args()
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs}: at least 1")
    if options.log_dir is not None:
        try:
            options.log_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            parser.error(f"--log-dir {options.log_dir}: {error.strerror}")
    if importlib.util.find_spec("ptf") is None:
        parser.exit(2, f"ptf is not installed: pip install '{DISTRIBUTION}[test]'\n")
    if unknown := unknown_among(options.tests):
        parser.error(f"no tests {', '.join(unknown)}; they are FILE or FILE.CLASS of {TEST_DIR}")
    modes_of = options.profile
    # A folder with programs for a chip has those of profile LEAST where others have FULL.
    if options.target == Tofino.name and modes_of in (FULL, LEAST):
        options.profile, modes_of = FULL, LEAST
    if modes_of != FULL:
        options.tests = tests_for(modes_of, options.tests)
        if not options.tests:
            parser.exit(2, f"profile {modes_of} lacks what these tests need\n")
    try:
        # Of chips there is not each program of each profile.
        for program in () if options.target == Tofino.name else ("pe", "p"):
            load_pipeline(program, profile=options.profile)
        if options.jobs > 1:
            totals = _in_shares(options)
        else:
            enter("fcn.ptf_tests", sys.argv[1:])
            totals = runner.run(
                options.target, options.profile, options.tests, options.log_dir, options.failfast
            )
    except (IsolationError, PipelineError, ProcessError, TargetUnavailableError) as error:
        parser.exit(2, f"{options.target}: {error}\n")
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    print(totals)
    sys.exit(0 if totals.green else 1)


def _in_shares(options: argparse.Namespace) -> runner.Totals:
    command = [sys.executable, "-m", "fcn.ptf_tests", "--target", options.target]
    command += ["--profile", options.profile]
    command += ["--failfast"] * options.failfast
    # So that shares end with this process.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    with contextlib.ExitStack() as stack:
        folder = options.log_dir or stack.enter_context(scratch_folder("fcn-ptf-"))
        return shares.run(command, options.tests, options.jobs, folder)


if __name__ == "__main__":
    main()
