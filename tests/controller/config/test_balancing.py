"""Load balancing: its section and the rates of ports, what is checked, and the entries that follow
(FAN-7)."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from chip_programs import chip_programs
from parsing import parsed, problems, table_entries
from policy_networks import IDS, SQUARE, TWO_WAYS, network, notes
from spoilt import cases, spoil

from fcn.contract.paths import PathShare, paths_in_use
from fcn.controller.config import ConfigError, parse_config
from fcn.controller.config.watching import (
    WatchedLink,
    WatchedLoad,
    WatchedPath,
    WatchedQueue,
    Watching,
)

MOVING = ("flowlet_gap", "margin", "settle")
SETTLE_US = 200_000
"""Two rounds of the clock."""

ONE_WAY = {"paths": [{"tunnel": "north", "id": 17}], "backup": [{"tunnel": "south", "id": 18}]}


def balanced(policy: dict[str, Any] | None = None, **section: object) -> dict[str, Any]:
    """pe1 with a policy, in a domain with load balancing, whose links have a rate."""
    data = network(SQUARE, TWO_WAYS, IDS if policy is None else policy)
    data |= {"failure_detection": {}, "load_balancing": section}
    for node in data["nodes"].values():
        for port in node["ports"]:
            if port["role"] == "core":
                port["rate"] = "10 Gb/s"
    return data


def many_policies(data: dict[str, Any], count: int) -> dict[str, Any]:
    """The same with as many policies over both ways."""
    pe1 = data["nodes"]["pe1"]
    routes = pe1["vrfs"]["blue"]["routes"]
    for number in range(count - 1):
        for name in ("north", "south"):
            pe1["tunnels"][f"{name}-{number}"] = pe1["tunnels"][name]
        paths = [{"tunnel": f"north-{number}"}, {"tunnel": f"south-{number}"}]
        pe1["policies"][f"other-{number}"] = {"to": "pe2", "paths": paths, "backup": []}
        routes.append({"prefix": f"10.3.{number}.0/24", "policy": f"other-{number}"})
    return data


def actions(data: dict[str, Any], name: str, table: str) -> list[Any]:
    """The actions of the entries that a node has in a table."""
    found = table_entries(parsed(data), name, table)
    key = "slot" if table == "clock_slot" else None
    found.sort(key=lambda entry: entry.match[key] if key else 0)
    return [entry.action for entry in found]


def test_defaults() -> None:
    balancing = parsed(balanced()).load_balancing
    assert balancing is not None
    assert (balancing.change, balancing.refresh) == (50, 500_000)
    assert (balancing.margin, balancing.flowlet) == (40, 10_000)


def test_a_rate_is_in_bits_per_second() -> None:
    data = balanced()
    data["nodes"]["pe1"]["ports"][0]["rate"] = "2.5 Mb/s"
    assert [port.rate for port in parsed(data).nodes["pe1"].ports] == [2_500_000, 10**10, None]


REFUSED = """\
load_balancing.change = 0
  greater than or equal to 1
load_balancing.change = 1001
  less than or equal to 1000
load_balancing.change = '50'
  valid integer
load_balancing.refresh = 999us
  999us is out of range; write 1ms to 1s
load_balancing.refresh = 2s
  2s is out of range; write 1ms to 1s
load_balancing.refresh = 1
  expected a duration
load_balancing.margin = -1
  greater than or equal to 0
load_balancing.margin = 1001
  less than or equal to 1000
load_balancing.margin = null
  valid integer
load_balancing.flowlet = 99us
  99us is out of range; write 100us to 10s
load_balancing.flowlet = 11s
  11s is out of range; write 100us to 10s
load_balancing.flowlet = [1ms]
  expected a duration
load_balancing.flowlets = 1ms
  unknown key
load_balancing = 5
  expected keys and their values
load_balancing = true
  expected keys and their values
load_balancing = []
  expected keys and their values
nodes.r1.ports[1].rate = 10
  10 is not a rate
nodes.r1.ports[1].rate = '10'
  '10' is not a rate
nodes.r1.ports[1].rate = 0 b/s
  not above 0 and at most 4 Tb/s
nodes.r1.ports[1].rate = 5 Tb/s
  not above 0 and at most 4 Tb/s
nodes.r1.ports[1].rate = [1]
  not a rate
nodes.r1.ports[1].rate = {a: 1}
  not a rate
nodes.r1.ports[1].rate = true
  True is not a rate
nodes.r1.ports[1].rate = null
  @nodes.r1.ports[1] load_balancing needs the rate of the link to r3
nodes.pe1.ports[2].rate = 1 Gb/s
  the rate is that of links between nodes, or of
nodes.pe1.ports[1].rate = 400 Gb/s
  more in 100ms than switches count for load_balancing; write a failure_detection.interval of 42ms
failure_detection.interval = 2s
  load_balancing measures links once per interval, and 2s is too seldom; write 1s or less
del failure_detection
  @load_balancing its defaults
"""
"""2^31 octets at 400 Gb/s are 42.9 ms."""


@pytest.mark.parametrize(("changes", "where", "reason"), cases(REFUSED))
def test_what_is_wrong_is_refused(changes: tuple[str, ...], where: str, reason: str) -> None:
    ((place, message),) = problems(spoil(balanced(), changes))
    assert place == where
    assert reason in message


def test_chips_measure_no_links(tmp_path: Path) -> None:
    data = balanced()
    data["nodes"]["r3"]["program"] = str(chip_programs(tmp_path / "chip", links=True))
    ((place, message),) = problems(data)
    assert place == "nodes.r3"
    assert "does not measure links (Tofino 1); leave load_balancing out" in message


@pytest.mark.parametrize(
    "change", ["nodes.pe1.ports[1].rate = 400 Gb/s", "failure_detection.interval = 1s"]
)
def test_a_clock_as_slow_as_it_may_be(change: str) -> None:
    interval = "failure_detection.interval = 42ms"
    assert problems(spoil(balanced(), (interval, change))) == []


def test_an_empty_section_is_an_error() -> None:
    data = balanced()
    del data["load_balancing"]
    with pytest.raises(ConfigError) as caught:
        parse_config("load_balancing:\n" + yaml.safe_dump(data))
    (problem,) = caught.value.problems
    assert (problem.line, problem.where) == (1, "load_balancing")
    assert "write {} for the defaults" in problem.message


def test_every_watched_port_needs_its_rate() -> None:
    data = balanced()
    text = yaml.safe_dump(data).replace("rate: 10 Gb/s", "mac: null")
    with pytest.raises(ConfigError) as caught:
        parse_config(text)
    found = {problem.where for problem in caught.value.problems}
    ends = {f"nodes.{node}.ports[{port}]" for node in data["nodes"] for port in (0, 1)}
    assert found == ends, "not those of customers"
    line = text.splitlines()[caught.value.problems[0].line - 1]
    assert line.strip().startswith("-"), "the port"
    assert "as in `rate: 10 Gb/s`" in caught.value.problems[0].message


def test_a_port_without_a_link_needs_none() -> None:
    data = balanced()
    data["nodes"]["r1"]["ports"].append({"number": 9, "role": "core"})
    parsed(data)


def test_that_there_is_nothing_to_balance_is_noted(tmp_path: Path) -> None:
    text = "no policy that a route names has two paths that are in use together"
    assert f"note: load_balancing: {text}" in notes(tmp_path, balanced(ONE_WAY))
    assert text not in notes(tmp_path, balanced())
    unused = balanced()
    unused["nodes"]["pe1"]["vrfs"]["blue"]["routes"][0] = {
        "prefix": "10.2.0.0/24",
        "tunnel": "north",
    }
    assert text in notes(tmp_path, unused)
    without = balanced(ONE_WAY)
    del without["load_balancing"]
    assert text not in notes(tmp_path, without)


def test_what_the_clock_does_not_come_round_in_is_refused() -> None:
    """pe1 has 2 links, and 2 slots for each of 168 paths: 17 ms; 2^31 octets at 4 Tb/s are 4.3 ms,
    at 1 Tb/s 17.2 ms."""
    data = many_policies(balanced(IDS | {"backup": []}), 84)
    data["failure_detection"] = {"interval": "4ms"}
    pe1 = data["nodes"]["pe1"]
    pe1["ports"][0]["rate"] = "4 Tb/s"
    ((where, problem),) = problems(data)
    assert where == "nodes.pe1.ports[0].rate"
    assert "at this rate a link sends more than switches" in problem
    assert "its 338 links and paths, in 16950us; let fewer policies" in problem
    pe1["ports"][0]["rate"] = "1 Tb/s"
    parsed(data)


def test_that_loads_are_said_less_often_is_noted(tmp_path: Path) -> None:
    data = balanced(refresh="99ms")
    text = "note: load_balancing.refresh: 99ms is shorter than failure_detection.interval, so"
    assert f"{text} loads are said again every 100ms; write 100ms" in notes(tmp_path, data)
    assert text not in notes(tmp_path, balanced(refresh="100ms"))


def test_ends_of_a_link_that_have_different_rates_are_noted(tmp_path: Path) -> None:
    data = balanced()
    data["nodes"]["r1"]["ports"][0]["rate"] = "10 Mb/s"
    text = (
        "note: nodes.pe1.ports[0].rate: the other end of this link, r1:1, has 10 Mb/s and not "
        "10 Gb/s; write the same"
    )
    assert text in notes(tmp_path, data)
    assert ".rate" not in notes(tmp_path, balanced())


def test_loads_are_said_behind_everything_else_of_a_link() -> None:
    config = parsed(balanced() | {"notification": "fantel"})
    for name in ("pe1", "r1"):
        slots = Watching(config).slots(name)
        assert sum(isinstance(slot, WatchedLink) for slot in slots) == 2
        path = next(slot for slot in slots if isinstance(slot, WatchedPath))
        at = slots.index(path)
        assert slots[at + 1 : at + 3] == [WatchedQueue(path), WatchedLoad(path)]


def test_of_a_path_that_is_in_use_alone_nobody_asks() -> None:
    config = parsed(balanced(ONE_WAY))
    for name in config.nodes:
        assert not any(isinstance(slot, WatchedLoad) for slot in Watching(config).slots(name))


def test_the_clock_of_a_node() -> None:
    data = balanced(change=70, refresh="20ms")
    links_and_paths = actions(data, "r1", "clock_slot")
    assert [each.name for each in links_and_paths] == [
        "watch_link",
        "watch_link",
        "watch_path",
        "watch_path_load",
    ]
    link, _, path, load = (each.args for each in links_and_paths)
    assert link["rate"] == 10_000_000, "kb/s"
    assert (load["change"], load["refresh"]) == (70, 20_000)
    for name in ("port", "path_cell", "path_id", "ingress_pe"):
        assert load[name] == path[name]
    own = [each for each in actions(data, "pe1", "clock_slot") if each.name == "watch_path_load"]
    assert [each.args["path_id"] for each in own] == [17, 18]
    assert {str(each.args["ingress_pe"]) for each in own} <= {"::", "0"}


def test_links_are_not_measured_without_it() -> None:
    data = balanced()
    del data["load_balancing"]
    assert {each.args.get("rate", 0) for each in actions(data, "r1", "clock_slot")} == {0}


def test_a_slow_link_is_measured_too() -> None:
    data = balanced()
    data["nodes"]["r1"]["ports"][0]["rate"] = "1 b/s"
    assert actions(data, "r1", "clock_slot")[0].args["rate"] == 1


def test_flows_may_overtake_what_is_held(tmp_path: Path) -> None:
    text = "may wait for 10ms and more"
    held = {"flow_control": "flow"}
    assert f"note: load_balancing.flowlet: with flow_control a flow's packets {text}" in notes(
        tmp_path, balanced() | held
    )
    assert text not in notes(tmp_path, balanced(flowlet="11ms") | held)
    assert text not in notes(tmp_path, balanced())


@pytest.mark.parametrize(
    ("policy", "section", "entry"),
    [
        (IDS, {}, (10_000, 5, SETTLE_US)),
        (IDS, {"flowlet": "2ms", "margin": 1000}, (2_000, 125, SETTLE_US)),
        (IDS, {"margin": 7}, (10_000, 0, SETTLE_US)),
        (ONE_WAY, {}, (0, 0, 0)),
    ],
)
def test_policies_move_flows(
    policy: dict[str, Any], section: dict[str, Any], entry: tuple[int, ...]
) -> None:
    (action,) = actions(balanced(policy, **section), "pe1", "policy")
    assert tuple(action.args[name] for name in MOVING) == entry


def test_without_the_section_policies_move_none() -> None:
    data = balanced()
    del data["load_balancing"]
    (action,) = actions(data, "pe1", "policy")
    assert {action.args[name] for name in MOVING} == {0}


@pytest.mark.parametrize(
    ("policy", "shares"),
    [(IDS, (PathShare(1), PathShare(1))), (ONE_WAY, (PathShare(1), PathShare(1, is_backup=True)))],
)
def test_each_bucket_knows_the_paths_in_use(
    policy: dict[str, Any], shares: tuple[PathShare, ...]
) -> None:
    found = {
        (each.match["avoided"], each.action.args["in_use"])
        for each in table_entries(parsed(balanced(policy)), "pe1", "path")
    }
    sets = [(avoided, paths_in_use(shares, avoided)) for avoided in (0b00, 0b01, 0b10)]
    assert found == {(avoided, sum(1 << slot for slot in slots)) for avoided, slots in sets}
