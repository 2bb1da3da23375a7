"""`python -m fcn.ptf_tests.differences [--packets N]`: the chip's model against the softswitch.

Both get the same random and damaged packets and entries (tests/random_packets.py), with the
programs of profile fcn. Prints how many groups of packets they treat alike, and of the others each
difference of counters and frames, with how often it was and, where KNOWN does not name it, a group;
then the exit status is 1.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scapy.utils import checksum

from fcn.contract.profiles import LEAST
from fcn.hosts.scratch import scratch_folder

TARGETS = ("softswitch", "tofino")
TESTS = ("AtAP", "AtAPe")
KNOWN = {
    "drop BAD_LENGTH": "lengths are not compared with the frame",
    "drop MALFORMED": "a header that is cut goes on, filled up with zeros",
}
"""Counters in which the targets may differ, and why (docs/tofino.md)."""
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


def difference(one: dict[str, Any], other: dict[str, Any]) -> tuple[str, ...]:
    """What two targets did otherwise with a group, in words; nothing where they did the same."""
    words = []
    for name in sorted({*one["counters"], *other["counters"]}):
        counts = [each["counters"].get(name, 0) for each in (one, other)]
        if counts[0] != counts[1]:
            words.append(name)
    frames = [
        Counter((port, comparable(frame)) for port, sent in each["out"].items() for frame in sent)
        + Counter(("cpu", frame) for frame in each["punts"])
        for each in (one, other)
    ]
    fewer, more = ((frames[0] - frames[1]).total(), (frames[1] - frames[0]).total())
    if fewer or more:
        words.append("other frames" if fewer == more else f"{'fewer' if fewer else 'more'} frames")
    return tuple(words)


def record(target: str, test: str, packets: int, seed: int, file: Path) -> None:
    """Have a target treat the packets. Raises CalledProcessError."""
    command = [sys.executable, "-m", "fcn.ptf_tests", "--target", target, "--profile", LEAST]
    environment = os.environ | {"FCN_RANDOM": f"{packets},{seed},{file}"}
    if target != "tofino":
        environment.pop("FCN_P4", None)
    subprocess.run([*command, f"random_packets.{test}"], env=environment, check=True)


def compare(files: Iterable[Path]) -> tuple[int, dict[tuple[str, ...], list[dict[str, Any]]]]:
    """How many groups there are, and those that were treated differently by how."""
    one, other = ([json.loads(line) for line in file.read_text().splitlines()] for file in files)
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for first, second in zip(one, other, strict=True):
        if words := difference(first, second):
            found.setdefault(words, []).append({"softswitch": first, "chip": second})
    return len(one), found


def main() -> None:
    """Record, compare, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--packets", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    unknown = 0
    with scratch_folder("fcn-differences-") as folder:
        for test in TESTS:
            files = [folder / f"{test}-{target}" for target in TARGETS]
            for target, file in zip(TARGETS, files, strict=True):
                record(target, test, options.packets, options.seed, file)
            groups, found = compare(files)
            alike = groups - sum(map(len, found.values()))
            print(f"{test}: {alike} of {groups} groups of packets alike")
            for words, cases in sorted(found.items(), key=lambda item: -len(item[1])):
                reasons = [KNOWN[word] for word in words if word in KNOWN]
                unknown += not reasons
                print(f"  {len(cases)}: {', '.join(words)} ({'; '.join(reasons) or 'NOT KNOWN'})")
                if not reasons:
                    print(json.dumps(cases[0]))
    sys.exit(1 if unknown else 0)


if __name__ == "__main__":
    main()
