"""The transfers: rping, ib_write_bw and ib_send_bw, with the connection manager and without.

Debian's perftest supports only IPv4 with the connection manager, so ucmatose (rdmacm-utils) is used
for several queue pairs over IPv6 with CM.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from fcn.topologies.guest_host import DEVICE, GuestHost

QUEUE_PAIRS = 4
MESSAGES = 300
MESSAGE_OCTETS = 4096
ENDLESS = 100_000
# A traffic class with ECT(0): rdma_rxe sends Not-ECT by default, which P does not notify (FCN-8).
ECT0 = 2
# 4.096 us * 2^18 = 1 s, more than the queue at P holds a packet.
QP_TIMEOUT = 18
PERFTESTS = ("ib_write_bw", "ib_send_bw")
TOOLS = ("rping", "ucmatose", *PERFTESTS)
LISTENING_WITH_CM = "rdma resource show cm_id | grep -q LISTEN"
LISTENING = "netstat -ltn | grep -q :18515"


@dataclass(frozen=True, slots=True)
class Transfer:
    """Two scripts that end when the transfer does; `listening` succeeds once the server waits."""

    name: str
    family: int
    cm: bool
    queue_pairs: int
    server: str
    client: str
    listening: str

    def __str__(self) -> str:
        return f"{self.name} over IPv{self.family} {'with' if self.cm else 'without'} CM"


def transfers(near: GuestHost, far: GuestHost) -> Iterator[Transfer]:
    """All transfers; those with CM first: the mappings of the others end by timeout only."""
    for family in (4, 6):
        yield rping(family, far.address(family))
    for tool in PERFTESTS:
        options = f"-R -T {ECT0}"
        yield _perftest(tool, 4, options, f"{options} {far.address(4)}", cm=True)
    for family in (4, 6):
        yield _ucmatose(family, far.address(family))
    for tool in PERFTESTS:
        for family in (4, 6):
            yield _perftest(tool, family, *_without_cm(near, far, family), cm=False)


def rping(family: int, server: str, count: int = 100) -> Transfer:
    """RDMA READs and WRITEs of one queue pair, set up by CM; packets are Not-ECT."""
    return Transfer(
        "rping",
        family,
        True,
        1,
        f"rping -s -a {server} -C {count} -S 512",
        f"rping -c -a {server} -C {count} -S 512",
        LISTENING_WITH_CM,
    )


def _ucmatose(family: int, server: str) -> Transfer:
    """SENDs both ways."""
    form = "ipv6" if family == 6 else "ip"
    common = f"ucmatose -c {QUEUE_PAIRS} -C {MESSAGES} -S {MESSAGE_OCTETS} -t {ECT0} -f {form}"
    return Transfer(
        "ucmatose",
        family,
        True,
        QUEUE_PAIRS,
        f"{common} -b {server}",
        f"{common} -s {server}",
        LISTENING_WITH_CM,
    )


def long_write(near: GuestHost, far: GuestHost) -> Transfer:
    """An ib_write_bw that does not end by itself within a test.

    Without CM, so that the controller sees no disconnect.
    """
    server, client = _without_cm(near, far, 4)
    return _perftest("ib_write_bw", 4, server, client, cm=False, messages=ENDLESS)


def quiet_send(near: GuestHost, far: GuestHost, family: int) -> Transfer:
    """An ib_send_bw that does not end by itself and waits for completions instead of polling.

    It leaves CPU time to the guest's other processes.
    """
    server, client = (f"-e {options}" for options in _without_cm(near, far, family))
    return _perftest("ib_send_bw", family, server, client, cm=False, messages=ENDLESS)


def _without_cm(near: GuestHost, far: GuestHost, family: int) -> tuple[str, str]:
    """Options of server and client.

    QPNs are exchanged over TCP on IPv4; the GID determines the IP version of the RoCE packets.
    """
    return (
        f"-x {far.gid_index(far.address(family))} --tclass={ECT0}",
        f"-x {near.gid_index(near.address(family))} --tclass={ECT0} {far.address(4)}",
    )


def _perftest(
    tool: str, family: int, server: str, client: str, *, cm: bool, messages: int = MESSAGES
) -> Transfer:
    command = (
        f"{tool} -d {DEVICE} -q {QUEUE_PAIRS} -n {messages} -s {MESSAGE_OCTETS} -u {QP_TIMEOUT} -F"
    )
    return Transfer(
        tool,
        family,
        cm,
        QUEUE_PAIRS,
        f"{command} {server}",
        f"{command} {client}",
        LISTENING_WITH_CM if cm else LISTENING,
    )
