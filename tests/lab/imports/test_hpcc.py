"""HPCC's topologies and flows as scenarios; malformed ones by file, line and reason."""

import os
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fcn.lab.cli.imports import app
from fcn.lab.imports.hpcc import read_hpcc
from fcn.lab.imports.lines import MAX_FLOWS, ImportedError
from fcn.lab.imports.write import scenario_text, write_scenario
from fcn.lab.run.runner import run_scenario

TOPOLOGY = """\
7 3 6
4 5 6
0 4 100Gbps 0.001ms 0
1 4 100Gbps 0.001ms 0
2 5 25Gbps 2000ns 0.000000
3 5 25Gbps 0.001ms 0
4 6 400Gbps 1us 0
6 5 400Gbps 5us 0

First line: total node #, switch node #, link #
"""
FLOWS = """\
4
0 2 3 100 20000 2
1 2 3 100 20000 2
3 0 3 100 1000000 2.0001
2 0 3 100 500 2.5e0

First line: # of flows
"""


def files(folder: Path, topology: str = TOPOLOGY, flows: str = FLOWS) -> tuple[Path, Path]:
    """The two files."""
    made = folder / "topology.txt", folder / "flow.txt"
    for file, text in zip(made, (topology, flows), strict=True):
        file.write_text(text)
    return made


def test_a_topology_and_its_flows_become_a_scenario_that_runs(tmp_path: Path) -> None:
    imported = read_hpcc(*files(tmp_path))
    assert (imported.edges, imported.cores) == (("s4", "s5"), ("s6",))
    plan = write_scenario(imported, tmp_path / "own.yaml")
    assert {node.name: node.role for node in plan.topology.nodes} == {
        "s4": "pe", "s5": "pe", "s6": "p",
    }  # fmt: skip
    wires = {wire.ends: (wire.rate_bps, wire.delay_ns) for wire in plan.wiring.wires}
    assert wires[frozenset(("s6", "s5"))] == (400 * 10**9, 5000)
    assert wires[frozenset(("h2", "s5"))] == (25 * 10**9, 2000)
    assert wires[frozenset(("h0", "s4"))] == (100 * 10**9, 1000)
    flows = [
        (plan.traffic.flows[each.flow].source.name, plan.traffic.flows[each.flow].target.name,
         each.size, each.start_ns)
        for each in plan.traffic.sends
    ]  # fmt: skip
    assert flows == [
        ("h0", "h2", 20_000, 0), ("h1", "h2", 20_000, 0), ("h3", "h0", 1_000_000, 100_000),
        ("h2", "h0", 500, 500_000_000),
    ]  # fmt: skip
    text = (tmp_path / "own.yaml").read_text()
    assert "{pattern: incast, from: [h0, h1], to: [h2], size: 20000B, start: 0ns}" in text
    assert "# Topology.txt announces 6 links; 1 lines more are not read." in text
    assert "# Times are since the first flow, which begins at 2 s there." in text
    result = run_scenario(plan, until_ns=1_000_000)
    assert result.messages["completed_ns"].notna().sum() == 3


def test_flows_of_one_host_to_another_at_once_are_several(tmp_path: Path) -> None:
    flows = "3\n0 2 3 100 9 0\n0 2 3 100 9 0\n1 2 3 100 9 0\n"
    plan = write_scenario(read_hpcc(*files(tmp_path, flows=flows)), tmp_path / "own.yaml")
    sources = sorted(plan.traffic.flows[each.flow].source.name for each in plan.traffic.sends)
    assert sources == ["h0", "h0", "h1"]


def test_a_run_is_long_enough_for_its_links(tmp_path: Path) -> None:
    """The way between h0 and h2 takes 20 ms and 3 us, more than everything else."""
    made = files(tmp_path, TOPOLOGY.replace("5us", "20ms"))
    plan = write_scenario(read_hpcc(*made), tmp_path / "own.yaml")
    assert plan.scenario.duration > 2 * 20_003_000 + 100_000
    assert int(run_scenario(plan).messages["completed_ns"].notna().sum()) == 4


def test_a_long_run_is_sampled_less_often(tmp_path: Path) -> None:
    last = FLOWS.replace("2.5e0", "30")
    plan = write_scenario(read_hpcc(*files(tmp_path, flows=last)), tmp_path / "own.yaml")
    assert plan.scenario.measure.interval == 12_000
    assert "measure" not in scenario_text(read_hpcc(*files(tmp_path)), "own-network.yaml")


def test_priority_groups_that_differ_are_named_as_left_out(tmp_path: Path) -> None:
    flows = FLOWS.replace("1 2 3 100", "1 2 5 100")
    assert any("priority groups" in note for note in read_hpcc(*files(tmp_path, flows=flows)).notes)
    assert not any("priority groups" in note for note in read_hpcc(*files(tmp_path)).notes)


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    imported = read_hpcc(*files(tmp_path))
    for name in ("own.yaml", "own-network.yaml"):
        place = tmp_path / name
        place.write_text("mine")
        with pytest.raises(Exception, match="name another file with -o"):
            write_scenario(imported, tmp_path / "own.yaml")
        assert place.read_text() == "mine"
        place.unlink()
    assert {each.name for each in tmp_path.iterdir()} == {"topology.txt", "flow.txt"}


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("7 3 6", "seven 3 6", 1, "number of nodes 'seven' is no number from 1 to 10000"),
        ("7 3 6", "7 3 6 4", 1, "'4' is not expected there"),
        ("7 3 6", "7 3", 1, "number of links is missing"),
        ("7 3 6", "99999999999999999999 3 6", 1, "is no number from 1 to 10000"),
        ("7 3 6", "7 3 900", 1, "900 links are announced, but 7 lines follow"),
        ("7 3 6", "8 3 6", 1, "host 7 has no link"),
        ("7 3 6\n4 5 6", "8 4 6\n4 5 6 7", 1, "switch 7 has no link"),
        ("4 5 6\n", "4 5\n", 2, "3 switches are announced, not 2"),
        ("4 5 6\n", "4 5 5\n", 2, "a switch is named twice"),
        ("4 5 6\n", "4 5 7\n", 2, "switch 7 is no number from 0 to 6"),
        ("1 4 100Gbps 0.001ms 0", "1 4 100Gbps 0.001ms", 4, "a link has two nodes"),
        ("1 4 100Gbps", "1 1 100Gbps", 4, "node 1 is linked to itself"),
        ("1 4 100Gbps", "1 4 100", 4, "rate '100' is not as one of 1bps"),
        ("1 4 100Gbps", "1 4 0Gbps", 4, "the rate is not above 0"),
        ("1 4 100Gbps 0.001ms", "1 4 100Gbps -1ms", 4, "delay '-1ms' is not as one of"),
        ("1 4 100Gbps 0.001ms", "1 4 100Gbps 11s", 4, "longer than 10 s"),
        ("1 4 100Gbps 0.001ms 0", "1 4 100Gbps 0.001ms 0.01", 4, "the error rate must be 0"),
        ("1 4 100Gbps", "1 0 100Gbps", 4, "1 and 0 are both hosts"),
        ("1 4 100Gbps", "0 5 100Gbps", 4, "host 0 is linked above"),
        ("6 5 400Gbps", "6 4 400Gbps", 8, "6 and 4 are linked above"),
    ],
)
def test_a_malformed_topology_is_refused(
    tmp_path: Path, old: str, new: str, line: int, reason: str
) -> None:
    assert old in TOPOLOGY
    topology, flow = files(tmp_path, topology=TOPOLOGY.replace(old, new))
    with pytest.raises(ImportedError) as found:
        read_hpcc(topology, flow)
    assert str(found.value).startswith(f"{topology}:{line}: ")
    assert reason in str(found.value)


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("4\n", "0\n", 1, "number of flows 0 is no number from 1"),
        ("4\n", "4 0\n", 1, "'0' is not expected there"),
        ("1 2 3 100 20000 2", "1 2 3 100 20000 2_0", 3, "start '2_0' is no number"),
        ("1 2 3 100 20000 2", "1 2 3 100 20000 ٢", 3, "is no number of 0 or more"),
        ("4\n", "9\n", 1, "9 flows are announced, but 5 lines follow"),
        ("4\n", f"{MAX_FLOWS + 1}\n", 1, "is no number from 1 to 10000"),
        ("1 2 3 100 20000 2", "1 2 3 100 20000", 3, "a flow has source"),
        ("1 2 3", "1 4 3", 3, "4 is no host of the topology"),
        ("1 2 3", "1 1 3", 3, "host 1 cannot send to itself"),
        ("1 2 3", "1 2 8", 3, "priority group 8 is no number from 0 to 7"),
        ("1 2 3 100 20000", "1 2 3 70000 20000", 3, "port 70000 is no number from 0 to 65535"),
        ("1 2 3 100 20000", "1 2 3 100 0", 3, "octets 0 is no number from 1"),
        ("1 2 3 100 20000 2", "1 2 3 100 20000 nan", 3, "start 'nan' is no number of 0 or more"),
        ("1 2 3 100 20000 2", "1 2 3 100 20000 -1", 3, "is no number of 0 or more"),
        ("1 2 3 100 20000 2", "1 2 3 100 20000 1e999999", 3, "is no number of 0 or more"),
        ("1 2 3 100 20000 2", "1 2 3 100 20000 1e60", 3, "start is not before 1000 s"),
        ("1 2 3 100 20000 2", "1 2 3 100 20000 soon", 3, "start 'soon' is no number"),
    ],
)
def test_a_malformed_flow_is_refused(
    tmp_path: Path, old: str, new: str, line: int, reason: str
) -> None:
    assert old in FLOWS
    topology, flow = files(tmp_path, flows=FLOWS.replace(old, new, 1))
    with pytest.raises(ImportedError) as found:
        read_hpcc(topology, flow)
    assert str(found.value).startswith(f"{flow}:{line}: ")
    assert reason in str(found.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    topology, flow = files(tmp_path, topology="\n")
    with pytest.raises(ImportedError, match=r"topology.txt: needs a line of numbers"):
        read_hpcc(topology, flow)
    with pytest.raises(ImportedError, match=r"nowhere\.txt: cannot be read: No such file"):
        read_hpcc(tmp_path / "nowhere.txt", flow)
    topology.write_bytes(b"7 3 6\xff")
    with pytest.raises(ImportedError, match=r"topology.txt"):
        read_hpcc(topology, flow)
    topology, flow = files(tmp_path, flows="")
    with pytest.raises(ImportedError, match=r"flow.txt: needs the number of flows"):
        read_hpcc(topology, flow)


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    """Nobody may ever write to it."""
    topology, flow = files(tmp_path)
    topology.unlink()
    os.mkfifo(topology)
    with pytest.raises(ImportedError, match=r"topology\.txt: is no file"):
        read_hpcc(topology, flow)


def test_equal_flows_are_written_in_time_that_grows_with_their_number(tmp_path: Path) -> None:
    """The most that a file may have: comparing each with each took a minute."""
    flows = "0 2 3 100 9 0\n1 2 3 100 9 0\n" * (MAX_FLOWS // 2)
    imported = read_hpcc(*files(tmp_path, flows=f"{MAX_FLOWS}\n{flows}"))
    before = time.process_time()
    text = scenario_text(imported, "network.yaml")
    assert time.process_time() - before < 5
    assert text.count("from: [h0, h1]") == MAX_FLOWS // 2


def test_a_name_that_is_no_text_for_a_terminal_is_told_as_json_would(tmp_path: Path) -> None:
    files(tmp_path)
    name = tmp_path / "own\x1b[31m.yaml"
    arguments = [
        "hpcc",
        str(tmp_path / "topology.txt"),
        str(tmp_path / "flow.txt"),
        "-o",
        str(name),
    ]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0
    assert name.exists()
    assert "\x1b" not in done.output
    assert "own\\u001b[31m.yaml: 4 hosts" in done.output
    again = CliRunner().invoke(app, arguments)
    assert again.exit_code == 3
    assert "\x1b" not in again.output
    assert "is there already" in again.output


def test_what_cannot_be_run_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    """Two islands: the files are good, the network is not."""
    text = TOPOLOGY.replace("6 5 400Gbps 5us 0\n", "").replace("7 3 6", "7 3 5")
    imported = read_hpcc(*files(tmp_path, topology=text))
    with pytest.raises(Exception, match=r"cannot be run:\nown.yaml:.*no path from s4 to s5"):
        write_scenario(imported, tmp_path / "own.yaml")
    assert {each.name for each in tmp_path.iterdir()} == {"topology.txt", "flow.txt"}
