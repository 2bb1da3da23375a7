"""What a controller that runs cannot change: it takes effect when it is started again."""

from collections.abc import Iterator

from fcn.controller.config.model import Config, Node
from fcn.controller.config.programs import profile_of, program_folder
from fcn.controller.config.transport import Finding

RESTART = "restart the controller for that"

_LISTENERS = ("api", "api_group", "metrics", "page", "tls", "insecure", "audit", "state")
_AGENTS = ("listen", "certificate", "key", "ca", "crl")
_SESSION = ("grpc", "device_id", "role")


def check_reload(before: Config, after: Config) -> Iterator[Finding]:
    """What of another configuration cannot be put in force beside one that is."""
    for key in _LISTENERS:
        old, new = getattr(before, key), getattr(after, key)
        if old != new:
            yield (key,), f"it is {_shown(old)} now; {RESTART}"
    for key in ("controllers", "regions"):
        if getattr(before, key) != getattr(after, key):
            yield (key,), f"who may rule cannot be changed; {RESTART}"
    if (before.host_agents is None) != (after.host_agents is None):
        yield ("host_agents",), f"whether host agents are heard cannot be changed; {RESTART}"
    elif before.host_agents is not None:
        for key in _AGENTS:
            if (old := getattr(before.host_agents, key)) != getattr(after.host_agents, key):
                yield ("host_agents", key), f"it is {old} now; {RESTART}"
    for name, node in after.nodes.items():
        if name in before.nodes:
            for key, reason in _session(before, before.nodes[name], after, node):
                yield ("nodes", name, key), reason


def _session(before: Config, old: Node, after: Config, new: Node) -> Iterator[tuple[str, str]]:
    for key in _SESSION:
        if getattr(old, key) != getattr(new, key):
            shown = getattr(old, key)
            yield key, f"it is {shown} now, and its session would end; {RESTART}"
    if before.tls_of(old) != after.tls_of(new):
        yield "tls", f"its session would end; {RESTART}"
    if old.role == new.role and _program(before, old) != _program(after, new):
        what = f"the node has program {_program(before, old)}, and would get {_program(after, new)}"
        yield "program", f"{what}, meanwhile traffic is lost; {RESTART}"


def _shown(value: object) -> str:
    return str(value) if isinstance(value, str) else "another" if value else "not there"


def _program(config: Config, node: Node) -> str:
    return str(program_folder(config, node) or profile_of(config, node))
