"""The choice of watched flows: bounded, by host pair, alternating (FCN-3 b)."""

from ipaddress import ip_address

from edges import HandClock
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from fcn.controller.flows.key import FlowKey, host_pair
from fcn.controller.flows.watch import FIRST_REST, LONGEST_REST, WATCH, WatchList

A, B, C = (ip_address(f"10.0.0.{number}") for number in (1, 2, 3))


def key(qp: int, *, back: bool = False, other: bool = False) -> FlowKey:
    far = C if other else B
    return FlowKey("blue", far, A, qp) if back else FlowKey("blue", A, far, qp)


def test_a_new_flow_is_watched_at_once_and_rests_after_a_while() -> None:
    clock = HandClock()
    watch = WatchList(clock, limit=4)
    assert watch.add(key(1)) == {key(1)}
    assert watch.add(key(2, back=True)) == {key(2, back=True)}
    assert watch.complete(host_pair(key(1)))
    clock.now += WATCH - 0.1
    assert watch.advance() == set()
    clock.now += 0.1
    assert watch.advance() == {key(1), key(2, back=True)}
    assert key(1) not in watch
    assert not watch.complete(host_pair(key(1)))


def test_rests_get_longer_and_a_new_flow_ends_them() -> None:
    clock = HandClock()
    watch = WatchList(clock, limit=4)
    watch.add(key(1))
    rest = FIRST_REST
    for _ in range(8):
        clock.now += WATCH
        assert watch.advance() == {key(1)}
        clock.now += rest - 0.1
        assert watch.advance() == set()
        clock.now += 0.1
        assert watch.advance() == {key(1)}
        assert key(1) in watch
        rest = min(LONGEST_REST, 2 * rest)
    clock.now += WATCH
    watch.advance()
    assert watch.add(key(2)) == {key(1), key(2)}
    clock.now += WATCH
    watch.advance()
    clock.now += FIRST_REST
    assert watch.advance() == {key(1), key(2)}


def test_others_have_their_turn_where_not_all_have_room() -> None:
    clock = HandClock()
    watch = WatchList(clock, limit=2)
    for qp in (1, 2, 3):
        watch.add(key(qp))
    assert [key(qp) in watch for qp in (1, 2, 3)] == [True, True, False]
    assert not watch.complete(host_pair(key(1)))
    assert watch.add(key(4, other=True)) == set()
    clock.now += WATCH
    assert watch.advance() == {key(1), key(2), key(4, other=True)}
    assert key(4, other=True) in watch
    clock.now += WATCH
    watch.advance()
    assert key(3) in watch


def test_none_are_watched_without_room() -> None:
    watch = WatchList(HandClock(), limit=0)
    assert watch.add(key(1)) == set()
    assert watch.advance() == set()
    assert len(watch) == 0


def tenant_key(vrf: str, host: int, qp: int) -> FlowKey:
    return FlowKey(vrf, ip_address(f"10.0.1.{host}"), B, qp)


def test_a_tenant_that_has_all_gives_way_to_another() -> None:
    refused: list[FlowKey] = []
    watch = WatchList(HandClock(), 8, refused.append)
    greedy = [tenant_key("red", qp % 4, qp) for qp in range(20)]
    for flow in greedy:
        watch.add(flow)
    assert [flow in watch for flow in greedy] == [True] * 8 + [False] * 12
    assert refused == greedy[8:]
    modest = [tenant_key("blue", 1, qp) for qp in range(6)]
    for flow in modest:
        watch.add(flow)
    assert [flow in watch for flow in modest] == [True] * 4 + [False] * 2
    assert sum(flow in watch for flow in greedy) == len(watch) - 4 == 4


def test_whose_place_is_taken_is_told() -> None:
    watch = WatchList(HandClock(), 2)
    watch.add(tenant_key("red", 1, 1))
    watch.add(tenant_key("red", 1, 2))
    changed = watch.add(tenant_key("blue", 1, 1))
    assert changed == {tenant_key("red", 1, 2), tenant_key("blue", 1, 1)}


def beside_many() -> tuple[HandClock, WatchList, FlowKey]:
    """A list with 200 host pairs of a tenant, and then a flow of another tenant."""
    clock = HandClock()
    watch = WatchList(clock, 4)
    for host in range(200):
        watch.add(tenant_key("red", host, 1))
    mine = tenant_key("blue", 1, 1)
    watch.add(mine)
    return clock, watch, mine


def test_many_waiting_pairs_of_a_tenant_do_not_keep_another_waiting() -> None:
    clock, watch, mine = beside_many()
    for _ in range(3):
        assert mine in watch
        clock.now += WATCH
        watch.advance()
        assert mine not in watch
        watch.add(tenant_key("blue", 1, int(clock.now)))


def test_waiting_pairs_of_a_tenant_do_not_lengthen_the_rest_of_anothers() -> None:
    clock, watch, mine = beside_many()
    clock.now += WATCH
    watch.advance()
    assert mine not in watch
    clock.now += FIRST_REST
    watch.advance()
    assert mine in watch


class Watching(RuleBasedStateMachine):
    """In any sequence, the limit is kept and only existing flows are watched."""

    LIMIT = 3

    def __init__(self) -> None:
        super().__init__()
        self.clock = HandClock()
        self.watch = WatchList(self.clock, self.LIMIT)
        self.flows: set[FlowKey] = set()
        self.told: set[FlowKey] = set()

    @rule(qp=st.integers(1, 6), back=st.booleans(), other=st.booleans())
    def add(self, qp: int, back: bool, other: bool) -> None:
        flow = key(qp, back=back, other=other)
        self._tell(self.watch.add(flow))
        self.flows.add(flow)

    @rule(qp=st.integers(1, 6), back=st.booleans(), other=st.booleans())
    def remove(self, qp: int, back: bool, other: bool) -> None:
        flow = key(qp, back=back, other=other)
        self.watch.remove(flow)
        self.flows.discard(flow)
        self.told.discard(flow)

    @rule(seconds=st.sampled_from([0.25, 5.0, 11.0, 700.0]))
    def advance(self, seconds: float) -> None:
        self.clock.now += seconds
        self._tell(self.watch.advance())

    def _tell(self, changed: set[FlowKey]) -> None:
        for flow in changed:
            if flow in self.watch:
                self.told.add(flow)
            else:
                self.told.discard(flow)

    @invariant()
    def bounded_and_told(self) -> None:
        watched = {flow for flow in self.flows if flow in self.watch}
        assert len(self.watch) == len(watched) <= self.LIMIT
        assert watched == self.told

    @invariant()
    def nobody_is_forgotten(self) -> None:
        if self.flows and not len(self.watch):
            self.clock.now += LONGEST_REST
            self._tell(self.watch.advance())
            assert len(self.watch) > 0


TestWatching = Watching.TestCase
TestWatching.settings = settings(max_examples=60, stateful_step_count=40, derandomize=True)
