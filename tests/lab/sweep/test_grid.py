"""Grid files: what they may say, and what is wrong with impossible ones, by line."""

import time
from pathlib import Path

import pytest
from sweep_grids import GRID, sweep

from fcn.controller.config import Config, parse_config
from fcn.lab.cli.sweep import Planning
from fcn.lab.scenario import configuration
from fcn.lab.sweep.grid import EXAMPLE, GridError, keys_of, load_grid


def test_every_combination_is_a_run_in_the_order_of_the_file(tmp_path: Path) -> None:
    found = sweep(tmp_path)
    runs = [
        (p.plan.name, p.plan.scenario.mode, p.parameters["hosts.mtu"], p.plan.scenario.seed)
        for p in found.points
    ]
    assert runs == [
        ("tiny", mode, mtu, seed)
        for mtu in (1024, 4096)
        for mode in ("ecn", "none")
        for seed in (1, 2)
    ]
    assert {p.plan.scenario.hosts.mtu for p in found.points} == {1024, 4096}
    assert len({p.identity for p in found.points}) == 8


def test_a_run_is_the_same_in_a_larger_grid(tmp_path: Path) -> None:
    """What is there already is not run again where the grid grows."""
    before = {p.identity for p in sweep(tmp_path).points}
    larger = GRID.replace("seeds: 2", "seeds: [3, 2, 1]").replace(
        "[1024, 4096]", "[512, 4096, 1024]"
    )
    assert before < {p.identity for p in sweep(tmp_path, larger).points}
    assert not before & {p.identity for p in sweep(tmp_path, GRID + "until: 100us\n").points}


def test_values_of_a_case_belong_together(tmp_path: Path) -> None:
    cases = "cases: {short: {duration: 200us, hosts.window: 8}, long: {duration: 400us}}\n"
    found = sweep(tmp_path, GRID + cases)
    runs = {
        (p.parameters["case"], p.plan.scenario.duration, p.plan.scenario.hosts.window == 8)
        for p in found.points
    }
    assert runs == {("short", 200_000, True), ("long", 400_000, False)}
    assert len({p.identity for p in found.points}) == 16
    assert keys_of(found) == ["scenario", "mode", "case", "hosts.mtu"]


def test_a_case_may_be_called_nothing(tmp_path: Path) -> None:
    found = sweep(tmp_path, GRID + "cases: {'': {hosts.window: 8}, more: {hosts.window: 16}}\n")
    assert [p.parameters["case"] for p in found.points] == [""] * 8 + ["more"] * 8


def test_cases_that_are_the_same_run_once(tmp_path: Path) -> None:
    """Of one that repeats what the scenario says, there is no telling before."""
    cases = "cases: {base: {}, same: {duration: 300us}, more: {duration: 400us}}\n"
    found = sweep(tmp_path, GRID + cases)
    assert (len(found.points), len(found.distinct)) == (24, 16)
    assert {p.identity for p in found.distinct} == {p.identity for p in found.points}


def test_the_example_is_valid() -> None:
    found = load_grid(EXAMPLE)
    assert len(found.points) == 2 * 3 * 2 * 5 * 2
    assert {p.plan.scenario.hosts.dcqcn.profile for p in found.points} == {
        "sigcomm2015", "nic", "hpcc-ns3",
    }  # fmt: skip
    assert {p.plan.scenario.traffic[0].count for p in found.points} == {10, 20}


def test_a_configuration_is_checked_once_for_all_runs_that_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes most of the time, and follows from few of the values."""
    parsed: list[str] = []

    def parse(text: str, file: str) -> Config:
        parsed.append(text)
        return parse_config(text, file)

    configuration.checked.cache_clear()
    monkeypatch.setattr(configuration, "parse_config", parse)
    sweep(tmp_path)
    assert len(parsed) == 3, "one of each mode, and of the scenario's"
    sweep(tmp_path, GRID + "  controller.cnp_interval: [50us, 60us]\n")
    assert len(parsed) == 6
    sweep(tmp_path, GRID + "  links.core.rate: [10 Gb/s, 11 Gb/s]\n")
    assert len(parsed) == len(set(parsed)) == 9


def test_what_a_configuration_has_wrong_with_one_value_is_found(tmp_path: Path) -> None:
    bad = "  controller.two_threshold.hold: [10ms, 1ms]\n"
    with pytest.raises(GridError) as found:
        sweep(tmp_path, GRID.replace("[ecn, none]", "[ecn, two-threshold]") + bad)
    told = str(found.value).splitlines()
    assert len(told) == 1
    assert told[0].startswith(f"{tmp_path / 'grid.yaml'}:6: ")
    assert "two_threshold.hold 1ms: tiny in mode two-threshold: " in told[0]


def test_planning_says_how_far_it_is(tmp_path: Path) -> None:
    sweep(tmp_path)
    told: list[tuple[int, int]] = []
    load_grid(tmp_path / "grid.yaml", lambda *now: told.append(now))
    assert told == [(4, 8), (8, 8)]


def test_the_command_says_it_once_a_second(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = iter((0.0, 0.9, 1.1, 1.1, 2.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(times))
    planning = Planning("grid")
    for planned in (4, 8, 12):
        planning.show(planned, 12)
    assert capsys.readouterr().err == "grid: 8 of 12 runs are planned\n"


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("scenarios: [tiny.yaml]", "scenario: [tiny.yaml]", 1, "scenarios: is missing"),
        ("scenarios: [tiny.yaml]", "scenarios: [nowhere.yaml]", 1, "nowhere.yaml: [Errno 2]"),
        (
            "scenarios: [tiny.yaml]",
            "scenarios: [grid.yaml]",
            1,
            "grid.yaml, hosts.mtu 1024: network: is missing",
        ),
        ("[ecn, none]", "[ecn, red]", 2, "modes[1]"),
        ("[ecn, none]", "[ecn, ecn]", 2, "ecn: given twice"),
        ("seeds: 2", "seeds: 0", 3, "seeds"),
        ("seeds: 2", "seeds: [1, -1]", 3, "seeds[1]"),
        ("seeds: 2", "seeds: 50000", 1, "200000 runs, of at most 100000"),
        ("seeds: 2", "seeds: 2\nuntil: soon", 4, "write 10us, 2.5 ms or 1s"),
        ("hosts.mtu: [1024, 4096]", "hosts.mtu: []", 5, "parameters.hosts.mtu"),
        ("hosts.mtu: [1024, 4096]", "hosts.mtu: [4096, 4097]", 5, "tiny.yaml, hosts.mtu 4097: "),
        (
            "modes: [ecn, none]\nseeds: 2\nparameters:\n  hosts.mtu: [1024, 4096]",
            "modes: [fcn]\nparameters:\n  hosts.mtu: [1024]\n  links.core.buffer: [5 packets]",
            5,
            "hosts.mtu 1024, links.core.buffer 5 packets: controller.thresholds: congestion begins",
        ),
        ("hosts.mtu: [1024, 4096]", "hosts.mtu.is: [1]", 5, "hosts.mtu"),
        ("hosts.mtu: [1024, 4096]", "hosts.dcqcn.gg: [0.5]", 5, "hosts.dcqcn.gg: unknown key"),
        ("hosts.mtu: [1024, 4096]", "traffic.1.load: [0.5]", 5, "1 is none of the 1 items there"),
        ("hosts.mtu: [1024, 4096]", "duration.of: [1ms]", 5, "of is in nothing that has keys"),
        ("hosts.mtu: [1024, 4096]", "mode: [ecn]", 5, "give modes instead"),
        ("hosts.mtu: [1024, 4096]", "error: [1]", 5, "has a column error already"),
        ("hosts.mtu: [1024, 4096]", "measure: [{}]", 5, "has a column measure already"),
        (
            "hosts.mtu: [1024, 4096]",
            "hosts.mtu: [512]\n  hosts: [{}]",
            6,
            "hosts.mtu is a part of it",
        ),
        (
            "seeds: 2",
            "seeds: 2\ncases:\n  a: {hosts: {window: 8}}",
            5,
            "hosts.mtu is a part of hosts",
        ),
        ("hosts.mtu: [1024, 4096]", "case: [1]", 5, "has a column case already"),
        ("seeds: 2", "seeds: 2\ncases:\n  a: {duration.of: 1ms}", 5, "of is in nothing"),
        ("seeds: 2", "seeds: 2\ncases:\n  a: {hosts.mtu: 256}", 5, "hosts.mtu is a parameter, "),
        ("seeds: 2", "seeds: 2\ncases:\n  a: {seed: 7}", 5, "seed: give seeds instead"),
        ("hosts.mtu: [1024, 4096]", "hosts.dcqcn.initial_alpha: [1, 1.0]", 5, "1.0: given twice"),
    ],
)
def test_an_impossible_grid_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, reason: str
) -> None:
    assert old in GRID
    with pytest.raises(GridError) as found:
        sweep(tmp_path, GRID.replace(old, new))
    first = str(found.value).splitlines()[0]
    assert first.startswith(f"{tmp_path / 'grid.yaml'}:{line}: ")
    assert reason in str(found.value)


def test_a_grid_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GridError, match="No such file"):
        load_grid(tmp_path / "none.yaml")
