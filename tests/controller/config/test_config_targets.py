"""Checks that depend on a node's target: port numbers, and thresholds in its unit."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parsing import parsed, problems

from fcn.contract.constants import compiled_programs
from fcn.contract.depth import PACKET_SIZE, Depth, DepthUnit
from fcn.contract.profiles import Mode
from fcn.controller.config.check_modes import mode_warnings, program_notes
from fcn.controller.config.notation import format_depth, parse_depth, parse_octets
from fcn.controller.config.programs import program_of


@pytest.fixture
def chip(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Folder of a transit node's program for an architecture."""
    text = (compiled_programs() / "tna" / "p.p4info.txtpb").read_text()
    arch: str = getattr(request, "param", "tna")
    (tmp_path / "p.p4info.txtpb").write_text(text.replace('arch: "tna"', f'arch: "{arch}"'))
    return str(tmp_path)


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (509, "port 509 of p1 is the recirculation port (BMv2)"),
        (510, "port 510 of p1 is the CPU port (BMv2)"),
        (511, "port 511 of p1 is the drop port (BMv2)"),
        (512, "port 512 of p1 is not a front-panel port; those are 0 to 511 (BMv2)"),
    ],
)
def test_ports_bmv2_needs_are_refused(network: dict[str, Any], number: int, reason: str) -> None:
    network["nodes"]["p1"]["ports"].append({"number": number, "role": "core"})
    assert problems(network) == [("nodes.p1.ports[2].number", reason)]


@pytest.mark.parametrize(
    ("chip", "number", "reason"),
    [
        ("tna", 64, "port 64 of p1 is the CPU port (Tofino 1)"),
        ("tna", 68, "port 68 of p1 is the recirculation port (Tofino 1)"),
        ("tna", 510, "port 510 of p1 is not a front-panel port"),
        ("tna", 8, None),
        ("t2na", 6, "port 6 of p1 is the recirculation port (Tofino 2)"),
        ("t2na", 0, "port 0 of p1 is the CPU port (Tofino 2)"),
        ("t2na", 64, None),
    ],
    indirect=["chip"],
)
def test_ports_a_chip_needs_are_refused(
    network: dict[str, Any], chip: str, number: int, reason: str | None
) -> None:
    p1 = network["nodes"]["p1"]
    p1["program"] = chip
    p1["ports"].append({"number": number, "role": "core"})
    found = [why for where, why in problems(network) if where == "nodes.p1.ports[2].number"]
    assert len(found) == (reason is not None)
    assert all(why.startswith(str(reason)) for why in found)


def test_program_for_another_architecture_is_refused(
    network: dict[str, Any], chip: str, tmp_path: Path
) -> None:
    network["nodes"]["p1"]["program"] = chip
    file = tmp_path / "p.p4info.txtpb"
    file.write_text(file.read_text().replace('arch: "tna"', 'arch: "psa"'))
    [(where, why)] = problems(network)
    assert where == "nodes.p1.program"
    assert "architecture 'psa'" in why


def test_file_that_is_no_p4info_is_refused(network: dict[str, Any], tmp_path: Path) -> None:
    network["nodes"]["p1"]["program"] = str(tmp_path)
    (tmp_path / "p.p4info.txtpb").write_text("pkg_info {")
    [(where, why)] = problems(network)
    assert where == "nodes.p1.program"
    assert "p.p4info.txtpb is not a P4Info" in why


def test_missing_program_is_a_problem_of_its_node(network: dict[str, Any], tmp_path: Path) -> None:
    network["nodes"]["p1"]["program"] = str(tmp_path)
    [(where, why)] = problems(network)
    assert where == "nodes.p1.program"
    assert "p.p4info.txtpb is missing; put it there" in why


@pytest.mark.parametrize(
    "change",
    [
        ('"egress_port"', '"out_port"'),
        ('alias: "set_level"', 'alias: "set_levels"'),
        ("bitwidth: 9", "bitwidth: 10"),
    ],
)
def test_a_program_of_another_version_is_refused(
    network: dict[str, Any], chip: str, change: tuple[str, str]
) -> None:
    file = Path(chip) / "p.p4info.txtpb"
    assert change[0] in file.read_text()
    file.write_text(file.read_text().replace(*change))
    network["nodes"]["p1"]["program"] = chip
    [(where, why)] = problems(network)
    assert where == "nodes.p1.program"
    assert "is of another version of fcn: it has " in why


def test_a_chip_watches_no_links_where_its_mode_comes_without(network: dict[str, Any]) -> None:
    """Others of the domain do, and `fcn check` notes that this node does not."""
    network |= {"flow_control": "service", "failure_detection": {}}
    network["nodes"]["p1"]["program"] = str(compiled_programs() / "tna")
    config = parsed(network)
    found = program_of(config, config.nodes["p1"], binary=False)
    assert found.p4info.parent.name == "flow-control"
    assert Mode.FANTEL in program_of(config, config.nodes["p2"]).modes


def test_modes_that_no_program_of_a_folder_has_together_are_named(network: dict[str, Any]) -> None:
    network |= {"flow_control": "service", "notification": "fantel", "failure_detection": {}}
    network["nodes"]["p1"]["program"] = str(compiled_programs() / "tna")
    (why,) = [why for where, why in problems(network) if where == "nodes.p1.program"]
    assert "has no p program with flow control and links and paths, which this domain needs" in why


def test_what_a_chip_does_not_tell_is_noted(network: dict[str, Any]) -> None:
    """Congestion of a port to a data centre marks CE only (FCN-18); and without its binary the
    controller does not run."""
    network["nodes"]["pe1"]["program"] = str(compiled_programs() / "tna")
    for name in ("pe1", "pe2"):
        network["nodes"][name]["thresholds"] = [{"port": 1, "depths": [8, 16]}]
    config = parsed(network)
    ((where, why),) = mode_warnings(config)
    assert (where, "tells no other PE" in why) == ("nodes.pe1.thresholds[0]", True)
    ((where, why),) = program_notes(config)
    assert (where, "pe.json or pe.bin is missing" in why) == ("nodes.pe1.program", True)


def test_thresholds_with_units(network: dict[str, Any]) -> None:
    network["congestion"]["thresholds"] = ["64kB", "128 kB", "0.5MB"]
    network["nodes"]["p2"]["thresholds"][0]["depths"] = [4, "8p", "16 packets"]
    config = parsed(network)
    octets = [Depth(amount, DepthUnit.OCTETS) for amount in (64_000, 128_000, 500_000)]
    assert config.congestion.thresholds == tuple(octets)
    assert config.nodes["p2"].thresholds[0].depths == (Depth(4), Depth(8), Depth(16))
    assert config.congestion.packet_size == PACKET_SIZE


@pytest.mark.parametrize(
    ("depths", "reason"),
    [
        (
            ["1400B", "1500B"],
            "p2 port 2 (BMv2): levels 1 and 2 at 1400 octets and 1500 octets are both 1 packets; "
            "set them further apart",
        ),
        (
            [8, 524_288],
            "p2 port 2 (BMv2): level 2 at 524288 packets is 524288 packets; "
            "the target reports 524287 at most; write a smaller depth",
        ),
        ([8, "64kB"], "queue depths are all in packets or all in octets; give them one unit"),
        (list(range(1, 9)), "8 depths, but there are 7 levels; write 7 at most"),
    ],
)
def test_thresholds_a_queue_cannot_have_are_refused(
    network: dict[str, Any], depths: list[int | str], reason: str
) -> None:
    network["nodes"]["p2"]["thresholds"][0]["depths"] = depths
    assert problems(network) == [("nodes.p2.thresholds[0].depths", reason)]


def test_default_thresholds_are_checked_on_the_ports_that_have_them(
    network: dict[str, Any], chip: str
) -> None:
    """1400 and 1500 octets are different numbers of cells on the chip, but one packet on BMv2."""
    network["congestion"]["thresholds"] = ["1400B", "1500B"]
    for node in ("pe1", "p2", "pe2"):
        ports = [port["number"] for port in network["nodes"][node]["ports"]]
        network["nodes"][node]["thresholds"] = [{"port": port, "depths": [8]} for port in ports]
    found = problems(network)
    assert {where for where, _ in found} == {"congestion.thresholds"}
    assert [why.partition(" (")[0] for _, why in found] == ["p1 port 1", "p1 port 2"]
    network["nodes"]["p1"]["program"] = chip
    assert problems(network) == []


def test_a_program_of_something_else_is_refused(network: dict[str, Any], tmp_path: Path) -> None:
    """That of the other role, one for a chip without our tables, and what is no text at all."""
    folder = compiled_programs()
    for content, reason in (
        ((folder / "p.p4info.txtpb").read_bytes(), "is of no pe node: it lacks cnp_profile"),
        (b'pkg_info { arch: "tna" }', "is of no pe node: it lacks cnp_profile"),
        (b"\xff\xfe", "is not a P4Info"),
    ):
        place = tmp_path / str(len(content))
        place.mkdir()
        (place / "pe.p4info.txtpb").write_bytes(content)
        network["nodes"]["pe1"]["program"] = str(place)
        (problem,) = problems(network)
        assert problem[0] == "nodes.pe1.program"
        assert reason in problem[1]


def test_packet_size_decides_what_can_be_told_apart(network: dict[str, Any]) -> None:
    network["nodes"]["p2"]["thresholds"][0]["depths"] = ["8kB", "16kB"]
    assert problems(network) == []
    network["congestion"]["packet_size"] = "16kB"
    assert [where for where, _ in problems(network)] == ["nodes.p2.thresholds[0].depths"]
    network["congestion"]["packet_size"] = 9000
    assert ("congestion.packet_size", "9000 has no unit; write 1500B or 9kB") in problems(network)


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        (8, Depth(8)),
        ("8", Depth(8)),
        ("8p", Depth(8)),
        ("1 packet", Depth(1)),
        ("8 packets", Depth(8)),
        ("1500B", Depth(1500, DepthUnit.OCTETS)),
        ("64kB", Depth(64_000, DepthUnit.OCTETS)),
        ("64KB", Depth(64_000, DepthUnit.OCTETS)),
        ("64KiB", Depth(65_536, DepthUnit.OCTETS)),
        ("1.5MB", Depth(1_500_000, DepthUnit.OCTETS)),
        ("2MiB", Depth(2 << 20, DepthUnit.OCTETS)),
    ],
)
def test_spellings_of_a_depth(text: str | int, depth: Depth) -> None:
    assert parse_depth(text) == depth


@pytest.mark.parametrize("text", ["", "kB", "8 cells", "8.5", "1.5 packets", "-8", "8  kB", "64mb"])
def test_what_is_no_depth_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a queue depth; write 8"):
        parse_depth(text)


@pytest.mark.parametrize("value", [True, 8.5, None, ["8"]])
def test_what_is_no_text_is_no_depth(value: object) -> None:
    with pytest.raises(ValueError, match="expected a queue depth such as 8 packets or 64kB"):
        parse_depth(value)


@pytest.mark.parametrize("text", [0, "0p", "0kB", "0.1B"])
def test_depths_are_at_least_1(text: str | int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        parse_depth(text)


@given(depth=st.builds(Depth, st.integers(1, 1 << 40), st.sampled_from(DepthUnit)))
def test_depths_are_read_back_as_shown(depth: Depth) -> None:
    assert parse_depth(format_depth(depth)) == depth


def test_octets_need_their_unit() -> None:
    assert parse_octets("9kB") == 9000
    with pytest.raises(ValueError, match="has no unit"):
        parse_octets("9000")
