"""Who may replace a sender, and what ends it: every cell of lifecycle.py."""

from ipaddress import ip_address
from itertools import product

import pytest

from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.lifecycle import OF_EVIDENCE, End, State, after
from fcn.controller.flows.provenance import CommIds, Origin
from fcn.controller.flows.senders import Sender, Senders

FLOW = FlowKey("red", ip_address("10.1.0.1"), ip_address("10.2.0.1"), 0x21)
KNOWN = [Origin.MANUAL, Origin.CM, Origin.AGENT, Origin.INFERRED, Origin.RESTORED]
SAYING = [Origin.MANUAL, Origin.CM, Origin.AGENT, Origin.INFERRED]

REPLACED = {
    # Known by: whether another sender replaces it, said by a person, a handshake, an agent,
    # inference.
    Origin.MANUAL: (True, False, False, False),
    Origin.CM: (True, True, True, False),
    Origin.AGENT: (True, True, True, False),
    Origin.INFERRED: (True, True, True, True),
    Origin.RESTORED: (True, True, True, True),
}
ENDED = {
    # Known by: whether it ends by a deletion, a disconnect with both IDs, one without a known
    # handshake, silence, packets that contradict it, packets that disprove it, the end of the
    # reverse flow, packets that may be of another connection.
    Origin.MANUAL: (True, False, False, False, False, False, False, False),
    Origin.CM: (True, True, False, False, False, True, False, True),
    Origin.AGENT: (True, True, False, True, False, True, False, True),
    Origin.INFERRED: (True, True, True, True, True, True, True, True),
    Origin.RESTORED: (True, True, False, True, True, True, False, True),
}


def known_by(origin: Origin) -> Senders:
    senders = Senders()
    senders.restore(FLOW, Sender(0x11, origin))
    return senders


@pytest.mark.parametrize(("known", "saying"), [*product(KNOWN, SAYING)])
def test_who_replaces_whom(known: Origin, saying: Origin) -> None:
    senders = known_by(known)
    expected = REPLACED[known][SAYING.index(saying)]
    assert senders.learn(FLOW, Sender(0x12, saying)) is expected
    assert senders.get(FLOW) == (Sender(0x12, saying) if expected else Sender(0x11, known))


@pytest.mark.parametrize(("known", "reason"), [*product(KNOWN, End)])
def test_what_ends_a_sender(known: Origin, reason: End) -> None:
    ends = ENDED[known][list(End).index(reason)]
    waiting = State.ABSENT if ends else State.WAITING
    assert after(False, known, reason) is waiting
    if reason is End.SILENCE:
        assert after(True, known, reason) is waiting
    elif reason in OF_EVIDENCE:
        assert after(True, known, reason) is (State.UNKNOWN if ends else State.KNOWN)
    else:
        assert after(True, known, reason) is (State.ABSENT if ends else State.KNOWN)


@pytest.mark.parametrize("reason", End)
def test_what_ends_a_flow_of_unknown_sender(reason: End) -> None:
    assert after(True, None, reason) is (State.UNKNOWN if reason in OF_EVIDENCE else State.ABSENT)
    assert after(False, None, reason) is State.ABSENT


def test_what_is_forgotten_leaves_nothing() -> None:
    senders = known_by(Origin.CM)
    senders.forget(FLOW)
    assert FLOW not in senders
    assert not senders.sent_by("red", FLOW.src, FLOW.dst, 0x11)


@pytest.mark.parametrize("saying", SAYING)
def test_an_unknown_sender_is_learned_from_anyone(saying: Origin) -> None:
    senders = Senders()
    assert senders.learn(FLOW, Sender(0x12, saying))
    assert not senders.learn(FLOW, Sender(0x12, saying))
    assert [key for key, _ in senders] == [FLOW]


def test_what_others_confirm_keeps_its_communication_ids() -> None:
    """Else a disconnect of the connection would not be recognized after a restart."""
    senders = Senders()
    handshake = Sender(0x11, Origin.CM, comm_ids=CommIds(True, 0xA1, 0xB1))
    senders.learn(FLOW, handshake)
    assert not senders.learn(FLOW, Sender(0x11, Origin.AGENT))
    assert senders.get(FLOW) == handshake


def test_what_is_known_stands_against_a_switch() -> None:
    senders = Senders()
    senders.learn(FLOW, Sender(0x11, Origin.INFERRED))
    senders.restore(FLOW, Sender(0x12, Origin.MANUAL))
    assert senders.get(FLOW) == Sender(0x11, Origin.INFERRED)
