"""Time parameters in a target's unit."""

from fcn.contract.targets import MAX_TICKS, TARGETS, TOFINO1, V1MODEL


def test_ticks_are_rounded_up_and_bounded() -> None:
    assert [V1MODEL.ticks(each) for each in (0, 1, 50, 10_000)] == [0, 1, 50, 10_000]
    # 1 µs is 3.9 ticks, 16 µs are 62.5, 32 µs are exactly 125, 1 ms is 3906.25.
    assert [TOFINO1.ticks(each) for each in (0, 1, 16, 32, 1000)] == [0, 4, 63, 125, 3907]
    for target in TARGETS:
        assert target.ticks(100 * 3600 * 1_000_000) == MAX_TICKS == 2**32 - 1
