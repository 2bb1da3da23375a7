"""The queue before the handlers: tenants take turns, and whoever has most gives way."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from fcn.controller.node.inbox import FairQueue

Entry = tuple[str, int, int]
"""VRF, host, number."""


def offer(
    queue: FairQueue[Entry], vrf: str, host: int, number: int = 0, port: int = 1
) -> str | None:
    """Offer an entry as the controller does; returns who lost one."""
    source = vrf, port, host
    if not queue.admits(source):
        return vrf
    displaced = queue.put(source, (vrf, host, number))
    if displaced is None:
        return None
    loser, entry = displaced
    assert loser == entry[0]
    return loser


def drain(queue: FairQueue[Entry]) -> list[Entry]:
    return [queue.take() for _ in range(len(queue))]


def test_vrfs_take_turns_and_then_their_hosts() -> None:
    queue: FairQueue[Entry] = FairQueue(100)
    for number in range(4):
        offer(queue, "red", 1, number)
    offer(queue, "red", 2)
    offer(queue, "blue", 3)
    assert drain(queue) == [
        ("red", 1, 0),
        ("blue", 3, 0),
        ("red", 2, 0),
        ("red", 1, 1),
        ("red", 1, 2),
        ("red", 1, 3),
    ]


def test_who_fills_the_queue_loses_what_is_offered_next() -> None:
    queue: FairQueue[Entry] = FairQueue(10)
    assert [offer(queue, "red", 1, number) for number in range(12)] == [None] * 10 + ["red"] * 2
    assert drain(queue) == [("red", 1, number) for number in range(10)]


def test_another_tenant_takes_the_place_of_the_newest_of_the_busiest_host() -> None:
    queue: FairQueue[Entry] = FairQueue(10)
    offer(queue, "red", 2)
    for number in range(20):
        offer(queue, "red", 1, number)
    assert [offer(queue, "blue", 3, number) for number in range(5)] == ["red"] * 5
    assert offer(queue, "blue", 3, 5) == "blue", "both have equal shares now"
    kept = drain(queue)
    assert Counter(vrf for vrf, _, _ in kept) == {"red": 5, "blue": 5}
    assert ("red", 2, 0) in kept
    assert [number for vrf, host, number in kept if (vrf, host) == ("red", 1)] == [0, 1, 2, 3]


def test_a_host_gets_room_beside_a_busy_one_of_its_tenant() -> None:
    queue: FairQueue[Entry] = FairQueue(10)
    for number in range(20):
        offer(queue, "red", 1, number)
    assert offer(queue, "red", 2) == "red"
    assert ("red", 2, 0) in drain(queue)


def test_invented_hosts_behind_one_port_have_its_turns_only() -> None:
    queue: FairQueue[Entry] = FairQueue(100)
    for host in range(50):
        offer(queue, "red", host, port=1)
    for number in range(3):
        offer(queue, "red", 99, number, port=2)
    assert [host for _, host, _ in drain(queue)][:6] == [0, 99, 1, 99, 2, 99]


def test_invented_hosts_behind_one_port_displace_their_own() -> None:
    queue: FairQueue[Entry] = FairQueue(10)
    for number in range(5):
        assert offer(queue, "red", 99, number, port=2) is None
    for host in range(50):
        offer(queue, "red", host, port=1)
    assert sum(host == 99 for _, host, _ in drain(queue)) == 5


def test_many_invented_hosts_do_not_displace_another_tenant() -> None:
    queue: FairQueue[Entry] = FairQueue(10)
    for number in range(5):
        assert offer(queue, "blue", 3, number) is None
    assert {offer(queue, "red", host) for host in range(1000)} == {None, "red"}
    assert sum(vrf == "blue" for vrf, _, _ in drain(queue)) == 5


Offers = st.tuples(st.sampled_from(("red", "blue", "green")), st.integers(1, 3))
"""VRF, host; hosts are behind two ports."""


@given(st.lists(st.one_of(Offers, st.none()), max_size=200), st.integers(1, 12))
def test_nothing_is_lost_or_reordered_but_what_gives_way(
    steps: list[tuple[str, int] | None], limit: int
) -> None:
    """None: something is taken. What one host offered comes in order, and a tenant with at most an
    equal share of the queue loses nothing to others."""
    queue: FairQueue[Entry] = FairQueue(limit)
    waiting: Counter[str] = Counter()
    taken: list[Entry] = []
    for number, step in enumerate(steps):
        if step is not None:
            lost = offer(queue, *step, number, port=step[1] % 2)
            if lost is not None and lost != step[0]:
                assert waiting[lost] > limit // 3
            waiting[step[0]] += 1
            if lost is not None:
                waiting[lost] -= 1
        elif len(queue):
            taken.append(queue.take())
            waiting[taken[-1][0]] -= 1
        assert len(queue) == waiting.total() <= limit
    taken += drain(queue)
    for host in {entry[:2] for entry in taken}:
        numbers = [number for *who, number in taken if tuple(who) == host]
        assert numbers == sorted(set(numbers))
