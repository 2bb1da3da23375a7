"""What happened at RoCEv2 hosts, to the nanosecond."""

from collections.abc import Sequence
from enum import IntEnum
from ipaddress import ip_address

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fcn.lab.core import Simulation

MOST_NOTICES = 1 << 20
"""Of 40 octets each, which wait to be taken."""


class NoticeKind(IntEnum):
    """What happened, and what the notice's value is; the values are those of notice.h.

    Those from CNP_SENT on are of a connection the host accepted, the others of one it opened.
    """

    CONNECTED = 1
    """The value is the remote queue pair."""
    CLOSED = 2
    """By the connection manager: packets acknowledged."""
    FAILED = 3
    """Packets acknowledged."""
    CNP = 4
    """A CNP arrived: the rate before it, in bit/s."""
    CUT = 5
    """It cut the rate: the rate since, in bit/s."""
    NAK = 6
    """A NAK arrived: the first packet that is missing, counted from 0."""
    TIMEOUT = 7
    """The first packet that was not acknowledged."""
    RETRANSMISSION = 8
    """How many packets will be sent again; a NAK or a timeout at the same time is the cause."""
    CNP_SENT = 9
    """Packets with CE so far."""
    GAP = 10
    """How many packets are missing."""
    NAK_SENT = 11
    """The PSN that is missing."""


_OF_CNPS = [NoticeKind.CNP, NoticeKind.CUT]
_NOTICE = np.dtype(
    [
        ("time", "u8"), ("value", "u8"), ("node", "u4"), ("connection", "u4"), ("what", "u2"),
        ("version", "u1"), ("by_switch", "u1"), ("peer", "S16"),
    ],
    align=True,
)  # fmt: skip


def keep_notices(simulation: Simulation, most: int = MOST_NOTICES) -> None:
    """From now on keep what happens at RoCEv2 hosts, at most so many notices until they are taken
    by notices()."""
    simulation.native.call("keep_notices", most)


def notices_lost(simulation: Simulation) -> int:
    """Notices since the start for which there was no room."""
    return simulation.native.call("notices_lost")


def take_notices(simulation: Simulation) -> NDArray[np.void]:
    """Those since the last call, in order, for notices()."""
    native = simulation.native
    return np.frombuffer(native.ffi.buffer(native.take("lab_notice", "notices")), _NOTICE)


def notices(simulation: Simulation, taken: Sequence[NDArray[np.void]] = ()) -> pd.DataFrame:
    """What take_notices() gave, and those since, as the table of a result has them
    (`fcn.lab.result.tables`)."""
    found = np.concatenate([*taken, take_notices(simulation)])
    names = {host.number: host.name for host in simulation.hosts.values()}
    peers, which = np.unique(found[["version", "peer"]], return_inverse=True)
    octets = (peer.ljust(16, b"\0")[: 4 if version == 4 else 16] for version, peer in peers)
    addresses = np.array([str(ip_address(each)) for each in octets], np.object_)
    hosts = np.array([names.get(number, "") for number in range(max(names, default=0) + 1)], object)
    kinds = np.array(["", *(kind.name.lower() for kind in NoticeKind)], object)
    return pd.DataFrame(
        {
            "time_ns": found["time"].astype(np.int64),
            "host": hosts[found["node"]],
            "connection": found["connection"].astype(np.int64),
            "what": kinds[found["what"]],
            "value": found["value"].astype(np.int64),
            "peer": addresses[which],
            "by_switch": found["by_switch"].astype(bool) & np.isin(found["what"], _OF_CNPS),
        }
    )
