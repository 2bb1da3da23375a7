"""Slowdown: a message that has the network for itself has 1."""

from pathlib import Path

import pandas as pd
import pytest
from lab_results import NETWORK, about, congested

from fcn.lab.result.jobs import iterations, jobs
from fcn.lab.result.model import HostInfo, Result
from fcn.lab.result.slowdown import by_size, slowdowns
from fcn.lab.result.tables import frame
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import make_scenario

WIRE = """\
tunnel: {tunnel}
nodes: {{pe1: {{role: pe}}, p1: {{role: p}}, pe2: {{role: pe}}}}
links:
  - {{between: [pe1, p1], delay: 10 km, rate: {near}}}
  - {{between: [p1, pe2], delay: 30 km, rate: {far}}}
hosts: {{h1: {{pe: pe1}}, h2: {{pe: pe1}}, h3: {{pe: pe2}}}}
"""
SIZES = ("1B", "4096B", "4097B", "8192B", "100001B", "2MB")


@pytest.mark.parametrize(
    ("tunnel", "near", "far", "hosts"),
    [
        ("srv6", "400 Gb/s", "400 Gb/s", {"ip": 4}),
        ("gre", "100 Gb/s", "25 Gb/s", {"ip": 6}),
        ("vxlan", "25 Gb/s", "40 Gb/s", {"ip": 4}),
        ("mpls-udp", "40 Gb/s", "100 Gb/s", {"dcqcn": {"line_rate": "10 Gb/s"}}),
    ],
)
def test_a_message_alone_takes_what_is_ideal(
    tmp_path: Path, tunnel: str, near: str, far: str, hosts: dict[str, object]
) -> None:
    """To a nanosecond a hop, there and back."""
    (tmp_path / "wire.yaml").write_text(WIRE.format(tunnel=tunnel, near=near, far=far))
    sent = [
        {"pattern": "messages", "from": ["h1"], "to": ["h3"], "size": size, "start": f"{at}ms"}
        for at, size in enumerate(SIZES)
    ]
    sent.append({"pattern": "messages", "from": ["h2"], "to": ["h1"], "size": "100kB"})
    data = {
        "network": "wire.yaml", "mode": "none", "duration": "9ms", "traffic": sent,
        "links": {
            "core": {"buffer": 20000}, "hosts": {"rate": "50 Gb/s", "delay": "500ns"},
        },
        "hosts": {"mtu": 4096, **hosts}, "measure": {"interval": "1ms"},
    }  # fmt: skip
    found = slowdowns(run_scenario(make_scenario(data, "wire", tmp_path)))
    assert len(found) == len(sent)
    more = found["fct_ns"] - found["ideal_ns"]
    assert more.between(0, 8).all(), found


def known(mtu: int = 1000) -> Result:
    """The congested result, of which the hosts' MTU is known."""
    hosts = tuple(host.model_copy(update={"mtu": mtu}) for host in NETWORK.hosts)
    network = NETWORK.model_copy(update={"hosts": hosts})
    result = congested("fcn")
    messages: list[tuple[object, ...]] = [
        ("l1", 0, n, 1000 * (n + 1), 0, 12_000_000 + n) for n in range(100)
    ]
    messages.append(("l2", 0, 100, 2_000_000, 0, None))
    return Result(
        about(network=network), messages=frame("messages", messages), connections=result.connections
    )


def test_by_size_and_of_all_that_were_completed() -> None:
    table = by_size(known())
    assert table["size"].tolist() == [
        "up to 1 kB", "up to 3 kB", "up to 10 kB", "up to 30 kB", "up to 100 kB", "all",
    ]  # fmt: skip
    assert table["messages"].tolist() == [1, 2, 7, 20, 70, 100]
    every = slowdowns(known())["slowdown"].sort_values().tolist()
    whole = table.iloc[-1]
    assert (whole["median"], whole["p95"], whole["p99"]) == (every[49], every[94], every[98])
    # 11 ms of propagation there and back, but for what the packets take.
    assert 1.05 < whole["mean"] < 12 / 11


def test_nothing_is_said_where_the_hosts_are_not_known() -> None:
    """As in results of before."""
    assert by_size(congested("fcn")).empty
    assert by_size(Result(about())).empty
    assert HostInfo(name="h", addresses=(), pe="pe1").mtu == 0


def job_rows(*ends: tuple[int, str, int | None, int | None]) -> Result:
    rows = [("ring 1", number, host, 100, begun, done) for number, host, begun, done in ends]
    return Result(about(), jobs=frame("jobs", rows))


def test_an_iteration_is_over_with_its_last_rank() -> None:
    result = job_rows(
        (0, "l1", 0, 1000), (0, "l2", 0, 1200), (1, "l1", 1000, 2100), (1, "l2", 1200, 2000)
    )
    each = iterations(result)
    assert each["took_ns"].tolist() == [1200, 900]
    (row,) = jobs(result).to_dict("records")
    assert (row["ranks"], row["iterations"], row["completed"]) == (2, 2, 2)
    assert (row["mean_ns"], row["max_ns"], row["completion_ns"]) == (1050, 1200, 2100)


def test_a_job_that_was_not_completed_has_no_time() -> None:
    result = job_rows(
        (0, "l1", 0, 1000), (0, "l2", 0, 1200), (1, "l1", 1000, None), (1, "l2", None, None)
    )
    assert iterations(result)["took_ns"].isna().tolist() == [False, True]
    (row,) = jobs(result).to_dict("records")
    assert (row["completed"], row["max_ns"]) == (1, 1200)
    assert pd.isna(row["completion_ns"])
    assert jobs(Result(about())).empty
