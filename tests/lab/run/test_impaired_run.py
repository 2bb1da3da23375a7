"""Scenarios whose links have jitter and bit errors."""

import pytest
from small import small

from fcn.lab.result import analysis
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import ScenarioError


def with_links(core: dict[str, object], only: dict[str, object]) -> dict[str, object]:
    hosts = {"rate": "100 Gb/s", "delay": "500ns", "buffer": 4000}
    plain = {"rate": "400 Gb/s", "delay": "10 km", "buffer": 4000}
    return {"core": plain | core, "hosts": hosts, "only": [{"between": ["p2", "pe2"]} | only]}


def test_a_scenario_says_which_links_have_them() -> None:
    """`only` is before the defaults; a result says what was lost why."""
    links = with_links({"bit_errors": "1e-7", "jitter": "1us"}, {"bit_errors": 0})
    result = run_scenario(small(links=links))
    lost = analysis.drops(result).query("reason == 'bit errors'")
    assert set(lost["place"].str.extract(r"^(\w+):\d+ to (\w+):")[0]) <= {"pe1", "p1", "p2"}
    assert not lost.empty
    assert lost["lost"].all()
    assert not lost["place"].str.contains("pe2").any()


@pytest.mark.parametrize("errors", [0.5, -1e-9, 1e-30, "many"])
def test_a_scenario_with_an_impossible_share_is_refused(errors: object) -> None:
    with pytest.raises(ScenarioError, match="bit_errors"):
        small(links=with_links({"bit_errors": errors}, {}))
