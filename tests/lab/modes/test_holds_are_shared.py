"""A neighbour asks a node to hold a customer's many flows, and one flow of another customer: how
often the other one's hold is granted (SRF-7). `pytest -s` prints the figures."""

import pytest
import yaml
from domain_modes import LINKS, network

from fcn.contract.constants import compiled_programs
from fcn.contract.names import COUNTERS, named_cells
from fcn.controller.config import Config, parse_config
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.notation import format_mac
from fcn.lab.entries import provision_of, write_entries
from fcn.packets.arn import Arn, ArnType, Parameter
from fcn.ptf_tests.lib.packets import arn, ethernet
from fcn.softswitch.engine import MemoryEngine, load_program

NODE, NEIGHBOUR, PORT = "p1", "p2", 2
SPACING_NS = 50_000
"""Between two ARNs: 20,000 a second, what `notifications.rate` allows the neighbour."""
EVERY = 20
"""ARNs of which one is about the other customer's flow: each ms, for which it is held."""
ASKED = 200
TIME_US = 1_000
GRANTED = ("HOLD_BEGUN", "HOLD_RENEWED")


def granted(mode: str, flows: int) -> int:
    """Of ASKED holds of the one flow, those that are granted beside so many of the other's."""
    assert [f"{NODE}:{PORT}", f"{NEIGHBOUR}:1"] in LINKS
    config = parse_config(yaml.safe_dump(network({"notification": "none", "flow_control": mode})))
    engine = MemoryEngine(load_program(compiled_programs() / "p.json"))
    write_entries(provision_of(config, NODE), engine)
    one, others = _frame(config, mode, 2, 0), [_frame(config, mode, 1, n) for n in range(flows)]
    found = asked = 0
    for number in range(ASKED * EVERY):
        if number % EVERY:
            engine.inject(PORT, others[asked % flows])
            asked += 1
            engine.advance(SPACING_NS)
        else:
            before = _holds(engine)
            engine.inject(PORT, one)
            engine.advance(SPACING_NS)
            found += _holds(engine) - before
    engine.close()
    print(f"\n{mode}, beside {flows} flows: {found} of {ASKED} holds granted")
    return found


def _frame(config: Config, mode: str, customer: int, number: int) -> bytes:
    """The neighbour's ARN about a flow, or about all that goes to a service SID."""
    what = Parameter.FIVE_TUPLE | Parameter.TIME
    common = {"type": ArnType.DETECTED, "para_type": int(what), "time": TIME_US}
    if mode == "flow":
        message = Arn(
            **common, ip_version=4, label=customer, protocol=17,
            src4="10.1.4.10", dst4="10.2.4.10", sport=0xC000 + number, dport=4791,
        )  # fmt: skip
    else:
        message = Arn(
            **common, ip_version=6, src6="2001:db8:0:ff::1", dst6=f"2001:db8:0:2::{customer}"
        )
    near, far = (str(config.nodes[name].underlay_address) for name in (NODE, NEIGHBOUR))
    port = config.nodes[NODE].port(PORT)
    assert port is not None
    mac = format_mac(port_mac(NODE, config.nodes[NODE], port))
    return ethernet(arn(far, near, message), src="02:00:00:00:00:01", dst=mac)


def _holds(engine: MemoryEngine) -> int:
    """How many were granted so far."""
    return sum(
        engine.counter_read(full, index).packets
        for full in engine.program.counters
        if (alias := full.rpartition(".")[2]) in COUNTERS
        for index, cell in named_cells(alias).items()
        if cell in GRANTED
    )


@pytest.mark.parametrize("flows", [16, 1_000])
def test_a_customer_is_one_service(flows: int) -> None:
    """Over SRv6 all its flows have one name, so they take no hold from another customer."""
    assert granted("service", flows) == ASKED


def test_few_flows_have_a_hold_each() -> None:
    assert granted("flow", 16) == ASKED


@pytest.mark.parametrize("flows", [48, 300])
def test_many_flows_share_what_a_port_may_hold(flows: int) -> None:
    """`holds_per_port` is for all customers: beyond it, chance says whose flow is held."""
    assert 0.15 * ASKED < granted("flow", flows) < ASKED
