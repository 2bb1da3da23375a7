"""`python -m fcn.ptf_tests.differences [--packets N]`: the chip's model against the softswitch.

Both get the same random and damaged packets and entries (tests/random_packets.py), with the
programs of profile fcn. Prints how many packets the chip treats otherwise for a reason that is
known (LENGTHS, and drops that are counted under another reason), and each group of packets with a
difference beyond these; then the exit status is 1. It is 2 where a target cannot be recorded.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scapy.utils import checksum

from fcn.contract.profiles import LEAST
from fcn.hosts.scratch import scratch_folder
from fcn.ptf_tests.lib.ports import PORTS_OF

TARGETS = ("softswitch", "tofino")
TESTS = ("AtAP", "AtAPe")
LENGTHS = ("drop BAD_LENGTH", "drop MALFORMED")
"""Counted by the softswitch: the chip does not compare lengths with the frame, and of a header that
is cut it goes on, filled up with zeros (docs/tofino.md)."""
_ETHERNET, _IPV6_LABEL, _UDP_PORT = 14, slice(15, 18), slice(54, 56)
_IPV6 = 40
_IN_IPV4, _UDP, _ROUTING = 4, 17, 43


def comparable(frame: str) -> str:
    """A frame without what a node may choose: entropy in the flow label or UDP source port, and
    which of the wrong ones the checksum of an IPv4 header in SRv6 is."""
    octets = bytearray.fromhex(frame)
    if octets[12:14] == b"\x86\xdd" and len(octets) > _UDP_PORT.stop:
        octets[_IPV6_LABEL] = bytes([octets[15] & 0xF0, 0, 0])
        if octets[_ETHERNET + 6] == _UDP:
            octets[_UDP_PORT] = bytes(2)
        at, inner = _ETHERNET + _IPV6, octets[_ETHERNET + 6]
        if inner == _ROUTING:
            at, inner = at + 8 * (octets[at + 1] + 1), octets[at]
        header = octets[at : at + 20]
        if (
            inner == _IN_IPV4
            and len(header) == 20
            and header[0] == 0x45
            and checksum(bytes(header))
        ):
            octets[at + 10 : at + 12] = bytes(2)
    return octets.hex()


@dataclass(frozen=True, slots=True)
class Difference:
    """What the chip did otherwise with a group. lengths: packets it took that the softswitch drops
    for their lengths; reasons: drops counted under another reason; beyond: what these do not
    explain, in words."""

    lengths: int
    reasons: int
    beyond: tuple[str, ...]


def difference(softswitch: dict[str, Any], chip: dict[str, Any]) -> Difference:
    """What the chip did otherwise. Of a packet that only the chip takes anything may come once."""
    names = {*softswitch["counters"], *chip["counters"]}
    more = {n: chip["counters"].get(n, 0) - softswitch["counters"].get(n, 0) for n in names}
    lengths = sum(max(-more.pop(name, 0), 0) for name in LENGTHS)
    drops = [more.pop(name) for name in names if name in more and name.startswith("drop ")]
    beyond = [name for name, count in sorted(more.items()) if not 0 <= count <= lengths]
    if not 0 <= sum(drops) <= lengths:
        beyond.append("drops")
    frames = [
        Counter((port, comparable(frame)) for port, sent in each["out"].items() for frame in sent)
        + Counter(("cpu", frame) for frame in each["punts"])
        for each in (softswitch, chip)
    ]
    if frames[0] - frames[1]:
        beyond.append("fewer frames")
    if (frames[1] - frames[0]).total() > lengths:
        beyond.append("more frames")
    return Difference(lengths, -sum(min(each, 0) for each in drops), tuple(beyond))


def record(target: str, test: str, packets: int, seed: int, file: Path) -> None:
    """Have a target treat the packets. Raises CalledProcessError."""
    command = [sys.executable, "-m", "fcn.ptf_tests", "--target", target, "--profile", LEAST]
    environment = os.environ | {"FCN_RANDOM": f"{packets},{seed},{file}"}
    if target != "tofino" and (chip := environment.pop("FCN_P4", None)):
        # Addresses of the bed contain the numbers of its ports.
        environment[PORTS_OF] = chip
    subprocess.run([*command, f"random_packets.{test}"], env=environment, check=True)


def compare(files: Sequence[Path]) -> tuple[int, list[Difference], list[str]]:
    """How many packets there are; the differences of all groups; and, as JSON, both outcomes of
    those with one beyond what is known."""
    one, other = ([json.loads(line) for line in file.read_text().splitlines()] for file in files)
    groups = list(zip(one, other, strict=True))
    found = [difference(*group) for group in groups]
    unknown = [
        json.dumps({"beyond": each.beyond, "softswitch": first, "chip": second})
        for each, (first, second) in zip(found, groups, strict=True)
        if each.beyond
    ]
    return sum(len(each["in"]) for each in one), found, unknown


def main() -> None:
    """Record, compare, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--packets", type=int, default=50_000, help="of each node")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.packets < 1:
        parser.error(f"--packets {options.packets}: at least 1")
    is_known = True
    with scratch_folder("fcn-differences-") as folder, ThreadPoolExecutor() as pool:
        files = {test: [folder / f"{test}-{target}" for target in TARGETS] for test in TESTS}
        # A model takes one core, most of the time.
        recorded = [
            pool.submit(record, target, test, options.packets, options.seed, file)
            for test in TESTS
            for target, file in zip(TARGETS, files[test], strict=True)
        ]
        try:
            for each in recorded:
                each.result()
        except subprocess.CalledProcessError as error:
            target, test = error.cmd[error.cmd.index("--target") + 1], error.cmd[-1]
            parser.exit(2, f"nothing is compared: {test} failed on {target}, as said above\n")
        for test in TESTS:
            packets, found, unknown = compare(files[test])
            lengths, reasons = sum(d.lengths for d in found), sum(d.reasons for d in found)
            print(f"{test}: {packets} packets; {lengths} taken that the softswitch drops for their")
            print(f"lengths, {reasons} dropped for another reason; of {len(found)} groups")
            print(f"{len(unknown)} with other differences", *unknown, sep="\n")
            is_known = is_known and not unknown
    sys.exit(not is_known)


if __name__ == "__main__":
    main()
