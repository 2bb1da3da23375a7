"""What is known of flows, in sentences: for `fcn flows`, `fcn top` and the live page."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from fcn.controller.config.features import Feature
from fcn.controller.flows.provenance import Origin
from fcn.controller.proto import fcn_pb2 as pb

_SENDER = {
    Origin.CM: "from messages of its connection manager",
    Origin.INFERRED: "by inference, from its packets and those of the other direction",
    Origin.AGENT: "from the agent on its host",
    Origin.MANUAL: "from an operator, by `fcn flows add`",
    Origin.RESTORED: "from the switch, which had kept it",
}

_SUPPRESSED = {
    "FLOW_INTERVAL": "because a flow's last CNP was too recent (FLOW_INTERVAL)",
    "NODE_RATE_LIMIT": "because of the node's limit (NODE_RATE_LIMIT)",
    "TRANSLATION_DISABLED": "because translation is turned off (TRANSLATION_DISABLED)",
}


def story(flow: pb.Flow, counts: Mapping[str, int]) -> Iterator[str]:
    """Sentences. counts: packets counted by the flow's PE, by name of the cell."""
    key = flow.key
    yield f"A flow of VRF {key.vrf}, from {key.src} to queue pair {key.dest_qp:#x} of {key.dst}."
    if flow.HasField("label"):
        since = datetime.fromtimestamp(flow.since).isoformat(" ", "seconds")
        yield f"{flow.node} has given its packets the label {flow.label:#x} since {since}."
    else:
        yield "It has no label now: it was idle, or no PE has room for it or has reported it."
    yield _sender(flow)
    if flow.HasField("packets"):
        yield f"With the label it sent {flow.packets} packets ({flow.octets} octets)."
    if flow.HasField("notifications"):
        yield _notified(flow)
    kept = [f"{counts[name]} {why}" for name, why in _SUPPRESSED.items() if counts.get(name)]
    if flow.notifications and kept:
        yield f"Of all its flows, {flow.node} has suppressed notifications: {', '.join(kept)}."


def _sender(flow: pb.Flow) -> str:
    if not flow.HasField("source_qp"):
        return "Which queue pair sends it is not known: no handshake, agent or inference told."
    how = _SENDER.get(Origin(flow.origin), f"from {flow.origin}")
    return f"Queue pair {flow.source_qp:#x} sends it; the controller learned that {how}."


def _notified(flow: pb.Flow) -> str:
    came = f"{flow.notifications} notifications came for its label"
    if not flow.notifications:
        return "No notification came for its label: it met no congestion that nodes tell of."
    if not flow.HasField("source_qp"):
        return f"{came}, of which the sender hears nothing while its queue pair is not known."
    return f"{came}; each became a CNP for its queue pair, but for those that a limit suppressed."


def counted(counters: pb.GetCountersResponse) -> dict[str, dict[str, int]]:
    """Packets by node and cell, for the stories of its flows."""
    found: dict[str, dict[str, int]] = {}
    for each in counters.counters:
        found.setdefault(each.node, {})[each.name] = each.packets
    return found


def why_no_flows(status: pb.GetStatusResponse) -> str:
    """Why no flow is labelled; empty where some are."""
    if status.labels_in_use:
        return ""
    edges = [node for node in status.nodes if node.role == "pe"]
    if not edges:
        return "No flow is labelled: the file has no PE."
    up = [node for node in edges if node.state == "up"]
    if not up:
        return "No flow is labelled: no PE is up."
    if not any(Feature.LEARNING.value in node.features for node in up):
        return (
            "No flow is labelled: no PE that is up has the feature learning; "
            "`fcn feature enable NODE` turns it on."
        )
    return "No flow is labelled: no RoCEv2 data packet has entered a tunnel, or all have been idle."
