"""The laboratory's benchmark counts what it says, and writes it."""

import json
import sys
from pathlib import Path

import pytest

from fcn.bench import laboratory
from fcn.bench.laboratory_network import RATE, TUNNEL, long_path
from fcn.lab.core import ETHERNET_OVERHEAD, Simulation


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


def test_results_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = tmp_path / "results.json"
    monkeypatch.setattr(laboratory, "PIECES", 2)
    monkeypatch.setattr(sys, "argv", ["laboratory", "--packets", "500", "--results", str(results)])
    laboratory.main()
    written = json.loads(results.read_text())
    assert len(written["results"]) == 6
    assert all(0 < each["median"] <= each["best"] for each in written["results"])
    assert written["machine"]["cores"]
