"""The demo in both: what the laboratory's side says, and the table."""

import io

import pytest
from rich.console import Console

from fcn.bench.demo import NAMES, Figures, of_laboratory, table
from fcn.lab.modes import Mode
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import load_scenario
from fcn.topologies.model import NS_PER_MS

SERVICE_MS = 1.0
"""Of a packet at the demo's queue, which a marked packet needs to leave it."""


@pytest.mark.exhaustive
@pytest.mark.parametrize(("mode", "propagation_ms"), [("fcn", 3.0), ("ecn", 13.0)])
def test_the_laboratory_reacts_as_the_demo_does(mode: Mode, propagation_ms: float) -> None:
    """Whose propagation is 3 and 13 ms, on the way of the CNP that comes first."""
    plan = load_scenario("demo").using(mode=mode)
    found = of_laboratory(run_scenario(plan, until_ns=6000 * NS_PER_MS))
    assert found.congestions >= 1
    assert found.caused_by_pe == (found.congestions if mode == "fcn" else 0)
    assert propagation_ms <= found.reaction_ms <= propagation_ms + SERVICE_MS + 0.1
    assert (found.cnps_from_pe > 0) == (mode == "fcn")
    assert found.lost == 0


def test_the_table_has_a_column_for_each_run() -> None:
    figures = Figures(3.14, 3.5, 28, 28, 645, 630, 2080, 18.0, 7.3e6, 0)
    out = io.StringIO()
    Console(file=out, width=200).print(table({"real": figures, "virtual": figures}))
    text = out.getvalue()
    assert text.count("7,300,000") == text.count("3.1") == 2
    assert all(name.strip() in text for name in NAMES.values())
