"""Three short runs whose results are committed: they must be the same on every machine.

Together they use what could differ between machines: random times and sizes, DCQCN's floating
point, meters, loss with go-back-N and time-outs, flow control, IPv4 and IPv6, and the programs as
this machine's compiler and processor run them. Only what hosts see is compared, so a change of
the programs or of the controller that changes nothing for hosts does not change these digests.

    .venv/bin/python tests/lab/run/everywhere.py

writes everywhere.json anew. Do so when programs, engine, hosts or controller changed on purpose
what hosts see, on one machine, and say why in the commit; never because two machines disagree.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from small import octets_of, small

from fcn.lab.result.model import Result
from fcn.lab.result.tables import TableName
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import Plan

COMMITTED = Path(__file__).with_suffix(".json")

SEEN_BY_HOSTS: tuple[TableName, ...] = ("messages", "connections", "rates", "notices", "pauses")


def plans() -> Mapping[str, Plan]:
    """The runs by name."""
    core = [["pe1", "p1"], ["p1", "p2"], ["p2", "pe2"]]
    hosts = [["h1", "pe1"], ["h2", "pe1"], ["h3", "pe2"], ["h4", "pe2"]]
    access = {"rate": "100 Gb/s", "delay": "500ns", "buffer": 4000}
    lossy = [
        {"between": core[0], "delay": "1 km", "rate": "40 Gb/s"},
        {"between": core[1], "delay": "3 km", "rate": "40 Gb/s"},
        {"between": core[2], "delay": "2 km", "rate": "20 Gb/s", "buffer": 60},
    ]
    flow_control = {"priorities": [0, 3], "xoff": "100kB", "xon": "60kB"}
    paused = [
        {"between": ends, "delay": "1 km", "rate": "40 Gb/s", "pfc": flow_control}
        for ends in (*core, *hosts)
    ]
    return {
        "notified": small(),
        "lossy": small(
            mode="ecn",
            hosts={"mtu": 1024, "ip": 6, "timeout": "200us", "dcqcn": {"increase_period": "30us"}},
            links={"hosts": access, "only": lossy},
            controller={"thresholds": [40, 50, 55]},
            events=[
                {"at": "1ms", "link": ["p1", "p2"], "state": "down"},
                {"at": "1200us", "link": ["p1", "p2"], "state": "up"},
            ],
        ),
        "paused": small(
            mode="none",
            duration="2ms",
            links={"core": {"buffer": 4000}, "hosts": {"buffer": 4000}, "only": paused},
        ),
    }


def seen_by_hosts(result: Result) -> dict[str, str]:
    """SHA-256 of the octets of each table."""
    tables = result.tables()
    return {name: hashlib.sha256(octets_of(tables[name])).hexdigest() for name in SEEN_BY_HOSTS}


def committed() -> dict[str, dict[str, str]]:
    """The digests by run and table, as they must be."""
    found: dict[str, dict[str, str]] = json.loads(COMMITTED.read_text())
    return found


if __name__ == "__main__":
    made = {name: seen_by_hosts(run_scenario(plan)) for name, plan in plans().items()}
    COMMITTED.write_text(json.dumps(made, indent=1) + "\n")
