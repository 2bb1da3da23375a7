"""The frames of every interface in files, as `--pcap DIR` of simple_switch_grpc keeps them."""

import errno
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_LINKTYPE_ETHERNET = 1
_MAX_FRAME = 1 << 18
_HEADER = struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, _MAX_FRAME, _LINKTYPE_ETHERNET)
"""libpcap's, of times in microseconds in this machine's order of octets."""
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
# A folder others write to may have links to the files of root, who opens these.
_NO_LINK = os.O_NOFOLLOW | os.O_NONBLOCK


class CaptureError(Exception):
    """A file cannot be written; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Capture:
    """Files, with their headers, for what an interface receives and for what is sent from it."""

    received: int
    sent: int


def open_captures(directory: Path, interfaces: Mapping[int, str]) -> dict[int, Capture]:
    """DIR/INTERFACE_in.pcap and DIR/INTERFACE_out.pcap of every port, emptied; they stay open.

    Raises CaptureError.
    """
    if not directory.is_dir():
        raise CaptureError(f"--pcap: {directory} is no folder; make it, or name another one")
    return {
        port: Capture(*(_opened(directory / f"{name}_{way}.pcap") for way in ("in", "out")))
        for port, name in interfaces.items()
    }


def _opened(file: Path) -> int:
    try:
        opened = os.open(file, _FLAGS | _NO_LINK, 0o644)
        os.write(opened, _HEADER)
    except OSError as error:
        why = "it is a link" if error.errno == errno.ELOOP else error.strerror
        raise CaptureError(f"--pcap: cannot write {file}: {why}") from error
    return opened
