"""A neighbour asks a node to hold a customer's many flows, and one flow of another customer: how
many of these holds are granted (SRF-7). `pytest -s` prints the figures."""

from statistics import mean

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
"""Between two ARNs: 20,000 a second, what `notifications.rate` allows the neighbour, which flows
share in turn."""
MESSAGES = 4_000
GRANTED = ("HOLD_BEGUN", "HOLD_RENEWED")


def granted(mode: str, flows: int, time_us: int = 1_000) -> list[float]:
    """Of each flow the share of holds that is granted where a neighbour asks in turn for one flow
    of a customer and so many of another. time_us: `holding.time`."""
    assert [f"{NODE}:{PORT}", f"{NEIGHBOUR}:1"] in LINKS
    config = parse_config(yaml.safe_dump(network({"notification": "none", "flow_control": mode})))
    engine = MemoryEngine(load_program(compiled_programs() / "p.json"))
    write_entries(provision_of(config, NODE), engine)
    turn = [_frame(config, mode, time_us, 2, 0)]
    turn += [_frame(config, mode, time_us, 1, number) for number in range(flows)]
    found = [0] * len(turn)
    for number in range(MESSAGES):
        before = _holds(engine)
        engine.inject(PORT, turn[number % len(turn)])
        engine.advance(SPACING_NS)
        found[number % len(turn)] += _holds(engine) - before
    engine.close()
    print(f"\n{mode}, 1 and {flows} flows, {time_us} us: {sum(found)} of {MESSAGES} holds granted")
    return [each / len(range(number, MESSAGES, len(turn))) for number, each in enumerate(found)]


def _frame(config: Config, mode: str, time_us: int, customer: int, number: int) -> bytes:
    """The neighbour's ARN about a flow, or about all that goes to a service SID."""
    what = Parameter.FIVE_TUPLE | Parameter.TIME
    common = {"type": ArnType.DETECTED, "para_type": int(what), "time": time_us}
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


@pytest.mark.parametrize("flows", [15, 300])
def test_a_customer_is_one_service(flows: int) -> None:
    """Over SRv6 all its flows have one name, so they take no hold from another customer."""
    assert min(granted("service", flows)) == 1


def test_few_flows_have_a_hold_each() -> None:
    """That are named again within `time`."""
    assert min(granted("flow", 15)) == 1


@pytest.mark.parametrize("flows", [47, 299])
def test_many_flows_share_what_a_port_may_hold(flows: int) -> None:
    """A hold that has ended begins anew, and `holds_per_port` bounds that, for all in turn. Of two
    that share one of the 1,024 cells one may get nothing."""
    shares = granted("flow", flows)
    assert 0.1 < mean(shares) < 0.3
    assert sum(each < mean(shares) / 3 for each in shares) <= flows / 100


def test_a_longer_time_makes_room_for_more_flows() -> None:
    """Up to `holds_per_port`."""
    assert mean(granted("flow", 47, time_us=5_000)) > 0.9
