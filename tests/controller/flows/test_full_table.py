"""A table that is full, while a tenant changes much there."""

from collections import Counter
from ipaddress import ip_address
from typing import Any

import pytest
import yaml
from finsy.proto import p4r
from tenants import DC_PORT, RED_PORT, two_tenants

from fcn.contract.names import FLOW_TABLES, LABEL_TABLES
from fcn.controller.app import ControlPlane
from fcn.controller.config import parse_config
from fcn.controller.flows.key import FlowKey
from fcn.controller.node.edge import NodeEdge
from fcn.controller.owners.intent import TURN

A, B = ip_address("10.1.0.10"), ip_address("10.2.0.20")
ROOM = 4 * TURN


def test_a_place_is_free_before_another_tenant_gets_it(
    network: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A switch refuses an entry for which there is no room, and is asked again much later."""
    monkeypatch.setattr(NodeEdge, "capacity", lambda _edge, _version: ROOM)
    plane = ControlPlane(parse_config(yaml.safe_dump(two_tenants(network))))
    intent = plane.nodes["pe1"].intent
    tables = {intent.schema.tables[name].id for name in (FLOW_TABLES[4], LABEL_TABLES[4])}
    held: Counter[int] = Counter()
    inserted: Counter[int] = Counter()

    def write(limit: int) -> bool:
        """Write a batch; whether there was one."""
        updates = intent.take_updates(limit)
        for update in updates:
            table = update.entity.table_entry.table_id
            if table in tables and update.type != p4r.Update.MODIFY:
                is_new = update.type == p4r.Update.INSERT
                inserted[table] += is_new
                held[table] += 1 if is_new else -1
                assert held[table] <= ROOM
        intent.settle(updates, {})
        return bool(updates)

    reds = [FlowKey("red", A, B, 0x100 + number) for number in range(ROOM)]
    for red in reds:
        plane.flows.seen("pe1", RED_PORT, red)
    while write(100):
        pass
    for red in reds:
        assert plane.flows.reported(red, red.dest_qp)
    plane.flows.seen("pe1", DC_PORT, FlowKey("blue", A, B, 0x20))
    assert intent.pending > ROOM
    assert write(2 * TURN)
    assert set(inserted.values()) == {ROOM + 1}, "who waits for his own only"
    while write(2 * TURN):
        pass
    assert set(held.values()) == {ROOM}
    assert plane.flows.on_node("pe1").keys() >= {FlowKey("blue", A, B, 0x20), *reds[:-1]}
