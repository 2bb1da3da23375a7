"""Instructions that BMv2 takes for a packet, counted by callgrind: they are the same on a busy
machine, where rates are not.

`python -m fcn.bench.instructions` gives each program of bench/forwarding.py packets one by one.
Needs valgrind. `--compiled FOLDER` counts for the programs there in place of those of
p4src/compiled (`pe.json`, `pe.p4info.txtpb`, `p.json`, …); `--baseline COMMIT` counts for those of
an earlier commit, too.
"""

import re
import socket
import subprocess
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from fcn.bench.baseline import BaselineError, checked_out, commit_named
from fcn.bench.cores import behind
from fcn.bench.forwarding import GRPC_ADDRESS, PROGRAMS, Program
from fcn.bench.harness import options_of
from fcn.contract.pipeline import load_pipeline
from fcn.hosts.scratch import scratch_folder
from fcn.ptf_tests.lib.p4runtime import P4RuntimeClient
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, INTERFACES, make_interfaces
from fcn.ptf_tests.targets import TARGETS, TargetUnavailableError
from fcn.topologies.isolation import IsolationError, enter

PACKETS = 1000
WARM = 100
"""Packets before the first that counts."""
TIMEOUT = 30.0
"""Seconds for a packet to pass."""
VALGRIND = ("valgrind", "--tool=callgrind", "--instr-atstart=no", "--fair-sched=yes")


def per_packet(program: Program, work: Path) -> int:
    """Instructions of simple_switch_grpc for a packet of this program."""
    counts = work / "callgrind"
    target = behind(TARGETS["bmv2"], (*VALGRIND, f"--callgrind-out-file={counts}"))
    frames = program.frames()
    pipeline = program.load(work)
    with ExitStack() as stack:
        switch = target(INTERFACES, GRPC_ADDRESS, 1, work / "switch.log")
        stack.enter_context(switch)
        client = stack.enter_context(P4RuntimeClient(GRPC_ADDRESS, 1))
        client.set_pipeline(pipeline)
        program.configure(client)
        there, back = (stack.enter_context(_socket(port)) for port in (DC_PORT, CORE_PORT))
        for command, first, count in (("instrumentation on", 0, WARM), ("zero", WARM, PACKETS)):
            _tell(switch.pid, *command.split())
            for number in range(first, first + count):
                there.send(frames[number % len(frames)])
                back.recv(1)
        _tell(switch.pid, "dump")
    (total,) = re.findall(r"^summary: (\d+)", Path(f"{counts}.1").read_text(), re.MULTILINE)
    return int(total) // PACKETS


def _socket(port: int) -> socket.socket:
    """The other end of a port of the switch."""
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    end.bind((f"ptf{port}", 0))
    end.settimeout(TIMEOUT)
    return end


def _tell(pid: int, *words: str) -> None:
    subprocess.run(["vgdb", f"--pid={pid}", *words], check=True, capture_output=True)


def _read(folder: Path) -> list[Program]:
    """The same with the compiled programs of a folder."""

    def read(program: Program) -> Program:
        return replace(program, load=lambda _: load_pipeline(program.name, folder))

    return [read(each) for each in PROGRAMS if each.name in ("pe", "p")]


def _count(programs: Iterable[Program], of: str = "") -> None:
    for program in programs:
        with scratch_folder("fcn-bench-") as work:
            print(f"{program.name}{of}: {per_packet(program, work):,} instructions", flush=True)


def main() -> None:
    parser = options_of("instructions", __doc__, results=False)
    parser.add_argument("--compiled", type=Path, metavar="FOLDER", help="count for programs there")
    parser.add_argument("--baseline", metavar="COMMIT", help="count for its programs, too")
    options = parser.parse_args()
    folder: Path | None = options.compiled and options.compiled.absolute()
    try:
        commit = None if options.baseline is None else commit_named(options.baseline)
        enter("fcn.bench.instructions", sys.argv[1:])
        make_interfaces()
        _count(PROGRAMS if folder is None else _read(folder))
        if commit is not None:
            with checked_out(commit) as tree:
                _count(_read(tree / "p4src" / "compiled"), f" at {commit[:8]}")
    except (BaselineError, IsolationError, TargetUnavailableError) as error:
        parser.exit(2, f"{error}\n")


if __name__ == "__main__":
    main()
