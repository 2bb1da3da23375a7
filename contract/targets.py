"""Properties that differ between targets; the P4Info contract is the same on all of them.

BMv2 and softswitch run the v1model programs, Tofino the TNA programs. The target of a program is
determined from its P4Info (`target_of`).
"""

from dataclasses import dataclass

from finsy.proto import p4i

from fcn.contract.constants import PipelineError, architecture_numbers
from fcn.contract.depth import QueueDepth
from fcn.contract.names import CORE_PORTS
from fcn.contract.ports import PORT_BITS, Ports

MAX_TICKS = (1 << 32) - 1
"""Time parameters of the programs have 32 bits."""


@dataclass(frozen=True, slots=True)
class CloneSession:
    """A P4Runtime clone session whose copies are recirculated; one copy for each instance."""

    number: int
    port: int
    instances: tuple[int, ...] = (1,)

    @property
    def replicas(self) -> list[tuple[int, int]]:
        """Port and instance of each copy."""
        return [(self.port, instance) for instance in self.instances]


@dataclass(frozen=True)
class Target:
    """One kind of switch.

    architecture: `pkg_info.arch` in the P4Info of its programs.
    tick: nanoseconds per unit of a time parameter.
    clone_sessions: none where the driver configures mirror sessions instead.
    value_sets: parser value sets its programs may have.
    idle_timeout: whether the flow tables report idle flows.
    end_con: whether its programs know END.CON (SRF-4).
    """

    name: str
    architecture: str
    ports: Ports
    depth: QueueDepth
    tick: int = 1000
    clone_sessions: tuple[CloneSession, ...] = ()
    value_sets: tuple[str, ...] = ()
    idle_timeout: bool = True
    end_con: bool = False

    def ticks(self, microseconds: int) -> int:
        """A duration in ticks, rounded up, limited to 32 bits."""
        return min(-(-microseconds * 1000 // self.tick), MAX_TICKS)


def _ports(architecture: str, front_panel: tuple[range, ...], drop: int | None = None) -> Ports:
    numbers = architecture_numbers(architecture)
    cpu, recirculation = numbers["CPU_PORT"], numbers["RECIRC_PORT"]
    parking, clock = numbers.get("PARK_PORT"), numbers.get("CLOCK_PORT", recirculation)
    return Ports(cpu, recirculation, front_panel, drop, parking, clock=clock)


def _v1model() -> Target:
    # simple_switch's mark_to_drop uses port 511 by default.
    ports = _ports("v1model", (range(1 << PORT_BITS),), drop=511)
    numbers = architecture_numbers("v1model")
    once, twice = numbers["CloneSession"]["RECIRC"], numbers["CloneSession"]["RECIRC_TWICE"]
    return Target(
        "BMv2",
        "v1model",
        ports,
        QueueDepth(),
        clone_sessions=(
            CloneSession(once, ports.recirculation),
            CloneSession(
                twice, ports.recirculation, (numbers["COPY_THAT_TELLS"], numbers["COPY_THAT_ASKS"])
            ),
        ),
        end_con=True,
    )


V1MODEL = _v1model()
"""BMv2 and softswitch."""

_PIPE_PORTS = 128
"""A port number of Tofino consists of a pipe (two bits) and a port of the pipe (seven bits)."""


def _tofino(name: str, architecture: str, front_panel: range, cell: int) -> Target:
    """front_panel: front-panel ports of each pipe. cell: octets of a buffer cell."""
    pipes = range(0, 1 << PORT_BITS, _PIPE_PORTS)
    ranges = tuple(range(pipe + front_panel[0], pipe + front_panel[-1] + 1) for pipe in pipes)
    return Target(
        name,
        architecture,
        _ports(architecture, ranges),
        QueueDepth(cell),
        # Bits 8 to 39 of the chip's nanosecond clock.
        tick=256,
        # Contains the ports with action set_core_port in port_role.
        value_sets=(CORE_PORTS,),
    )


TOFINO1 = _tofino("Tofino 1", "tna", range(64), cell=80)
TOFINO2 = _tofino("Tofino 2", "t2na", range(8, 72), cell=176)

TARGETS = (V1MODEL, TOFINO1, TOFINO2)

_BY_ARCHITECTURE = {target.architecture: target for target in TARGETS}


def target_of(p4info: p4i.P4Info) -> Target:
    """The target a program was compiled for. Raises PipelineError."""
    arch = p4info.pkg_info.arch
    if arch not in _BY_ARCHITECTURE:
        raise PipelineError(
            f"the P4Info is of a program for architecture {arch!r}; "
            f"the controller drives {', '.join(_BY_ARCHITECTURE)}"
        )
    return _BY_ARCHITECTURE[arch]
