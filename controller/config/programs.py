"""The program of a node: that of the smallest profile which has what the configuration asks of the
node, or the one that the configuration states."""

from collections.abc import Set
from contextlib import suppress
from pathlib import Path

from fcn.contract.constants import PipelineError, compiled_file
from fcn.contract.names import BFD_TABLES
from fcn.contract.pipeline import Pipeline, load_pipeline
from fcn.contract.profiles import PROFILES, Mode, profiles_with
from fcn.controller.config.document import listed
from fcn.controller.config.model import Config, Node
from fcn.controller.config.modes import FlowControlMode, Notification


def modes_needed(config: Config, node: Node) -> frozenset[Mode]:
    """What a node's program must have besides what all have."""
    needed = {
        Mode.TWO_THRESHOLD: config.notification is Notification.TWO_THRESHOLD,
        Mode.FLOW_CONTROL: config.flow_control is not FlowControlMode.OFF,
        Mode.FANTEL: config.notification is Notification.FANTEL
        or (node.role == "pe" and bool(node.policies)),
    }
    return frozenset(mode for mode, is_needed in needed.items() if is_needed)


def modes_wanted(config: Config, node: Node) -> frozenset[Mode]:
    """These, and what a node can do without while others have it: it watches no links then."""
    needed = modes_needed(config, node)
    is_watched = config.failure_detection is not None or config.load_balancing is not None
    return needed | {Mode.FANTEL} if is_watched else needed


def profile_of(config: Config, node: Node) -> str:
    """The profile of a node whose program is one of fcn's own."""
    return node.profile or profiles_with(modes_wanted(config, node))[0]


def program_of(config: Config, node: Node, *, binary: bool = True) -> Pipeline:
    """A node's program. Raises PipelineError."""
    if node.program_folder is not None:
        return load_pipeline(node.role, program_folder(config, node), binary=binary)
    return load_pipeline(node.role, profile=profile_of(config, node), binary=binary)


def program_folder(config: Config, node: Node) -> Path | None:
    """Where the program of a node is which is none of fcn's own: in the folder that the node
    states, or in that of a profile there."""
    programs = node.program_folder
    if programs is None:
        return None
    for modes in (modes_wanted(config, node), modes_needed(config, node)):
        for profile in profiles_with(modes) if modes else ():
            with suppress(PipelineError):
                return compiled_file(f"{node.role}.p4info.txtpb", folder=programs / profile).parent
    return programs


def program_problem(config: Config, node: Node, program: Pipeline) -> str | None:
    """Why a node of the domain cannot have this program, or None."""
    if program.lacking:
        shown = ", ".join(program.lacking[:3])
        return f"{program.p4info} is of no {node.role} node: it lacks {shown}"
    if node.program is None:
        return None
    if program.differing:
        return (
            f"{program.p4info} is of another version of fcn: it has {program.differing[0]} with "
            "another key or other actions; compile it again"
        )
    needed = modes_needed(config, node)
    if needed <= program.modes:
        return None
    return (
        f"{node.program} has no {node.role} program with {' and '.join(sorted(needed))}, which "
        f"this domain needs ({program.target.name}; docs/tofino.md says what chips have)"
    )


def has_clock(config: Config, node: Node) -> bool:
    """Whether a node's program looks at links, or at least at queues (FAN-4, FAN-6)."""
    with suppress(PipelineError):
        return Mode.FANTEL in program_of(config, node, binary=False).modes
    return False


def watches_links(config: Config, node: Node) -> bool:
    """Whether a node's program finds that a link is dead; that of Tofino 1 does not (FAN-4)."""
    with suppress(PipelineError):
        return program_of(config, node, binary=False).has_tables(BFD_TABLES)
    return False


def profile_problem(config: Config, node: Node) -> str | None:
    """Why a node cannot have the profile that the file states, or None."""
    if node.profile is None:
        return None
    if node.program is not None:
        return "is of the programs that are part of fcn; remove it, or `program`"
    if node.profile not in PROFILES:
        return f"there is no profile {node.profile!r}; there are {listed(PROFILES)}"
    needed = modes_wanted(config, node)
    missing = needed - PROFILES[node.profile]
    return lacking(node.profile, missing, needed) if missing else None


def lacking(profile: str, missing: Set[Mode], needed: Set[Mode]) -> str:
    """What a profile lacks that a node needs, and which one has it."""
    what = " and ".join(sorted(missing))
    instead = " or ".join(profiles_with(needed))
    return f"profile {profile} has no {what}, which this domain needs; write {instead}, or nothing"
