"""Comparisons that say where two packets differ."""

import unittest
from collections.abc import Callable, Mapping, Sequence

from scapy.layers.l2 import Ether

Expected = bytes | Callable[[bytes], bytes]
"""A frame, or a function that completes it from the received one where a field is the node's to
choose (entropy label, UDP source port)."""

_SHOWN = 4
"""Differences printed; further ones are only counted."""


def describe(frame: bytes) -> str:
    """One frame as text: scapy's summary, length and hex."""
    return f"{Ether(frame).summary()} ({len(frame)} octets)\n      {frame.hex()}"


def difference(expected: bytes, actual: bytes) -> str:
    """The first octet in which two frames differ, and both frames."""
    common = min(len(expected), len(actual))
    at = next((i for i in range(common) if expected[i] != actual[i]), common)
    return (
        f"first difference at octet {at}"
        f" (expected {expected[at : at + 4].hex() or 'end'},"
        f" got {actual[at : at + 4].hex() or 'end'})\n"
        f"    expected {describe(expected)}\n    got      {describe(actual)}"
    )


def assert_frames(
    test: unittest.TestCase,
    expected: Mapping[int, Sequence[Expected]],
    actual: Mapping[int, Sequence[bytes]],
) -> None:
    """Assert that exactly these frames were sent, in this order on each port."""
    complaints = []
    for port in sorted({*expected, *actual}):
        want, got = list(expected.get(port, ())), list(actual.get(port, ()))
        for i in range(max(len(want), len(got))):
            if i >= len(want):
                complaints.append(f"port {port}: unexpected {describe(got[i])}")
                continue
            wanted = want[i]
            if i >= len(got):
                text = describe(wanted) if isinstance(wanted, bytes) else "one derived frame"
                complaints.append(f"port {port}: missing {text}")
                continue
            frame = wanted if isinstance(wanted, bytes) else wanted(got[i])
            if frame != got[i]:
                complaints.append(f"port {port}: {difference(frame, got[i])}")
    if complaints:
        rest = [f"and {len(complaints) - _SHOWN} more"] * (len(complaints) > _SHOWN)
        test.fail("\n  ".join(["wrong packets:", *complaints[:_SHOWN], *rest]))
