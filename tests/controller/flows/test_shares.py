"""Fair shares: what one tenant or host takes, others get when they need it, and no more."""

import random
from collections import Counter
from ipaddress import ip_address

import pytest

from fcn.controller.flows.shares import FairShares, Host, NoRoomError


def host(vrf: str, number: int) -> Host:
    return Host(vrf, ip_address(f"10.0.{number // 256}.{number % 256}"))


GREEDY, MODEST, OTHER = host("red", 1), host("red", 2), host("blue", 1)


def full(limit: int = 100) -> FairShares[int]:
    shares: FairShares[int] = FairShares()
    for entry in range(limit):
        assert shares.add(GREEDY, entry, limit) is None
    return shares


def test_all_is_for_whoever_comes_alone() -> None:
    shares = full()
    with pytest.raises(NoRoomError):
        shares.add(GREEDY, 1000, 100)
    assert len(shares) == 100


@pytest.mark.parametrize("newcomer", [MODEST, OTHER])
def test_a_newcomer_gets_half_and_the_newest_entries_go(newcomer: Host) -> None:
    shares = full()
    displaced = [shares.add(newcomer, 1000 + number, 100) for number in range(50)]
    assert displaced == list(range(99, 49, -1))
    with pytest.raises(NoRoomError):
        shares.add(newcomer, 2000, 100)
    assert Counter(map(shares.__contains__, range(100))) == {True: 50, False: 50}


def test_tenants_share_first_then_their_hosts() -> None:
    """Many hosts of one tenant get no more than one host of another."""
    shares: FairShares[tuple[int, int]] = FairShares()
    for number in range(90):
        shares.add(host("red", number), (number, 0), 90)
    for number in range(45):
        shares.add(OTHER, (-1, number), 90)
    with pytest.raises(NoRoomError):
        shares.add(OTHER, (-1, 45), 90)
    with pytest.raises(NoRoomError):
        shares.add(host("red", 200), (200, 0), 90)
    assert sum((-1, number) in shares for number in range(46)) == 45


@pytest.mark.parametrize(
    ("invented", "honest"), [("2001:db8:1::", "2001:db8:2::"), ("10.1.0.0", "10.2.0.0")]
)
def test_whoever_invents_hosts_takes_nothing_from_other_subnets(invented: str, honest: str) -> None:
    """Of the same tenant; each host gives way to its neighbours first."""
    shares: FairShares[tuple[str, int]] = FairShares()
    for number in range(100):
        one_of_three = Host("red", ip_address(honest) + 1 + number % 3)
        shares.add(one_of_three, (honest, number), 100)
    for number in range(50):
        shares.add(Host("red", ip_address(invented) + 1 + number), (invented, number), 100)
    for number in range(50, 200):
        with pytest.raises(NoRoomError):
            shares.add(Host("red", ip_address(invented) + 1 + number), (invented, number), 100)
    kept = [number for number in range(100) if (honest, number) in shares]
    assert len(kept) == 50
    assert sorted(Counter(number % 3 for number in kept).values()) == [16, 17, 17]


def test_a_tenant_without_entries_finds_no_room_where_there_is_none() -> None:
    shares: FairShares[int] = FairShares()
    with pytest.raises(NoRoomError):
        shares.add(OTHER, 1, 0)


def test_what_is_gone_leaves_room() -> None:
    shares = full()
    shares.remove(7)
    shares.remove(7)
    assert shares.add(GREEDY, 1000, 100) is None
    assert 1000 in shares


def test_shares_tend_to_equal_ones_under_any_order() -> None:
    """Against a plain count, in random orders; nobody below the fair share is ever refused."""
    rng = random.Random(11)
    hosts = [host(f"vrf{number % 4}", number) for number in range(12)]
    shares: FairShares[int] = FairShares()
    owner: dict[int, Host] = {}
    for entry in range(5000):
        asking = rng.choices(hosts, weights=[1000, *[5] * 11])[0]
        try:
            displaced = shares.add(asking, entry, 240)
        except NoRoomError:
            assert Counter(owner.values())[asking] >= 240 // 12 - 1
        else:
            if displaced is not None:
                del owner[displaced]
            owner[entry] = asking
        if owner and rng.random() < 0.1:
            gone = rng.choice(list(owner))
            shares.remove(gone)
            del owner[gone]
        assert len(shares) == len(owner) <= 240
    assert all(entry in shares for entry in owner)
