"""The grids of the incast, and its scenario: `python -m fcn.bench.findings.cases` writes that.

Everything is to the round trip and to the bandwidth-delay product (BDP), so that distances, rates
and buffers are compared with hosts and switches set alike: times of DCQCN and notifications as in
the scenarios `modes-100-km` and `modes-1000-km`, depths in packets of PACKET octets.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from fcn.bench.findings.numbers import GRIDS_FOLDER

MODES = (
    "none", "ecn", "fcn", "end-con", "two-threshold", "fantel", "service", "flow", "priority",
)  # fmt: skip
INCAST = GRIDS_FOLDER.resolve() / "incast.yaml"
SOME = ("none", "ecn", "fcn", "service")
BUFFERS = (0.1, 0.3, 1, 3, 10)
AMPLE = 8
"""BDPs that nothing fills."""

ROUND_TRIP_NS_PER_KM = 10_000
PACKET = 4200
SENDERS, OVERLOAD = 8, 2
ROUND_TRIPS = 22
"""Of a run."""

LEVELS = (0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28)
"""Where they begin, in BDPs."""

INTERVALS = (1.25, 1, 0.625, 0.5, 0.375, 0.25, 0.125)
"""Between notifications of a flow at each, in round trips."""

HEAD = """# 8 hosts send 3 BDPs to one, three times, into a queue that serves half of it.
# Another host sends messages of Facebook's Hadoop cluster through that queue, a tenth of
# its rate.
# Written by bench/findings/cases.py.
"""

SELECTIVE = {"hosts.retransmission": "selective-repeat"}

CONTROLS = ("timely", "swift")
PLACES: Mapping[str, tuple[int, float, int]] = {
    "100 km": (100, AMPLE, 100), "0.1 BDP": (1000, 0.1, 25), "1 BDP": (1000, 1, 25),
}  # fmt: skip
"""Of `senders`: distance in km, buffer in BDPs, rate in Gb/s."""

DELAY_RISE = 0.005
"""Of the host's rate in a round trip, by either of CONTROLS; DCQCN has 1.25 % in 2.5 of them."""


def case(km: int, bdps: float, rate: int = 100) -> dict[str, Any]:
    """Values of keys of the scenario. bdps: the buffer; rate: of the congested link, in Gb/s."""
    trip = km * ROUND_TRIP_NS_PER_KM
    bdp = rate * trip / 8
    packets = bdp / PACKET
    room = int(bdps * bdp / PACKET)
    # What the queue serves in the round trip to the neighbour that holds: released at that depth,
    # it does not run dry. Smaller buffers have no room for it.
    served = int(packets / 2)
    hold_at = max(4, min(int(1.2 * served), int(room * 0.36)))
    release_at = max(2, min(served, int(hold_at * 0.95)))
    host = rate * OVERLOAD / SENDERS
    share = rate * 1e9 / 8 / PACKET / SENDERS
    curve = ((0.02, 0.05), (0.16, 0.25), (0.64, 0.75))
    return {
        "duration": _time(ROUND_TRIPS * trip),
        "links.core.buffer": _size(bdps * bdp),
        "links.hosts.rate": f"{host:g} Gb/s",
        "links.only": [
            {"between": ["pe1", "p1"], "delay": f"{km / 100:g} km", "rate": f"{4 * rate} Gb/s"},
            {"between": ["p1", "p2"], "delay": f"{km * 0.49:g} km", "rate": f"{4 * rate} Gb/s"},
            {"between": ["p2", "pe2"], "delay": f"{km * 0.5:g} km", "rate": f"{rate} Gb/s"},
            {"between": ["r1", "pe2"], "rate": f"{4 * rate} Gb/s"},
        ],
        "hosts.timeout": _time(max(4e6, 5 * trip)),
        "hosts.cnp_interval": _time(1.25 * trip),
        "hosts.dcqcn": {
            "g": 0.0625,
            "line_rate": f"{host:g} Gb/s",
            "min_rate": f"{host * 20:g} Mb/s",
            "additive_increase": f"{host * 12.5:g} Mb/s",
            "hyper_increase": f"{host * 62.5:g} Mb/s",
            "alpha_period": _time(1.25 * trip),
            "increase_period": _time(2.5 * trip),
            "byte_counter": "100GB",
            "cut_interval": _time(1.25 * trip),
        },
        "controller.thresholds": [round(packets * each) for each in LEVELS],
        "controller.intervals": [_time(each * trip) for each in INTERVALS],
        "controller.two_threshold": {
            "depths": [round(min(packets * most, room * part)) for most, part in curve],
            "light_interval": _time(1.25 * trip),
            "heavy_interval": _time(0.25 * trip),
            "treatment": "slow",
            "rate": {"rate": round(share), "burst": max(16, round(4 * trip * 1e-9 * share))},
            "hold": _time(2.5 * trip),
            "round_trip": _time(trip),
        },
        # 1 ms is the least.
        "controller.failure_detection": {
            "interval": "1ms", "multiplier": 3, "relief": _time(max(1e6, trip)),
        },
        "controller.holding": {
            "hold_at": hold_at,
            "release_at": release_at,
            "time": _time(trip),
            "repeat": _time(trip / 4),
            "longest": _time(max(1e6, 4 * trip)),
            "packets": max(256, min(1_000_000, int(1.3 * served))),
            "octets": "4GB",
            "drain_below": 256,
            "relief_repeat": "100us",
        },
        "traffic.0.size": _size(3 * bdp / SENDERS),
        "traffic.0.interval": _time(6 * trip),
        "measure.interval": _time(trip / 20),
    }  # fmt: skip


def by_delay(control: str, km: int, bdps: float, rate: int) -> dict[str, Any]:
    """The same with hosts that go by round trips: up to a tenth of a round trip in the queue."""
    trip = km * ROUND_TRIP_NS_PER_KM
    host = rate * OVERLOAD / SENDERS
    window = host * trip / 8 / PACKET
    asking = window / 32  # packets that ask for an ACK, in a round trip
    return {
        **case(km, bdps, rate),
        "hosts.control": control,
        "hosts.timely": {
            "low": _time(1.05 * trip),
            "high": _time(1.5 * trip),
            "least_rtt": _time(trip),
            "additive_increase": f"{host * 1000 * DELAY_RISE / asking:g} Mb/s",
        },
        "hosts.swift": {
            "window_increase": round(window * DELAY_RISE, 3),
            "most_window": round(window * 2, 1),
            "base_target": _time(1.1 * trip),
            "scaling": "0us",
        },
    }


def with_holds(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same where neighbours hold, in any mode."""
    both = {"flow_control": "service", "holding": values["controller.holding"]}
    return {**values, "controller.configuration": both}


def scenario() -> dict[str, Any]:
    """The incast over 1000 km at 25 Gb/s, the buffer one BDP."""
    found: dict[str, Any] = {
        "title": "8 hosts send to one at the same times, behind other traffic",
        "network": "wan.yaml",
        "duration": "1ms",
        "links": {
            "core": {"rate": "400 Gb/s"},
            # Hosts heed PAUSE frames of their PE, which has none of its own to send.
            "hosts": {
                "delay": "500ns",
                "buffer": "128MB",
                "pfc": {"priorities": [3], "xoff": "60MB", "xon": "30MB"},
            },
        },
        "hosts": {"mtu": 4096},
        "controller": {},
        "traffic": [
            {"pattern": "incast", "from": ["h[1-8]"], "to": ["r1"], "size": "1MB", "count": 3},
            {"pattern": "poisson", "from": ["b1"], "to": ["r2"], "load": 0.4,
             "distribution": "hadoop", "qps": 8},
        ],
        "measure": {"crossings": [["p2", "pe2"]]},
    }  # fmt: skip
    for key, value in case(1000, 1, 25).items():
        *parents, last = key.split(".")
        here: Any = found
        for part in parents:
            here = here[int(part)] if isinstance(here, list) else here.setdefault(part, {})
        here[last] = value
    return found


def incast() -> str:
    """The text of its file."""
    return HEAD + _yaml(scenario())


def grids() -> dict[str, dict[str, Any]]:
    """Each by its name: which buffer each mode needs at which distance, with one that nothing
    fills; buffers from a tenth of the BDP to ten, at 25 Gb/s over 1000 km; the same where
    neighbours hold tunnels besides; other rates over 100 km."""
    slow = {f"{bdps:g} BDP": case(1000, bdps, 25) for bdps in BUFFERS}
    return {
        "distance": _grid(MODES, {f"{km} km": case(km, AMPLE) for km in (10, 100)}, seeds=3),
        "far": _grid(MODES, {"1000 km": case(1000, AMPLE)}),
        "buffer": _grid(MODES, slow),
        "rate": _grid(SOME, {f"{rate} Gb/s": case(100, AMPLE, rate) for rate in (10, 400)}),
        "senders": _grid(
            ("none",),
            {
                f"{control}, {place}": by_delay(control, *where)
                for control in CONTROLS
                for place, where in PLACES.items()
            },
        ),
        "selective": _grid(
            MODES,
            {f"{bdps:g} BDP": case(1000, bdps, 25) | SELECTIVE for bdps in (0.1, 1)},
        ),
        "pairs": _grid(("fcn", "fantel"), {name: with_holds(it) for name, it in slow.items()}),
    }


def grid_file(name: str, folder: Path) -> Path:
    """The file of a grid; one that is made by this rule is written to the folder."""
    made = grids()
    if name not in made:
        return GRIDS_FOLDER / f"{name}.yaml"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.yaml"
    file.write_text(_yaml(made[name]))
    return file


def _grid(modes: Sequence[str], cases: dict[str, Any], seeds: int = 1) -> dict[str, Any]:
    return {"scenarios": [str(INCAST)], "modes": list(modes), "seeds": seeds, "cases": cases}


def _yaml(content: object) -> str:
    class Plain(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401 - whatever is written
            return True

    return yaml.dump(content, Dumper=Plain, sort_keys=False, default_flow_style=None, width=1000)


def _time(ns: float) -> str:
    return f"{max(1, round(ns / 1000))}us"


def _size(octets: float) -> str:
    return f"{round(octets / 1000)}kB"


if __name__ == "__main__":
    INCAST.write_text(incast())
