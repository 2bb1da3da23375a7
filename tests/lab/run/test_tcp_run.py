"""TCP of others beside RoCEv2, in every mode."""

import pytest
from every_mode import modes
from small import HOLDING, small

from fcn.lab.run.runner import run_scenario


@pytest.mark.parametrize("mode", modes("ecn", "fcn", "service"))
def test_tcp_shares_a_queue_with_roce(mode: str) -> None:
    """Messages of RoCEv2, and two connections of TCP; nobody starves."""
    plan = small(
        mode=mode,
        duration="20ms",
        hosts={
            "ip": 6 if mode in ("ecn", "flow") else 4,
            "mtu": 4096,
            "timeout": "5ms",
            "only": [
                {"names": ["h2"], "settings": {"mtu": 1448, "timeout": "5ms", "ecn": "not-ect"}}
            ],
        },
        controller={"holding": HOLDING, "failure_detection": {"interval": "1ms"}},
        traffic=[
            {"pattern": "messages", "from": ["h1"], "to": ["h3"], "size": "10MB", "count": 3},
            {
                "pattern": "tcp",
                "from": ["h2"],
                "to": ["h4"],
                "size": "4MB",
                "qps": 2,
                "start": "1ms",
            },
        ],
    )
    result = run_scenario(plan)
    assert (result.connections["payload"] > 1_000_000).all()
    tcp = result.tcp
    assert list(tcp["host"]) == ["h2", "h2"]
    assert (tcp["acknowledged"] > 100_000).all()
    assert (tcp["sent"] - tcp["resent"] >= tcp["acknowledged"] // 1448).all()
    done = tcp["completed_ns"].notna()
    assert (done == (tcp["acknowledged"] == -(-4_000_000 // 1448) * 1448)).all()
