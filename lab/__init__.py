"""Networks in virtual time: scenarios are loaded or made, run, and their results looked at.

What is named here is imported when it is used: the simulation alone (`fcn.lab.core`) needs none of
the packages that results do.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fcn.lab.result.folder import load as load_result
    from fcn.lab.result.folder import save as save_result
    from fcn.lab.result.model import Result
    from fcn.lab.run.runner import Progress, run_scenario
    from fcn.lab.scenario.load import Plan, ScenarioError, load_scenario, make_scenario

__all__ = [
    "Plan",
    "Progress",
    "Result",
    "ScenarioError",
    "load_result",
    "load_scenario",
    "make_scenario",
    "run_scenario",
    "save_result",
]

_HOMES = {
    "Plan": ("scenario.load", "Plan"),
    "Progress": ("run.runner", "Progress"),
    "Result": ("result.model", "Result"),
    "ScenarioError": ("scenario.load", "ScenarioError"),
    "load_result": ("result.folder", "load"),
    "load_scenario": ("scenario.load", "load_scenario"),
    "make_scenario": ("scenario.load", "make_scenario"),
    "run_scenario": ("run.runner", "run_scenario"),
    "save_result": ("result.folder", "save"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _HOMES[name]
    return getattr(import_module(f"{__name__}.{module}"), attribute)
