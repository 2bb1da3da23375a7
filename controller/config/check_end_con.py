"""Checks of what senders' notification by END.CON needs (SRF-4). Yields (path, message)."""

from collections.abc import Iterator

from fcn.contract.pipeline import Pipeline
from fcn.contract.profiles import Mode
from fcn.controller.config.document import KeyPath
from fcn.controller.config.model import Config, Node
from fcn.controller.config.modes import FlowControlMode, Notification
from fcn.controller.config.transport import Finding
from fcn.controller.config.tunnel_ends import end_con_sids

_MODE = "notification: end-con"


def check_end_con(config: Config, node: Node) -> Iterator[Finding]:
    """What a PE lacks, or has that contradicts it."""
    if config.notification is not Notification.END_CON or node.role != "pe":
        return
    for name, vrf in node.vrfs.items():
        if vrf.end_con_sid is None:
            yield (
                ("vrfs", name),
                f"{_MODE} needs an end_con_sid for each VRF of a PE: a free one of its locator",
            )
    if node.cnp.source != "peer":
        # The P writes the CNP, and knows no other address than that of the flow's receiver.
        where: KeyPath = ("cnp", "source") if "source" in node.cnp.model_fields_set else ()
        yield where, f"{_MODE} needs cnp.source: peer, as the P has no other address for the CNP"
    for name, tunnel in node.tunnels.items():
        if tunnel.source is not None:
            where = ("tunnels", name, "source")
            yield where, f"{_MODE} has the VRF's end_con_sid for source; remove this"


def end_con_problem(config: Config, name: str, program: Pipeline) -> str | None:
    """Why a node with this program cannot be in the domain, or None."""
    if config.notification is not Notification.END_CON:
        return None
    if not program.target.end_con:
        return f"{_MODE} needs a program with END.CON; there is none for {program.target.name}"
    if config.flow_control is FlowControlMode.OFF or Mode.FLOW_CONTROL not in program.modes:
        return None
    sids, room = len(end_con_sids(config, name)), program.table_size("notification_sid")
    if sids > room:
        return (
            f"other nodes have {sids} END.CON SIDs, which it must know; its program has room "
            f"for {room}: turn flow_control off, or give fewer VRFs a SID"
        )
    return None
