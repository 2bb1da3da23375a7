"""The scenario that the documentation writes from scratch, as it is there."""

import re
from pathlib import Path

import pytest

from fcn.lab.result.reaction import reactions
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import load_scenario

PAGE = Path(__file__).parents[3] / "docs" / "laboratory.md"


def test_the_documented_scenario_answers_as_documented(tmp_path: Path) -> None:
    blocks = re.findall(r"```yaml\n# (\S+)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert [name for name, _ in blocks] == ["pair.yaml", "first.yaml"]
    for name, text in blocks:
        (tmp_path / name).write_text(text)
    plan = load_scenario(tmp_path / "first.yaml")
    took = {}
    for mode in ("ecn", "fcn"):
        result = run_scenario(plan.using(mode=mode), until_ns=15_000_000)
        took[mode] = reactions(result)["reaction_ns"].astype("float64").median() / 1e6
    assert took == pytest.approx({"ecn": 3.50, "fcn": 0.50}, abs=0.006)
    flows = result.controller.loc[result.controller["what"] == "flows", "count"]
    assert flows.max() == 2 * len(result.connections) == 4
