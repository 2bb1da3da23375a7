"""Labels of the network are shared between tenants, whatever PEs their flows are on (FCN-2)."""

import random
from collections import Counter
from ipaddress import ip_address
from itertools import count

import pytest
from edges import Edge

from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.labelling import Labelling, LabelPool, NoLabelError
from fcn.controller.flows.provenance import Origin

PEER = ip_address("10.0.0.9")
MOST = 12


class Bench:
    """Flows of PEs with `MOST` labels."""

    def __init__(self, **edges: Edge) -> None:
        self.edges = edges
        self.labels = LabelPool(30.0, lambda: 0.0, random.Random(1))
        self.labelled = Labelling(edges, self.labels, MOST)
        self._clock = count(1.0)

    def label(self, node: str, key: FlowKey, origin: Origin = Origin.DATA) -> list[FlowKey]:
        """Label a flow; returns those that gave way."""
        label, losers = self.labelled.allocate(node, key, known=False)
        for loser in losers:
            self.labelled.remove(loser)
        self.labelled.add(Flow(key, node, label, 0, origin, since=next(self._clock)))
        return [loser.key for loser in losers]

    def held(self) -> Counter[str]:
        return Counter(flow.key.vrf for flow in self.labelled.all())


def key(vrf: str, number: int, src: str = "10.0.0.1") -> FlowKey:
    return FlowKey(vrf, ip_address(src), PEER, number)


def test_a_tenant_with_many_pes_leaves_half_of_the_labels_to_another() -> None:
    bench = Bench(pe1=Edge(), pe2=Edge())
    for number in range(MOST):
        bench.label(("pe1", "pe2")[number % 2], key("red", number))
    for number in range(MOST // 2):
        (loser,) = bench.label("pe1", key("blue", number))
        assert loser == key("red", MOST - 1 - number)
    assert bench.held() == {"red": MOST // 2, "blue": MOST // 2}
    for vrf in ("red", "blue"):
        with pytest.raises(NoLabelError, match=f"{MOST} labels are in use"):
            bench.label("pe2", key(vrf, 99))
    assert len(bench.labels) == sum(len(edge.flows) for edge in bench.edges.values()) == MOST


def test_hosts_of_a_tenant_share_its_labels() -> None:
    bench = Bench(pe1=Edge(), pe2=Edge())
    for number in range(MOST):
        bench.label("pe1", key("red", number))
    assert bench.label("pe2", key("red", 50, "10.0.0.2")) == [key("red", MOST - 1)]


def test_a_full_pe_gives_way_itself() -> None:
    """One flow goes for one that comes, also where table and labels are full."""
    bench = Bench(pe1=Edge(room=4), pe2=Edge())
    for number in range(MOST):
        bench.label("pe2" if number % 3 else "pe1", key("red", number))
    assert bench.label("pe1", key("blue", 1)) == [key("red", 9)]
    assert bench.held() == {"red": MOST - 1, "blue": 1}


def test_registrations_keep_their_labels() -> None:
    bench = Bench(pe1=Edge(), pe2=Edge())
    for number in range(MOST):
        bench.label("pe1", key("red", number), Origin.MANUAL)
    with pytest.raises(NoLabelError):
        bench.label("pe2", key("blue", 1))
    bench.labelled.remove(bench.edges["pe1"].flows[key("red", 3)])
    assert bench.label("pe2", key("blue", 1)) == []
