"""Frames to be sent into a program."""

from itertools import islice
from pathlib import Path

from fcn.softswitch.tracer.show import ShowError

MOST = 10_240
"""Octets of a frame that the softswitch takes."""


def read_hex(text: str) -> bytes:
    """Hexadecimal digits, with blanks, colons or 0x between them or without."""
    plain = text.removeprefix("0x").replace(":", "").replace(" ", "").replace("\n", "")
    try:
        frame = bytes.fromhex(plain)
    except ValueError:
        raise ShowError(f"{text[:40]!r} is no frame in hexadecimal digits") from None
    if not 0 < len(frame) <= MOST:
        raise ShowError(f"a frame has 1 to {MOST} octets, not {len(frame)}")
    return frame


def read_pcap(file: Path, count: int) -> list[bytes]:
    """The first frames of a capture (pcap or pcapng)."""
    # It takes a second to import.
    from scapy.error import Scapy_Exception
    from scapy.utils import RawPcapReader

    try:
        with RawPcapReader(str(file)) as reader:
            found = list(islice(reader, count))
    except (OSError, Scapy_Exception) as error:
        raise ShowError(f"cannot read the capture {file}: {error}") from error
    if any(len(frame) < about.caplen for frame, about in found):
        raise ShowError(f"the capture {file} ends within a frame")
    return [bytes(frame) for frame, _ in found]
