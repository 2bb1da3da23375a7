"""htsim's connection matrices as scenarios; malformed ones by file, line and reason."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fcn.lab.cli.main import app
from fcn.lab.imports.htsim import LeafSpine, read_htsim
from fcn.lab.imports.lines import ImportedError
from fcn.lab.imports.write import write_scenario

MATRIX = """\
# five of six
Nodes 6
Connections 3
0->5 id 1 start 0 size 2000000
5->0 start 1500000.000 size 1 prio 3
4->1 id 3 start 2500 size 64
"""


def matrix(folder: Path, text: str = MATRIX) -> Path:
    """The file."""
    file = folder / "own.cm"
    file.write_text(text)
    return file


def test_a_matrix_becomes_a_scenario_with_leaves_and_spines(tmp_path: Path) -> None:
    shape = LeafSpine(leaf=2, spines=2, rate_bps=25 * 10**9, delay_ns=500)
    plan = write_scenario(read_htsim(matrix(tmp_path), shape), tmp_path / "own.yaml")
    assert [host.site for host in plan.wiring.hosts.values()] == [
        "leaf0", "leaf0", "leaf1", "leaf1", "leaf2", "leaf2",
    ]  # fmt: skip
    core = [wire for wire in plan.wiring.wires if wire.kind == "core"]
    assert len(core) == 3 * 2
    assert {(wire.rate_bps, wire.delay_ns) for wire in core} == {(25 * 10**9, 500)}
    sent = [(each.size, each.start_ns) for each in plan.traffic.sends]
    assert sent == [(2_000_000, 0), (64, 2), (1, 1500)]


def test_priorities_are_named_as_left_out(tmp_path: Path) -> None:
    for text, notes in ((MATRIX, 2), (MATRIX.replace(" prio 3", ""), 1)):
        found = read_htsim(matrix(tmp_path, text), LeafSpine()).notes
        assert len(found) == notes
        assert ("prio of connections is not imported" in found[-1]) == (notes == 2)


def test_names_of_files_stay_names(tmp_path: Path) -> None:
    """Whatever characters they have."""
    file = tmp_path / "a: 'b' #\nmode: none.cm"
    file.write_text(MATRIX)
    plan = write_scenario(read_htsim(file, LeafSpine()), tmp_path / "o: #.yaml")
    assert plan.scenario.title == f"{file.name} of htsim"
    assert plan.scenario.network == "o: #-network.yaml"
    assert plan.scenario.mode == "ecn"


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("Nodes 6", "Nodes many", 2, "Nodes 'many' is no number"),
        ("Nodes 6", "Nodes 6 7", 2, "'7' is not expected there"),
        ("Nodes 6", "Nodes 5\nNodes 6", 3, "Nodes is given twice"),
        ("Nodes 6\n", "\n", 4, "Nodes, their number, stands before the connections"),
        ("Connections 3", "Connections", 3, "Connections is missing"),
        ("Connections 3", "Triggers 1", 3, "triggers and failures are not imported"),
        ("Connections 3", "Knots 3", 3, "neither a connection"),
        ("0->5", "0->6", 4, "node 6 is no number from 0 to 5"),
        ("0->5", "0->", 4, "node '' is no number"),
        ("0->5", "5->5", 4, "node 5 cannot send to itself"),
        ("start 0 size 2000000", "size 2000000", 4, "start is missing"),
        ("start 0 size 2000000", "start 0", 4, "size is missing"),
        ("start 0 size 2000000", "start 0 size 9 start 7", 4, "start is given twice"),
        ("start 0 size 2000000", "start 0 size 0", 4, "a flow of size 0 has no end"),
        ("start 0 size", "trigger 1 size", 4, "triggers are not imported"),
        ("prio 3", "prio", 5, "prio is missing"),
        ("prio 3", "colour 3", 5, "colour is none of id, start, size and prio"),
        ("size 64\n", "size 64\nNodes 7\n", 7, "Nodes stands before the connections"),
    ],
)
def test_a_malformed_matrix_is_refused(
    tmp_path: Path, old: str, new: str, line: int, reason: str
) -> None:
    assert old in MATRIX
    file = matrix(tmp_path, MATRIX.replace(old, new))
    with pytest.raises(ImportedError) as found:
        read_htsim(file, LeafSpine())
    assert str(found.value).startswith(f"{file}:{line}: ")
    assert reason in str(found.value)


def test_as_many_connections_as_announced(tmp_path: Path) -> None:
    with pytest.raises(ImportedError, match="4 connections are announced, not 3"):
        read_htsim(matrix(tmp_path, MATRIX.replace("Connections 3", "Connections 4")), LeafSpine())
    with pytest.raises(ImportedError, match="has no connections"):
        read_htsim(matrix(tmp_path, "Nodes 6\n"), LeafSpine())


def test_the_command_says_what_it_wrote_and_what_is_wrong(tmp_path: Path) -> None:
    file, out = matrix(tmp_path), tmp_path / "out.yaml"
    run = CliRunner(env={"COLUMNS": "200"})
    done = run.invoke(app, ["import", "htsim", str(file), "-o", str(out), "--leaf", "3"])
    assert done.exit_code == 0, done.output
    assert "6 hosts, 6 switches, 3 flows" in done.output
    assert "the network is not of the file" in done.output
    again = run.invoke(app, ["import", "htsim", str(file), "-o", str(out)])
    assert again.exit_code == 3
    assert "is there already" in again.output
    wrong = run.invoke(app, ["import", "htsim", str(file), "--rate", "fast"])
    assert wrong.exit_code == 2
    malformed = run.invoke(app, ["import", "hpcc", str(file), str(file)])
    assert malformed.exit_code == 3
    assert "own.cm:1: " in malformed.output
