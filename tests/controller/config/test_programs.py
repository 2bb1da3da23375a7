"""Which program a node gets: that of the smallest profile with what the file asks of it."""

from typing import Any

import pytest
from parsing import parsed, problems
from policy_networks import network as with_policies

from fcn.contract.constants import compiled_programs
from fcn.contract.profiles import PROFILES
from fcn.controller.config.programs import profile_of, program_of

LACKS_HOLDS = (
    "profile fantel has no flow control, which this domain needs; write flow-control or full, or "
    "nothing"
)


def chosen(data: dict[str, Any]) -> dict[str, str]:
    """The profile of each node."""
    config = parsed(data)
    return {name: profile_of(config, node) for name, node in config.nodes.items()}


@pytest.mark.parametrize(
    ("asked", "profile"),
    [
        ({}, "fcn"),
        ({"notification": "none"}, "fcn"),
        ({"flow_control": "service"}, "flow-control"),
        ({"failure_detection": {}}, "fantel"),
        ({"failure_detection": {}, "flow_control": "flow"}, "full"),
    ],
)
def test_a_domain_gets_what_it_asks_for(
    network: dict[str, Any], asked: dict[str, Any], profile: str
) -> None:
    assert set(chosen(network | asked).values()) == {profile}


def test_only_pes_with_policies_have_paths() -> None:
    data = with_policies("pe1-r1 r1-pe2", {"north": ["r1"]})
    del data["links"]
    assert chosen(data) == {"pe1": "fantel", "r1": "fcn", "pe2": "fcn"}


def test_a_stated_profile_is_taken(network: dict[str, Any]) -> None:
    network["nodes"]["p1"]["profile"] = "full"
    config = parsed(network)
    assert program_of(config, config.nodes["p1"]).modes == PROFILES["full"]
    assert profile_of(config, config.nodes["pe1"]) == "fcn"


def test_profiles_that_cannot_be_are_refused(network: dict[str, Any]) -> None:
    node = network["nodes"]["p1"]
    node["profile"] = "fnc"
    ((where, why),) = problems(network)
    assert where == "nodes.p1.profile"
    assert (
        why == "there is no profile 'fnc'; there are full, fantel, fcn, flow-control, two-threshold"
    )
    node["profile"] = "fantel"
    assert problems(network | {"flow_control": "service"}) == [("nodes.p1.profile", LACKS_HOLDS)]
    node |= {"profile": "fcn", "program": str(compiled_programs())}
    ((where, why),) = problems(network)
    assert (where, why) == (
        "nodes.p1.profile",
        "is of the programs that are part of fcn; remove it, or `program`",
    )
