"""Switch ports of the test bed, the same for PE and P; the runner connects all of them to ptf."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from fcn.contract.constants import PipelineError
from fcn.contract.pipeline import load_target

PORTS_OF = "FCN_PORTS_OF"
"""Names a folder of programs whose ports the bed has, to compare two targets."""


def _first_ports(number: int) -> tuple[int, ...]:
    folder = os.environ.get(PORTS_OF)
    try:
        return load_target("pe", Path(folder) if folder else None).ports.first(number)
    except PipelineError as error:
        sys.exit(f"error: {error}")


ALL_PORTS = _first_ports(5)
"""Front-panel ports of the target the programs under test are compiled for, or of PORTS_OF."""
DC_PORT, DC_PORT_2, CORE_PORT, CORE_PORT_2, UNUSED_PORT = ALL_PORTS
"""DC ports of a PE (core ports on a P), core ports, and a connected port that no test assigns a
role."""
INTERFACES = {port: f"sw{port}" for port in ALL_PORTS}
"""Of the switch; those of the tests, ptf<port>, are at their other ends."""
PAIRS = [(name, f"ptf{port}") for port, name in INTERFACES.items()]
MTU = 9000


def make_interfaces(pairs: Iterable[tuple[str, str]] = PAIRS) -> None:
    """Create veth pairs, without IPv6, so that the kernel sends nothing on them."""
    for family in ("default", "all"):
        Path(f"/proc/sys/net/ipv6/conf/{family}/disable_ipv6").write_text("1")
    commands = []
    for one, other in pairs:
        commands += [
            f"link add name {one} mtu {MTU} type veth peer name {other} mtu {MTU}",
            f"link set {one} up",
            f"link set {other} up",
        ]
    subprocess.run(["ip", "-batch", "-"], input="\n".join(commands), text=True, check=True)
