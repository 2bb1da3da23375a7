"""The laboratory's benchmark counts what it says, and writes it."""

import json
import sys
from pathlib import Path

import pytest

from fcn.bench import laboratory, measuring
from fcn.bench.harness import LABORATORY
from fcn.bench.laboratory import RATE, TUNNEL, long_path
from fcn.lab.core import ETHERNET_OVERHEAD, Simulation
from fcn.lab.run.runner import run_scenario


@pytest.mark.exhaustive
def test_the_core_links_carry_the_load() -> None:
    """80 % of the rate, overhead included; every packet passes all switches."""
    with Simulation(1) as simulation:
        long_path(simulation, payload=1024, load=0.8, delay_ns=1_000)
        simulation.run_until(2_000_000)
        counters = simulation.links[1].counters(0)
        bits = (counters.put_octets + counters.put * ETHERNET_OVERHEAD) * 8
        assert bits / 0.002 == pytest.approx(0.8 * RATE, rel=0.03)
        frame = 14 + 20 + 8 + 12 + 1024 + 4
        assert counters.put_octets == counters.put * (frame + TUNNEL)
        assert simulation.hops == pytest.approx(4 * counters.put, rel=0.01)


def document_in(folder: Path) -> Path:
    copy = folder / LABORATORY.name
    copy.write_text(LABORATORY.read_text())
    return copy


@pytest.mark.exhaustive
def test_results_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results, document = tmp_path / "results.json", document_in(tmp_path)
    monkeypatch.setattr(laboratory, "PIECES", 2)
    options = ["--packets", "500", "--results", str(results), "--document", str(document)]
    monkeypatch.setattr(sys, "argv", ["laboratory", *options])
    laboratory.main()
    written = json.loads(results.read_text())
    assert len(written["results"]) == 6
    assert all(0 < each["median"] <= each["best"] for each in written["results"])
    assert written["machine"]["cores"]
    assert (
        laboratory.part_of(written["results"], written["machine"]["commit"]) in document.read_text()
    )


@pytest.mark.exhaustive
def test_what_measuring_costs_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A packet of the dumbbell passes four links and three switches."""
    results, document = tmp_path / "results.json", document_in(tmp_path)
    options = ["--pairs", "1", "--results", str(results), "--document", str(document)]
    monkeypatch.setattr(sys, "argv", ["measuring", *options, "dumbbell"])
    measuring.main()
    part = measuring.part_of(json.loads(results.read_text()))
    assert part.count("| dumbbell | 25 ms |") == 1
    assert part in document.read_text()
    plan, until = measuring.plan_of("dumbbell"), 25_000_000
    through, links = measuring.run(plan, until).hops, run_scenario(plan, until_ns=until).about.hops
    assert through == pytest.approx(0.75 * links, rel=0.05)
