"""The queue in which held packets wait."""

from fcn.contract.parking import RATE, bmv2_commands, depth_for
from fcn.controller.config.holding import Holding
from fcn.controller.node.notifications import parking_too_short
from fcn.softswitch.p4rt.ports import PARKING_DEPTH


def test_it_is_longer_than_what_a_node_may_hold() -> None:
    assert depth_for(Holding().packets) == 1_100
    assert depth_for(1) == 2
    assert bmv2_commands(1_000) == ("set_queue_depth 1100 508", f"set_queue_rate {RATE} 508")
    most = Holding.model_validate({"packets": 1_000_000})
    assert most.packets < PARKING_DEPTH


def test_an_operator_is_told_what_to_enter() -> None:
    text = parking_too_short("p1", 3, 2_000)
    assert "HOLD_SKIPPED +3" in text
    assert "set_queue_depth 2200 508" in text
