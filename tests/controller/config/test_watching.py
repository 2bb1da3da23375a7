"""What nodes watch by configuration, and what `fcn check` says of it (FAN-4)."""

from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

import pytest
import yaml
from chip_programs import chip_programs
from parsing import parsed, table_entries, written
from policy_networks import IDS, SQUARE, TWO_WAYS, network, notes

from fcn.contract.constants import CORE_PATH_CELLS, compiled_programs, enum_members
from fcn.contract.paths import path_tag
from fcn.contract.pipeline import Pipeline, load_pipeline
from fcn.contract.targets import TOFINO1
from fcn.controller.config import ConfigError, parse_config
from fcn.controller.config.check_failures import failure_warnings
from fcn.controller.config.paths import Planner
from fcn.controller.config.watching import (
    NO_ADDRESS,
    PathPackets,
    WatchedLink,
    WatchedPath,
    WatchedQueue,
    Watching,
)
from fcn.controller.provision.provision import Provision


def watched(
    links: str = SQUARE,
    tunnels: dict[str, list[str]] | None = None,
    policy: dict[str, Any] | None = None,
    **section: object,
) -> dict[str, Any]:
    """pe1 with a policy, in a domain whose links are watched."""
    data = network(links, TWO_WAYS if tunnels is None else tunnels, policy)
    data["failure_detection"] = section
    return data


def shown(data: dict[str, Any], name: str) -> list[str]:
    """The slots of a node: `1-pe2` for a link, `1:17` for a path."""
    texts = []
    for slot in Watching(parsed(data)).slots(name):
        assert isinstance(slot, WatchedLink | WatchedPath)
        far = f"-{slot.peer}" if isinstance(slot, WatchedLink) else f":{slot.number}"
        texts.append(f"{slot.port}{far}")
    return texts


def test_a_link_then_the_paths_that_leave_by_it() -> None:
    data = watched(policy=IDS)
    assert shown(data, "pe1") == ["1-r1", "1:17", "2-r2", "2:18"]
    assert shown(data, "r1") == ["1-pe1", "2-r3", "2:17"]
    assert shown(data, "r3") == ["1-r1", "2-pe2", "2:17"]
    assert shown(data, "r4") == ["1-r2", "2-pe2", "2:18"]
    assert shown(data, "pe2") == ["1-r3", "2-r4"], "the other direction is another PE's"


def test_without_the_key_nothing_is_watched() -> None:
    data = watched(policy=IDS)
    del data["failure_detection"]
    assert shown(data, "pe1") == []


def test_of_several_shortest_ways_all_are_watched() -> None:
    """pe1 has one bit for all ports of a path, so it says nothing of one that has several."""
    policy = {"paths": [{"tunnel": "any", "id": 17}], "backup": []}
    data = watched(f"{SQUARE} r1-r4", {"any": []}, policy)
    assert shown(data, "pe1") == ["1-r1", "2-r2"]
    assert shown(data, "r1") == ["1-pe1", "2-r3", "2:17", "3-r4", "3:17"]
    assert shown(data, "r4") == ["1-r2", "2-pe2", "2:17", "3-r1"]
    cells = [path.cell for path in Watching(parsed(data)).paths("r1")]
    assert len(set(cells)) == 2
    notes = dict(failure_warnings(parsed(data), Watching(parsed(data))))
    assert notes == {
        "nodes.pe1.policies.to-pe2": "any leaves the node by several ports, so the node itself "
        "does not say that it has failed"
    }


def test_packets_are_known_by_their_tag_or_their_only_sid() -> None:
    policy = {"paths": [{"tunnel": "north", "id": 17}, {"tunnel": "near", "id": 18}]}
    data = watched("pe1-r1 r1-r3 r3-pe2 pe1-r2 r2-pe2", {"north": ["r1", "r3"], "near": []}, policy)
    config = parsed(data)
    (plan,) = Planner(config).plans("pe1")
    source = config.nodes["pe1"].underlay_address
    (north,) = Watching(config).paths("r1")
    assert north.packets == (PathPackets(source, path_tag(plan.cell, 0), NO_ADDRESS),)
    (near,) = Watching(config).paths("r2")
    assert near.packets == (PathPackets(source, 0, IPv6Address("fc00:99::d2")),)
    data["nodes"]["pe1"]["tunnels"]["near"] = {"type": "vxlan", "to": "pe2"}
    (near,) = Watching(parsed(data)).paths("r2")
    far = config.nodes["pe2"].underlay_address
    assert near.packets == (PathPackets(source, 0, far),)
    data["nodes"]["pe1"]["tunnels"]["near"]["source"] = "fc00:1::e"
    (near,) = Watching(parsed(data)).paths("r2")
    assert near.packets == (), "an END SID takes no messages"


def test_cells_stay_when_the_file_changes() -> None:
    before = {path.number: path.cell for path in Watching(parsed(watched(policy=IDS))).paths("r1")}
    more = watched(f"{SQUARE} r1-r5 r5-pe2", policy=IDS)
    after = {path.number: path.cell for path in Watching(parsed(more)).paths("r1")}
    assert before == after
    assert all(cell < CORE_PATH_CELLS for cell in before.values())


@pytest.mark.parametrize(
    ("section", "reason"),
    [
        ({"interval": "999us"}, "999us is out of range; write 1ms to 10s"),
        ({"interval": "11s"}, "11s is out of range; write 1ms to 10s"),
        ({"interval": 10}, "expected a duration"),
        ({"multiplier": 1}, "greater than or equal to 2"),
        ({"multiplier": 51}, "less than or equal to 50"),
        ({"interval": "2s", "refresh": "1s"}, "refresh is shorter than interval; write a longer"),
        ({"detect": 3}, "unknown key"),
    ],
)
def test_wrong_times_are_refused(section: dict[str, Any], reason: str) -> None:
    data = watched()
    data["failure_detection"] = section
    with pytest.raises(ConfigError, match="failure_detection") as caught:
        parsed(data)
    assert reason in str(caught.value)


def test_defaults() -> None:
    times = parsed(watched()).failure_detection
    assert times is not None
    assert (times.interval, times.multiplier, times.refresh) == (100_000, 3, 10_000_000)
    assert times.detection_time == 300_000


def test_a_clock_that_is_too_slow_is_noted(tmp_path: Path) -> None:
    """20,000 packets a second; 20 links and the end of the round are more than 1 ms of them."""
    links = " ".join(["pe1-r1", "r1-pe2", *(f"r1-s{number}" for number in range(20))])
    policy = {"paths": [{"tunnel": "north", "id": 17}], "backup": []}
    text = notes(tmp_path, watched(links, {"north": []}, policy, interval="1ms"))
    assert "failure_detection.interval: r1 watches 23 links and paths" in text
    assert "to each of them every 1200us; write 2ms" in text
    assert "every" not in notes(tmp_path, watched(links, {"north": []}, policy, interval="2ms"))


def test_a_program_without_a_clock_is_noted(tmp_path: Path) -> None:
    """Nor are the links of its neighbours to it watched: nobody would answer."""
    data = watched(policy={"paths": [{"tunnel": "north", "id": 17}], "backup": []})
    del data["nodes"]["pe1"]["tunnels"]["south"]
    data["nodes"]["r3"]["program"] = str(compiled_programs() / "tna" / "two-threshold")
    text = notes(tmp_path, data)
    assert "nodes.r3: its program has no clock (Tofino 1), so its links are not watched" in text
    assert shown(data, "r3") == []
    assert shown(data, "r1") == ["1-pe1"]
    assert shown(data, "pe1") == ["1-r1", "1:17", "2-r2"]


def test_nodes_that_pes_do_not_believe_are_noted(tmp_path: Path) -> None:
    """pe1 and pe2 have addresses 1 and 2, P nodes those up to 6."""
    data = watched(policy=IDS)
    for prefixes, text in (
        (["fc00:ff::/125"], ""),
        (["fc00:ff::/126", "fc00:ff::4/127"], "add fc00:ff::6 (r4)"),
        ([], "add fc00:ff::3 (r1), fc00:ff::4 (r2), fc00:ff::5 (r3), fc00:ff::6 (r4)"),
    ):
        data["trusted_prefixes"] = prefixes
        shown = notes(tmp_path, data)
        assert ("note: trusted_prefixes: PEs drop" in shown) == bool(text)
        assert text in shown


def test_a_domain_without_links_is_noted(tmp_path: Path) -> None:
    data = watched(policy={"paths": [{"tunnel": "north", "id": 17}], "backup": []})
    data["links"] = []
    text = notes(tmp_path, data)
    assert "failure_detection: the file has no links to watch" in text
    assert "north is not shown by links, so the node itself does not say that it has failed" in text


def test_too_much_to_watch_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcn.controller.config.check_failures.CORE_PATH_CELLS", 0)
    with pytest.raises(ConfigError, match=r"r1: 1 paths leave it, and its program has room for 0"):
        parsed(watched(policy=IDS))


def test_a_round_ends_at_a_slot_without_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """r1 has two links and a path in a table of three."""
    monkeypatch.setattr(Pipeline, "table_size", lambda _self, table: 3 if "clock" in table else 999)
    text = "r1: 3 links and paths are watched, and its program has room for 2"
    with pytest.raises(ConfigError, match=text):
        parsed(watched(policy=IDS))


def test_queues_are_watched_where_nodes_tell_of_congestion() -> None:
    """FAN-6: behind the paths of the same link, at P nodes and for a PE's own first link."""
    data = watched(policy=IDS) | {"notification": "fantel"}
    config = parsed(data)
    for name in ("pe1", "r1"):
        slots = Watching(config).slots(name)
        queues = [slot.path for slot in slots if isinstance(slot, WatchedQueue)]
        assert queues == Watching(config).paths(name)
    found = table_entries(config, "r1", "clock_slot")
    assert [(entry.match["slot"], entry.action.name) for entry in found] == [
        (0, "watch_link"),
        (1, "watch_link"),
        (2, "watch_path"),
        (3, "watch_path_queue"),
    ]


@pytest.mark.parametrize(
    ("mode", "kinds"),
    [
        ("fantel", {"r1": ("FANTEL", "NONE"), "pe1": ("CNP", "FANTEL")}),
        ("fcn", {"r1": ("FAST_CNP", "NONE"), "pe1": ("FAST_CNP", "FAST_CNP")}),
    ],
)
def test_the_mode_of_the_domain(mode: str, kinds: dict[str, tuple[str, str]]) -> None:
    data = watched(policy=IDS) | {"notification": mode}
    for node in data["nodes"].values():
        node["features"] = "all"
    numbers = enum_members("NotificationKind")
    for name, expected in kinds.items():
        (entry,) = table_entries(parsed(data), name, "domain_mode")
        args = entry.action.args
        assert (args["congestion_kind"], args["translates"]) == tuple(numbers[k] for k in expected)


@pytest.mark.parametrize(("transport", "over_icmpv6"), [("udp", 0), ("icmpv6", 1)])
def test_what_messages_are_carried_in(transport: str, over_icmpv6: int) -> None:
    data = watched(policy=IDS) | {"fantel_transport": transport}
    (entry,) = table_entries(parsed(data), "r1", "fantel_profile")
    args = entry.action.args
    assert (args["over_icmpv6"], args["udp_dst_port"]) == (over_icmpv6, 61021)


def test_congestion_needs_a_clock() -> None:
    data = watched(policy=IDS) | {"notification": "fantel"}
    del data["failure_detection"]
    with pytest.raises(ConfigError, match="fantel needs failure_detection"):
        parsed(data)
    data["failure_detection"] = {}
    data["nodes"]["r3"]["program"] = str(compiled_programs() / "tna" / "two-threshold")
    with pytest.raises(ConfigError, match=r"r3.program: .* no p program with links and paths"):
        parsed(data)


def test_tofino_2_watches_its_links(tmp_path: Path) -> None:
    data = watched(policy=IDS) | {"notification": "fantel"}
    data["nodes"]["r3"]["program"] = str(chip_programs(tmp_path / "chip", links=True))
    config = parsed(data)
    watching = Watching(config)
    kinds = [WatchedLink, WatchedLink, WatchedPath, WatchedQueue]
    assert [type(slot) for slot in watching.slots("r3")] == kinds
    program = load_pipeline("p", tmp_path / "chip" / "fantel", binary=False)
    link, *rest = written(Provision(config, "r3", program), "clock_slot")
    actions = [each.action.name for each in (link, *rest)]
    assert actions == ["watch_link", "watch_link", "watch_path", "watch_path_queue"]
    # Hellos say the interval in microseconds; the rest is in ticks of 256 ns.
    interval, silence = link.action.args["interval"], link.action.args["detection_time"]
    assert silence == TOFINO1.ticks(3 * interval)


def test_tofino_1_says_what_is_congested_and_watches_no_links(tmp_path: Path) -> None:
    """Nor do its neighbours watch their links to it; of their queues there they speak."""
    data = watched(policy=IDS) | {"notification": "fantel"}
    data["nodes"]["r3"]["program"] = str(chip_programs(tmp_path / "chip", links=False))
    assert "r3: its program (Tofino 1) says what is congested, but watches no links" in notes(
        tmp_path, data
    )
    config = parsed(data)
    watching = Watching(config)
    assert watching.links("r3") == []
    assert [type(slot) for slot in watching.slots("r3")] == [WatchedQueue]
    assert [type(slot) for slot in watching.slots("r1")] == [WatchedLink, WatchedQueue]
    program = load_pipeline("p", tmp_path / "chip" / "fantel", binary=False)
    tables = ("clock_slot", "core_path", "fantel_profile")
    found = written(Provision(config, "r3", program), *tables)
    assert sorted(each.action.name for each in found) == [
        "set_core_path",
        "set_fantel_profile",
        "watch_path_queue",
    ]
    data["fantel_transport"] = "icmpv6"
    with pytest.raises(ConfigError, match=r"program of r3 \(Tofino 1\) sends over UDP only"):
        parsed(data)


def test_packets_of_a_path_have_its_tag() -> None:
    """So that transit nodes tell paths apart; what is no path has none."""
    data = watched(policy=IDS)
    data["nodes"]["pe1"]["tunnels"]["other"] = {"type": "srv6", "to": "pe2", "via": ["r1", "r4"]}
    route = {"prefix": "10.3.0.0/24", "tunnel": "other"}
    data["nodes"]["pe1"]["vrfs"]["blue"]["routes"].append(route)
    config = parsed(data)
    (plan,) = Planner(config).plans("pe1")
    tags = {each.action.args["tag"] for each in table_entries(config, "pe1", "tunnel")}
    assert tags == {0, path_tag(plan.cell, 0), path_tag(plan.cell, 1)}
    (path,) = table_entries(config, "r1", "core_path")
    slots = table_entries(config, "r1", "clock_slot")
    (slot,) = (each for each in slots if each.action.name == "watch_path")
    assert path.match["tag"] == path_tag(plan.cell, 0)
    assert path.match["port"] == slot.action.args["port"]
    assert path.action.args["cell"] == slot.action.args["path_cell"]
    assert path.action.args["id"] == slot.action.args["path_id"] == 17


def test_an_empty_section_is_an_error() -> None:
    """It reads as `on`, and YAML takes it for a key that is not there."""
    data = watched()
    del data["failure_detection"]
    text = "failure_detection:\n" + yaml.safe_dump(data)
    with pytest.raises(ConfigError) as error:
        parse_config(text)
    (problem,) = error.value.problems
    assert (problem.line, problem.where) == (1, "failure_detection")
    assert "write {} for the defaults" in problem.message
