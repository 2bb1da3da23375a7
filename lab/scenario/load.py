"""Reads scenarios, from files and from code."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from fcn.contract.depth import Depth, DepthError
from fcn.contract.targets import V1MODEL
from fcn.controller.config import Config
from fcn.controller.config.document import (
    DocumentError,
    KeyPath,
    model_problems,
    read_document,
    read_text,
    spell,
)
from fcn.controller.config.failures import FailureDetection
from fcn.controller.config.holding import Holding
from fcn.controller.config.load import EXAMPLE as CONFIGURATION
from fcn.controller.config.modes import Notification
from fcn.controller.config.queue_depths import queue_curves
from fcn.controller.config.two_threshold import TwoThreshold
from fcn.lab.errors import LabError
from fcn.lab.modes import Mode
from fcn.lab.scenario.check import (
    depths_in_buffers,
    problems,
    queue_pairs,
    thresholds_in_buffers,
)
from fcn.lab.scenario.configuration import configuration
from fcn.lab.scenario.jobs import Work, workload
from fcn.lab.scenario.model import Scenario
from fcn.lab.scenario.traffic import Traffic
from fcn.lab.scenario.wiring import Wiring
from fcn.topologies.catalog import CATALOG, NetworkError, described, description
from fcn.topologies.model import Topology

EXAMPLE = Path(__file__).parent / "example.yaml"
"""Explains every key."""

_SECTIONS: dict[str, type[BaseModel]] = {
    "failure_detection": FailureDetection,
    "holding": Holding,
    "two_threshold": TwoThreshold,
}
"""Sections of the controller's configuration that a scenario has for some modes."""

SCENARIOS = Path(__file__).parents[1] / "scenarios"


class ScenarioError(LabError):
    """A scenario that is impossible; the message has a line for each reason, with file and line."""


@dataclass(frozen=True)
class Plan:
    """A scenario that was checked: its name, its YAML, and the network it names, with its YAML
    where that is a file's and not of the catalog."""

    name: str
    text: str
    scenario: Scenario
    topology: Topology
    network_text: str = ""

    @cached_property
    def wiring(self) -> Wiring:
        """Its hosts and links."""
        return Wiring(self.scenario, self.topology)

    @property
    def traffic(self) -> Traffic:
        """Its connections, those of jobs too, and the messages of patterns."""
        return self._workload[0]

    @property
    def work(self) -> Work:
        """What its jobs do."""
        return self._workload[1]

    @cached_property
    def _workload(self) -> tuple[Traffic, Work]:
        return workload(self.wiring)

    @cached_property
    def config(self) -> Config:
        """What its controller is given."""
        return configuration(self.wiring)

    def using(self, *, mode: Mode | None = None, seed: int | None = None) -> "Plan":
        """The same scenario in another mode or with another seed, which are valid ones. Raises
        ScenarioError when what the scenario says does not fit the mode."""
        given = {"mode": mode, "seed": seed}
        changes = {key: value for key, value in given.items() if value is not None}
        changed = replace(self, scenario=self.scenario.model_copy(update=changes))
        if mode not in (None, self.scenario.mode):
            wiring = changed.wiring
            wrong = [*thresholds_in_buffers(wiring)] or [*_of_configuration(wiring)]
            if wrong:
                raise ScenarioError(
                    "\n".join(
                        f"{self.name} in mode {mode}: {spell(path)}: {message}"
                        for path, message in wrong
                    )
                )
        return changed


def catalog() -> dict[str, Path]:
    """The scenarios that come with the project, by name."""
    return {file.stem: file for file in sorted(SCENARIOS.glob("*.yaml"))}


def load_scenario(name: str | Path) -> Plan:
    """A scenario of the catalog, or the one in a YAML file. Raises ScenarioError."""
    file = catalog().get(str(name), Path(name))
    try:
        text = read_text(file)
    except OSError as error:
        raise ScenarioError(
            f"no scenario {name}: {error.strerror}; there are {', '.join(catalog())}, or name the "
            f"YAML file of one (see {EXAMPLE})"
        ) from None
    except DocumentError as error:
        raise ScenarioError(str(error)) from None
    return parse_scenario(text, file)


def make_scenario(
    scenario: Mapping[str, Any], name: str = "scenario", folder: Path | None = None
) -> Plan:
    """A scenario from plain data, as its file would say it. Networks that it names by a file are
    in `folder`, by default the current one. Raises ScenarioError."""
    text = yaml.safe_dump(dict(scenario), sort_keys=False)
    return parse_scenario(text, (folder or Path()) / name)


def parse_scenario(text: str, file: Path, network_text: str = "") -> Plan:
    """The scenario in `text`, which is or might be in `file`: networks it names by a file are
    beside it, unless `network_text` is what that file says. Raises ScenarioError with every problem
    found."""
    found: list[tuple[Topology, str]] = []

    def check(scenario: Scenario) -> Iterator[tuple[KeyPath, str]]:
        try:
            topology, described_by = _network(scenario, file.parent, network_text)
        except NetworkError as error:
            yield ("network",), str(error)
            return
        found.append((topology, described_by))
        wiring = Wiring(scenario, topology)
        wrong = [*_of_sections(scenario), *problems(wiring), *thresholds_in_buffers(wiring)]
        yield from wrong
        if not wrong:
            yield from queue_pairs(wiring)
            yield from _of_configuration(wiring)

    try:
        scenario = read_document(text, str(file), Scenario, EXAMPLE, check)
    except DocumentError as error:
        raise ScenarioError(str(error)) from None
    return Plan(file.stem, text, scenario, *found[0])


def _network(scenario: Scenario, folder: Path, text: str) -> tuple[Topology, str]:
    """The network, and its YAML where it is not of the catalog."""
    name = scenario.network
    if name not in CATALOG:
        name = str(folder / name)
        text = text or description(name)
        return described(text, name, scenario.hosts_per_data_centre), text
    return described(description(name), name, scenario.hosts_per_data_centre), ""


def _of_sections(scenario: Scenario) -> Iterator[tuple[KeyPath, str]]:
    """What is wrong with sections of the configuration in any mode, as a run may choose its own."""
    for key, section in _SECTIONS.items():
        try:
            section.model_validate(getattr(scenario.controller, key))
        except ValidationError as error:
            for path, message in model_problems(error, CONFIGURATION):
                yield ("controller", key, *path), message


def _of_configuration(wiring: Wiring) -> Iterator[tuple[KeyPath, str]]:
    try:
        config = configuration(wiring)
    except DocumentError as error:
        for problem in error.problems:
            what = problem.where or "this network's configuration"
            reason = f"the controller refuses {what}: {problem.message}"
            section = problem.where.partition(".")[0]
            given = section in _SECTIONS and getattr(wiring.scenario.controller, section)
            yield ("controller", section if given else "configuration"), reason
        return
    yield from depths_in_buffers(wiring, config)
    for number, event in enumerate(wiring.scenario.events):
        if event.thresholds is not None:
            path: KeyPath = ("events", number, "thresholds", "depths")
            for reason in _of_depths(config, event.thresholds.depths):
                yield path, reason


def _of_depths(config: Config, depths: tuple[Depth, ...]) -> Iterator[str]:
    """Why a queue of the laboratory's switches cannot be given these depths."""
    try:
        if config.notification is Notification.TWO_THRESHOLD:
            queue_curves(config, V1MODEL, depths)
        else:
            V1MODEL.depth.thresholds(depths, config.congestion.packet_size)
    except DepthError as error:
        yield str(error)
