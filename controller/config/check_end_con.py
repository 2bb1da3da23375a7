"""Checks of what senders' notification by END.CON needs (SRF-4). Yields (path, message)."""

from collections.abc import Iterator

from fcn.contract.targets import Target
from fcn.controller.config.model import Config, Node
from fcn.controller.config.modes import Notification
from fcn.controller.config.transport import Finding, Path

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
        where: Path = ("cnp", "source") if "source" in node.cnp.model_fields_set else ()
        yield where, f"{_MODE} needs cnp.source: peer, as the P has no other address for the CNP"
    for name, tunnel in node.tunnels.items():
        if tunnel.source is not None:
            where = ("tunnels", name, "source")
            yield where, f"{_MODE} has the VRF's end_con_sid for source; remove this"


def end_con_problem(config: Config, target: Target) -> str | None:
    """Why a node of this target cannot be in the domain, or None."""
    if config.notification is Notification.END_CON and not target.end_con:
        return f"{_MODE} needs a program with END.CON; there is none for {target.name}"
    return None
