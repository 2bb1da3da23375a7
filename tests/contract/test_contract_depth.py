"""Thresholds in packets and octets, and what targets count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcn.contract.depth import (
    DEFAULT_THRESHOLDS,
    LEVELS,
    PACKET_SIZE,
    Depth,
    DepthError,
    DepthUnit,
    QueueDepth,
    check_thresholds,
)
from fcn.contract.targets import TARGETS, TOFINO1, TOFINO2, V1MODEL, Target


def packets(*amounts: int) -> tuple[Depth, ...]:
    return tuple(Depth(amount) for amount in amounts)


def octets(*amounts: int) -> tuple[Depth, ...]:
    return tuple(Depth(amount, DepthUnit.OCTETS) for amount in amounts)


@pytest.mark.parametrize(
    ("target", "depths", "expected"),
    [
        (V1MODEL, packets(8, 16), (8, 16)),
        # A packet of 1500 octets is in 19 cells of 80, or 9 of 176.
        (TOFINO1, packets(8, 16), (152, 304)),
        (TOFINO2, packets(8, 16), (72, 144)),
        (V1MODEL, octets(64_000, 128_000), (43, 86)),
        (TOFINO1, octets(64_000, 128_000), (800, 1600)),
        (TOFINO2, octets(64_000, 128_000), (364, 728)),
        (V1MODEL, octets(1, 1501), (1, 2)),
        (TOFINO1, octets(1, 81), (1, 2)),
        (TOFINO1, (), ()),
    ],
)
def test_thresholds_in_the_unit_of_the_target(
    target: Target, depths: tuple[Depth, ...], expected: tuple[int, ...]
) -> None:
    assert target.depth.thresholds(depths, 1500) == expected


def test_packet_size_is_what_converts() -> None:
    assert TOFINO1.depth.thresholds(packets(8), 9000) == (8 * 113,)
    assert V1MODEL.depth.thresholds(octets(64_000), 9000) == (8,)
    assert V1MODEL.depth.thresholds(packets(8), 9000) == (8,)


@pytest.mark.parametrize(
    ("depths", "reason"),
    [
        (packets(8, 4), "must rise from level to level"),
        (packets(4, 4), "must rise from level to level"),
        (packets(0, 4), "at least 1"),
        (packets(*range(1, 9)), "8 depths, but there are 7 levels"),
        ((Depth(1), Depth(9000, DepthUnit.OCTETS)), "all in packets or all in octets"),
    ],
)
def test_rules_of_thresholds(depths: tuple[Depth, ...], reason: str) -> None:
    for target in TARGETS:
        with pytest.raises(DepthError, match=reason):
            target.depth.thresholds(depths, PACKET_SIZE)
    with pytest.raises(DepthError, match=reason):
        check_thresholds(depths)


@pytest.mark.parametrize(
    ("target", "depths", "reason"),
    [
        (V1MODEL, octets(1, 1500), "levels 1 and 2 at 1 octets and 1500 octets are both 1 packets"),
        (TOFINO1, octets(5, 90, 95), "levels 2 and 3 at 90 octets .* both 2 cells of 80 octets"),
        (V1MODEL, packets(8, 1 << 19), "level 2 at 524288 packets is 524288 packets; .* 524287 at"),
        (TOFINO1, packets(27_595), "level 1 at 27595 packets is 524305 cells of 80 octets"),
        (TOFINO1, octets(80 * 524_287 + 1), "level 1 .* the target reports 524287 at most"),
    ],
)
def test_what_a_target_cannot_tell_is_refused(
    target: Target, depths: tuple[Depth, ...], reason: str
) -> None:
    with pytest.raises(DepthError, match=reason):
        target.depth.thresholds(depths, 1500)


def test_greatest_depth_is_accepted() -> None:
    assert V1MODEL.depth.thresholds(packets(524_287), 1500) == (524_287,)
    assert TOFINO1.depth.thresholds(octets(80 * 524_287), 1500) == (524_287,)


@given(
    amounts=st.sets(st.integers(1, 1 << 26), min_size=1, max_size=len(LEVELS)),
    unit=st.sampled_from(DepthUnit),
    cell=st.sampled_from([None, 80, 176]),
    packet_size=st.integers(64, 65535),
)
def test_converted_thresholds_rise_and_never_come_early(
    amounts: set[int], unit: DepthUnit, cell: int | None, packet_size: int
) -> None:
    """Rounded up: a level begins at the depth given or less than one unit of the target later."""
    queue = QueueDepth(cell)
    depths = tuple(Depth(amount, unit) for amount in sorted(amounts))
    try:
        converted = queue.thresholds(depths, packet_size)
    except DepthError:
        values = [queue.convert(depth, packet_size) for depth in depths]
        assert len(set(values)) < len(values) or values[-1] > queue.maximum
        return
    assert list(converted) == sorted(set(converted))
    if unit is DepthUnit.OCTETS:
        size = cell or packet_size
        for depth, value in zip(depths, converted, strict=True):
            assert 0 <= value * size - depth.amount < size


def test_defaults_suit_every_target() -> None:
    for target in TARGETS:
        assert len(target.depth.thresholds(DEFAULT_THRESHOLDS, PACKET_SIZE)) == len(LEVELS)
