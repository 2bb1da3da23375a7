"""The same scenario and seed give the same octets on another machine, too."""

import pytest
from everywhere import SEEN_BY_HOSTS, committed, plans, seen_by_hosts

from fcn.lab.result.model import Result
from fcn.lab.run.runner import run_scenario


def uses(name: str, result: Result) -> bool:
    """Whether the run is what it is there for."""
    connections, notices = result.connections, set(result.notices["what"])
    if name == "notified":
        return bool(result.notices["by_switch"].sum()) and "cut" in notices
    if name == "lossy":
        lost = {"gap", "nak", "timeout", "retransmission", "cut"} <= notices
        return lost and bool(connections["marked"].sum())
    return len(result.pauses) > 10 and not connections["retransmitted"].sum()


@pytest.mark.parametrize("name", plans())
def test_hosts_see_the_same_on_every_machine(name: str) -> None:
    """How to write the digests anew, and when, is in everywhere.py."""
    result = run_scenario(plans()[name])
    assert uses(name, result)
    found, expected = seen_by_hosts(result), committed()[name]
    differing = [table for table in SEEN_BY_HOSTS if found[table] != expected[table]]
    assert not differing, (
        f"run {name}: not what was committed. Of a change that was to change what hosts see: run "
        "tests/lab/run/everywhere.py. Of the same commit on another machine: a defect."
    )
