"""A scenario that takes a second: two hosts a side, 3 ms. Run as a program it prints the digest of
the run and one of all its tables."""

import hashlib
import sys
from io import BytesIO
from typing import Any

import pandas as pd

from fcn.lab.result.folder import write_csv
from fcn.lab.result.model import Result
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import Plan, make_scenario

HOLDING = {
    "hold_at": 60,
    "release_at": 20,
    "time": "1ms",
    "repeat": "400us",
    "packets": 20_000,
    "octets": "100MB",
}
"""For queues of some hundred packets."""


def small(**changes: Any) -> Plan:  # noqa: ANN401 - whatever YAML holds
    """Two hosts, of which the second starts after 1 ms, share 100 Gb/s for 3 ms."""
    data: dict[str, Any] = {
        "network": "wan",
        "duration": "3ms",
        "seed": 5,
        "links": {
            "core": {"rate": "400 Gb/s", "buffer": 4000},
            "hosts": {"rate": "100 Gb/s", "delay": "500ns", "buffer": 4000},
            "only": [
                {"between": ["pe1", "p1"], "delay": "10 km"},
                {"between": ["p1", "p2"], "delay": "20 km"},
                {"between": ["p2", "pe2"], "delay": "50 km", "rate": "80 Gb/s"},
            ],
        },
        "hosts": {"mtu": 4096},
        "traffic": [
            {"pattern": "messages", "from": ["h1"], "to": ["h3"], "size": "2MB", "count": 20},
            {
                "pattern": "poisson", "from": ["h2"], "to": ["pe2"], "load": 0.4,
                "sizes": [["20kB", 0.9], ["400kB", 0.1]], "start": "1ms",
            },
        ],
        "measure": {"interval": "50us"},
    }  # fmt: skip
    return make_scenario({**data, **changes}, "small")


def total(result: Result, name: str) -> dict[str, int]:
    """The last value of a counter, by node."""
    counters = result.counters[result.counters["name"] == name]
    return {
        str(node): int(value) for node, value in counters.groupby("node")["value"].max().items()
    }


def signature(result: Result) -> tuple[str, str]:
    """The digest of a run, and one of the octets of all its tables."""
    octets = b"".join(octets_of(table) for table in result.tables().values())
    return result.about.digest, hashlib.sha256(octets).hexdigest()


def octets_of(table: pd.DataFrame) -> bytes:
    """Those of the table's file."""
    file = BytesIO()
    write_csv(table, file)
    return file.getvalue()


if __name__ == "__main__":
    plan = small()
    print(*signature(run_scenario(plan.using(seed=int(sys.argv[1])))))
