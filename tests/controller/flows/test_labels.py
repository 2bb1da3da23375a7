"""Label pool: FCN-2's random, locally unique, non-zero, quarantined labels."""

import random

import pytest
from edges import HandClock
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from fcn.contract.constants import FCN_LABEL_BIT
from fcn.controller.flows import labelling
from fcn.controller.flows.labelling import GATE_MASK, LABEL_COUNT, LabelPool, NoLabelError

QUARANTINE = 30.0


def allocate(pool: LabelPool) -> int:
    """A label, as `LabelledFlows` takes it."""
    pool.check("red")
    return pool.take()


class PoolMachine(RuleBasedStateMachine):
    """The pool's invariants hold in any sequence of allocate, release, claim and waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = HandClock()
        self.pool = LabelPool(QUARANTINE, self.clock, random.Random(7))
        self.used: set[int] = set()
        self.released: dict[int, float] = {}

    @rule()
    def allocate(self) -> None:
        label = allocate(self.pool)
        assert label not in self.used
        assert label & FCN_LABEL_BIT
        assert 0 < label < 1 << 20
        assert self.clock.now - self.released.get(label, -QUARANTINE) >= QUARANTINE
        assert label & GATE_MASK not in {other & GATE_MASK for other in self.used}
        self.used.add(label)

    @precondition(lambda self: self.used)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        label = data.draw(st.sampled_from(sorted(self.used)))
        self.pool.release(label, "red")
        self.used.remove(label)
        self.released[label] = self.clock.now

    @rule(low=st.integers(0, 40))
    def claim(self, low: int) -> None:
        label = FCN_LABEL_BIT | low << 8
        if {label & GATE_MASK} & {other & GATE_MASK for other in self.used}:
            assert self.pool.claim(label) is (label not in self.used)
            return
        assert self.pool.claim(label)
        self.used.add(label)

    @rule(seconds=st.floats(0, 2 * QUARANTINE))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @invariant()
    def counts(self) -> None:
        assert len(self.pool) == len(self.used)
        resting = [
            label
            for label, since in self.released.items()
            if label not in self.used and self.clock.now < since + QUARANTINE
        ]
        assert self.pool.resting == len(resting)


TestPool = PoolMachine.TestCase
TestPool.settings = settings(max_examples=40, stateful_step_count=40)


@given(label=st.integers(-1, FCN_LABEL_BIT - 1) | st.integers(1 << 20, 1 << 24))
def test_claim_refuses_what_is_no_fcn_label(label: int) -> None:
    assert not LabelPool(QUARANTINE, HandClock(), random.Random(1)).claim(label)


def test_claim_of_used_label_is_refused() -> None:
    pool = LabelPool(QUARANTINE, HandClock(), random.Random(1))
    assert not pool.claim(allocate(pool))


def test_gates_are_shared_only_when_all_are_taken() -> None:
    pool = LabelPool(QUARANTINE, HandClock(), random.Random(1))
    for _ in range(2):
        taken = {allocate(pool) & GATE_MASK for _ in range(GATE_MASK + 1)}
        assert len(taken) == GATE_MASK + 1


def test_the_last_labels_are_drawn_at_once() -> None:
    """No label is looked for: each draw asks the source of chance twice."""

    class Counting(random.Random):
        asked = 0

        def randrange(self, *arguments: int) -> int:  # type: ignore[override]
            self.asked += 1
            return super().randrange(*arguments)

    rng = Counting(1)
    pool = LabelPool(QUARANTINE, HandClock(), rng)
    for label in range(FCN_LABEL_BIT, FCN_LABEL_BIT + LABEL_COUNT - 500):
        assert pool.claim(label)
    left = {allocate(pool) for _ in range(500)}
    assert left == set(range(FCN_LABEL_BIT + LABEL_COUNT - 500, FCN_LABEL_BIT + LABEL_COUNT))
    assert rng.asked == 1000


def test_exhaustion_names_the_remedy_and_ends_with_quarantine() -> None:
    clock = HandClock()
    pool = LabelPool(QUARANTINE, clock, random.Random(1))
    for label in range(FCN_LABEL_BIT, FCN_LABEL_BIT + LABEL_COUNT - 1):
        assert pool.claim(label)
    last = allocate(pool)
    assert last == FCN_LABEL_BIT + LABEL_COUNT - 1
    with pytest.raises(NoLabelError, match="label_quarantine"):
        allocate(pool)
    pool.release(last, "red")
    with pytest.raises(NoLabelError):
        allocate(pool)
    clock.now += QUARANTINE
    assert allocate(pool) == last


def test_a_tenant_whose_flows_come_and_go_leaves_labels_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may have as many in quarantine as are free: half of them, where it is alone."""
    monkeypatch.setattr(labelling, "LABEL_COUNT", 1000)
    clock = HandClock()
    pool = LabelPool(QUARANTINE, clock, random.Random(1))
    for _ in range(501):
        pool.release(allocate(pool), "red")
    with pytest.raises(NoLabelError, match="of VRF red are in quarantine"):
        allocate(pool)
    for _ in range(1000 - 501):
        pool.check("blue")
        pool.take()
    clock.now += QUARANTINE
    assert allocate(pool)
