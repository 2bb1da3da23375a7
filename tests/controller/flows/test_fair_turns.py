"""Places for checks go round: VRFs, groups of hosts that may pretend to be each other, hosts."""

from ipaddress import ip_address

from fcn.controller.flows.shares import Host
from fcn.controller.flows.turns import Turns


def host(address: str, vrf: str = "red") -> Host:
    return Host(vrf, ip_address(address))


def test_invented_hosts_of_a_subnet_have_its_turns_only() -> None:
    turns: Turns[str] = Turns()
    for number in range(50):
        turns.wait(f"invented {number}", [host(f"2001:db8:0:1::{number:x}")])
    for number in range(3):
        turns.wait(f"honest {number}", [host("2001:db8:0:2::1")])
    placed = [turns.take() for _ in range(6)]
    assert sum(str(each).startswith("honest") for each in placed) == 3


def test_a_place_that_is_free_again_goes_to_whoever_has_fewest() -> None:
    turns: Turns[str] = Turns()
    for number in range(4):
        turns.wait(f"a {number}", [host("10.0.1.1")])
        turns.wait(f"b {number}", [host("10.0.2.1")])
        turns.wait(f"c {number}", [host("10.0.1.2")])
    first = [turns.take() for _ in range(4)]
    assert sorted(str(each)[0] for each in first) == ["a", "b", "b", "c"]
    turns.leave("a 0")
    assert turns.take() == "a 1", "its group has one place, the other two"


def test_who_leaves_leaves_nothing_behind() -> None:
    turns: Turns[str] = Turns()
    ends = [host("10.0.1.1"), host("10.0.2.1")]
    turns.wait("waits", ends)
    turns.wait("placed", ends, first=True)
    assert turns.take() == "placed"
    for entry in ("placed", "waits", "unknown"):
        turns.leave(entry)
    assert turns.take() is None
    turns.wait("next", ends)
    assert turns.take() == "next"
