"""The transfers: rping, ib_write_bw and ib_send_bw, with the connection manager and without.

Debian's perftest takes names and addresses for the connection manager as IPv4 only, so several
queue pairs over IPv6 with CM are ucmatose's (rdmacm-utils).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from topologies.guest.host import DEVICE, GuestHost

QUEUE_PAIRS = 4
MESSAGES = 300
MESSAGE_OCTETS = 4096
# A traffic class of ECT(0): rdma_rxe sends Not-ECT unless told, and P leaves that alone (FCN-8).
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
    """All of them; those with CM first, because the mappings of the others only time out."""
    ends = {family: (near.address(family), far.address(family)) for family in (4, 6)}
    for family, (_, server) in ends.items():
        yield rping(family, server)
    for tool in PERFTESTS:
        options = f"-R -T {ECT0}"
        yield _perftest(tool, 4, options, f"{options} {ends[4][1]}", cm=True)
    for family, (_, server) in ends.items():
        yield _ucmatose(family, server)
    for tool in PERFTESTS:
        for family, (client, server) in ends.items():
            # QPNs are exchanged over TCP; the GID decides what the RoCE packets are.
            yield _perftest(
                tool,
                family,
                f"-x {far.gid_index(server)} --tclass={ECT0}",
                f"-x {near.gid_index(client)} --tclass={ECT0} {ends[4][1]}",
                cm=False,
            )


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


def long_write(server: str) -> Transfer:
    """An ib_write_bw with CM that does not end by itself within a test."""
    return _perftest(
        "ib_write_bw", 4, f"-R -T {ECT0}", f"-R -T {ECT0} {server}", cm=True, messages=100_000
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
