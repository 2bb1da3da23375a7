"""A small flow at a constant rate, and what became of its packets.

`python -m fcn.topologies.demo.probe receive …` and `… send …` run in hosts. The sender stamps each
packet with CLOCK_MONOTONIC, which all hosts of a network share; the kernel of the receiver stamps
its arrival, so that a busy machine that runs the receiver late does not make it slow.
"""

import argparse
import json
import signal
import socket
import struct
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from fcn.topologies.arrival_stamps import NS_PER_S, arrivals, stamp_arrivals

MODULE = "fcn.topologies.demo.probe"
READY = "receiving"
PORT = 7000
"""UDP port of each receiver."""

POLL_S = 0.2

# Sequence number and time of sending.
PAYLOAD = struct.Struct("!QQ")


@dataclass(frozen=True, slots=True)
class Arrival:
    """A packet that arrived: its number, and CLOCK_MONOTONIC nanoseconds at both ends."""

    number: int
    sent_ns: int
    arrived_ns: int

    @property
    def latency_ns(self) -> int:
        return self.arrived_ns - self.sent_ns


def count_of(pps: int, seconds: float) -> int:
    """How many packets a sender sends."""
    return round(pps * seconds)


def sending(local: str, remote: str, start_ns: int, pps: int, seconds: float) -> list[str]:
    """Arguments of a sender, which begins at `start_ns` of CLOCK_MONOTONIC and ends by itself."""
    command = [sys.executable, "-m", MODULE, "send", "--local", local, "--remote", remote]
    return [*command, "--start", str(start_ns), "--pps", str(pps), "--seconds", str(seconds)]


def receiving(local: str, log: Path) -> list[str]:
    """Arguments of a receiver, which prints READY, and on SIGINT writes its arrivals to `log`."""
    return [sys.executable, "-m", MODULE, "receive", "--local", local, "--log", str(log)]


def read_arrivals(log: Path) -> tuple[Arrival, ...]:
    """What a receiver that has ended wrote."""
    return tuple(Arrival(*each) for each in json.loads(log.read_text()))


def send(local: str, remote: str, start_ns: int, pps: int, seconds: float) -> None:
    """Send the packets, evenly spaced; those that are late go at once."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.bind((local, 0))
        out.connect((remote, PORT))
        for number in range(count_of(pps, seconds)):
            due = start_ns + number * NS_PER_S // pps
            while (left := due - time.monotonic_ns()) > 0:
                time.sleep(left / NS_PER_S)
            out.send(PAYLOAD.pack(number, time.monotonic_ns()))


def receive(local: str, log: Path) -> None:
    """Receive until SIGINT, and what is left then."""
    ending = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: ending.set())
    # Kernel stamps are wall-clock time, those of the sender monotonic.
    to_monotonic = time.monotonic_ns() - time.time_ns()
    seen: list[tuple[int, int, int]] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        stamp_arrivals(own)
        own.bind((local, PORT))
        own.settimeout(POLL_S)
        print(READY, flush=True)
        for data, stamp in arrivals(own, PAYLOAD.size, ending.is_set):
            seen.append((*PAYLOAD.unpack(data), stamp + to_monotonic))
    log.write_text(json.dumps(seen))


def main() -> None:
    parser = argparse.ArgumentParser(prog=f"python -m {MODULE}")
    roles = parser.add_subparsers(dest="role", required=True)
    sender, receiver = roles.add_parser("send"), roles.add_parser("receive")
    for each in (sender, receiver):
        each.add_argument("--local", required=True)
    sender.add_argument("--remote", required=True)
    sender.add_argument("--start", type=int, required=True)
    sender.add_argument("--pps", type=int, required=True)
    sender.add_argument("--seconds", type=float, required=True)
    receiver.add_argument("--log", type=Path, required=True)
    given = parser.parse_args()
    if given.role == "send":
        send(given.local, given.remote, given.start, given.pps, given.seconds)
    else:
        receive(given.local, given.log)


if __name__ == "__main__":
    main()
