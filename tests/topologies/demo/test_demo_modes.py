"""Which modes there are, and how they are chosen."""

from pathlib import Path
from typing import get_args

import pytest
import typer
from typer.testing import CliRunner

from fcn.controller.config import parse_config
from fcn.lab.modes import FLOW_CONTROL
from fcn.lab.modes import Mode as LaboratoryMode
from fcn.topologies.controller_config import controller_yaml, packets_held
from fcn.topologies.demo.__main__ import main
from fcn.topologies.demo.modes import DEFAULT_MODES, MODES, Mode, modes_named
from fcn.topologies.demo.scenario import demo_scenario

THERE_ARE = f"there are {', '.join(MODES)}"


def test_modes_are_taken_once_in_their_order() -> None:
    assert [mode.name for mode in modes_named(["fcn", "none", "fcn"])] == ["fcn", "none"]


def test_other_names_are_refused_and_those_there_are_named() -> None:
    with pytest.raises(ValueError, match=f"no mode fnc, ECN; {THERE_ARE}"):
        modes_named(["fcn", "fnc", "ECN"])
    with pytest.raises(ValueError, match=THERE_ARE):
        modes_named([])


def test_the_command_names_them_before_it_starts_anything(tmp_path: Path) -> None:
    out = tmp_path / "out"
    app = typer.Typer()
    app.command()(main)
    done = CliRunner(env={"COLUMNS": "400"}).invoke(app, ["--mode", "fnc", "--out", str(out)])
    assert done.exit_code == 2, done.output
    assert f"no mode fnc; {THERE_ARE}" in done.output
    assert not out.exists()


@pytest.mark.parametrize("mode", MODES.values(), ids=list(MODES))
def test_the_controller_accepts_the_configuration_of_every_mode(mode: Mode) -> None:
    scenario = demo_scenario(8.0)
    config = parse_config(controller_yaml(scenario.topology, scenario.settings(mode)))
    assert all(level.mark == mode.marks for level in config.congestion.levels.values())


def test_every_mode_is_one_of_the_laboratory() -> None:
    assert set(MODES) == set(get_args(LaboratoryMode))


@pytest.mark.parametrize("name", FLOW_CONTROL)
def test_modes_of_flow_control_hold_and_tell_no_sender(name: str) -> None:
    scenario, mode = demo_scenario(8.0), MODES[name]
    config = parse_config(controller_yaml(scenario.topology, scenario.settings(mode)))
    assert config.flow_control is FLOW_CONTROL[name]
    assert mode.told_by is None
    assert packets_held(scenario.settings(mode)) == config.holding.packets > 0
    bottleneck = scenario.topology.queues[0].depth
    assert 2 * config.holding.packets + config.holding.hold_at.amount <= bottleneck


def test_other_modes_hold_nothing() -> None:
    scenario = demo_scenario(8.0)
    held = [mode.name for mode in MODES.values() if packets_held(scenario.settings(mode))]
    assert held == list(FLOW_CONTROL)


def test_the_default_needs_one_network() -> None:
    """So that it is quick."""
    settings = [demo_scenario(8.0).settings(mode) for mode in modes_named(DEFAULT_MODES)]
    assert settings[0] == settings[1]
    assert settings[0] != demo_scenario(8.0).settings(MODES["none"])
