"""How a PE distributes flows over the paths of a policy (p4src/fantel/paths/path_of_bucket.p4)."""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fcn.contract.constants import PATH_BUCKETS, PATH_BY_HAND, PATH_SLOTS, enum_members

_FORGET = enum_members("PathReport")["FORGET"]
PATH_REPORTS = {
    name: number
    for name, number in enum_members("PathReport").items()
    if name not in ("LOAD", "FORGET")
}
"""What is said of a path, by name, and counted; loads are not."""

NOTHING_SAID = ("WELL", "RELIEVED")
"""Said by everybody, they end all that was said."""

_EVERYBODY = (1 << 32) - 1
"""The bits of all reporters."""


@dataclass(frozen=True, slots=True)
class PathShare:
    """What a path takes: its weight among those in use. Backups are in use only while every other
    path of the policy is avoided."""

    weight: int
    is_backup: bool = False


def path_cell(policy: int, slot: int) -> int:
    """The index of a path in counter `path_traffic`."""
    return policy * PATH_SLOTS + slot


def path_tag(policy: int, slot: int) -> int:
    """What the SRH of packets on a path has as its tag, so that transit nodes tell a PE's paths
    apart; packets on no path have 0."""
    return path_cell(policy, slot) + 1


def report_cell(policy: int, slot: int, report: int) -> int:
    """The index of what is said of a path in counter `path_reports`."""
    return path_cell(policy, slot) * len(PATH_REPORTS) + report


def reporter_cell(reporter: int, report: int) -> int:
    """The index of what a link or node says of paths in counter `reporter_reports`."""
    return reporter * len(PATH_REPORTS) + report


def path_report(number: int, report: str) -> bytes:
    """What a packet-out to the CPU port says by hand of the path with this ID: a member of
    PathReport. What is good ends what everybody else said: a message of theirs may be lost."""
    reporters = PATH_BY_HAND if report in ("FAILED", "CONGESTED") else _EVERYBODY
    return struct.pack("!IIxB", number, reporters, PATH_REPORTS[report])


def forget_order(reporter: int) -> bytes:
    """What a packet-out to the CPU port says so that the next message of a link or node counts as
    its first, whatever numbers were heard; reporter: its cell."""
    return struct.pack("!IIxB", 0, reporter, _FORGET)


def entries_of(paths: int) -> int:
    """Entries of table `path` for a policy of so many paths."""
    return ((1 << paths) - 1) * PATH_BUCKETS


def distributions(shares: Sequence[PathShare]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """For each set of avoided paths, as a bit per slot, the slot of every bucket.

    At least one path is never avoided. A bucket leaves its path only where that is avoided; the
    buckets of avoided paths go where they bring the rest nearest to the weights.
    """
    for avoided in range((1 << len(shares)) - 1):
        usable = paths_in_use(shares, avoided)
        first = _buckets(shares, _slots(shares, is_backup=shares[usable[0]].is_backup))
        yield avoided, _moved(shares, first, usable)


def paths_in_use(shares: Sequence[PathShare], avoided: int) -> list[int]:
    """Slots of the paths among which flows are distributed while a set of paths is avoided, as a
    bit per slot; backups only where no other path is left."""
    left = [slot for slot in range(len(shares)) if not avoided >> slot & 1]
    return [slot for slot in left if not shares[slot].is_backup] or left


def compared(shares: Sequence[PathShare]) -> tuple[int, ...]:
    """Slots of the paths whose loads matter: those that are in use beside others (FAN-7)."""
    groups = [_slots(shares, is_backup=is_backup) for is_backup in (False, True)]
    return tuple(slot for slots in groups if len(slots) > 1 for slot in slots)


def _slots(shares: Sequence[PathShare], *, is_backup: bool) -> list[int]:
    return [slot for slot, share in enumerate(shares) if share.is_backup is is_backup]


def _amounts(shares: Sequence[PathShare], slots: Sequence[int]) -> dict[int, int]:
    """Buckets of each slot: by weight, and what division leaves over to the largest remainders."""
    total = sum(shares[slot].weight for slot in slots)
    exact = {slot: divmod(shares[slot].weight * PATH_BUCKETS, total) for slot in slots}
    left = PATH_BUCKETS - sum(whole for whole, _ in exact.values())
    by_remainder = sorted(slots, key=lambda slot: -exact[slot][1])
    return {slot: exact[slot][0] + (slot in by_remainder[:left]) for slot in slots}


def _buckets(shares: Sequence[PathShare], slots: Sequence[int]) -> list[int]:
    amounts = _amounts(shares, slots)
    return [slot for slot in slots for _ in range(amounts[slot])]


def _moved(
    shares: Sequence[PathShare], first: Sequence[int], usable: Sequence[int]
) -> tuple[int, ...]:
    lacking = _amounts(shares, usable)
    for slot in first:
        if slot in lacking:
            lacking[slot] -= 1
    result = []
    for slot in first:
        kept = slot
        if slot not in lacking:
            kept = max(usable, key=lambda each: lacking[each])
            lacking[kept] -= 1
        result.append(kept)
    return tuple(result)
