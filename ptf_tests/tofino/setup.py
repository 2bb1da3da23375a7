"""What a driver sets on the chip besides a program: ports, and mirror sessions."""

from fcn.ptf_tests.tofino.memories import Access

CPU, RECIRCULATION = 64, 68
"""Ports of pipe 0: that of the CPU by Ethernet, and the first that comes round."""
MIRRORED = 67
"""Where copies leave the chip: what leaves there is put in at RECIRCULATION, whose own way round
drops most of a burst on the model."""
_PORTS = range(72)
_CHANNELS = 4
_INGRESS, _INGRESS_STEP, _CHANNEL_STEP = 0x2701A00, 0x2000, 0x80
_PORT_NUMBER = 0x18
_EGRESS, _EGRESS_STEP = 0x2741800, 0x2000
_INGRESS_ENABLED, _EGRESS_ENABLED = 1, 1 << 16
_PORT_MASK = 0x1FF
_ETHERNET_OF_CPU = 0x273D018, 2 | 0xF << 16
"""Ports 64 to 67 are MACs."""
_RECIRCULATES = 0x273D01C, 1 | 0xF << 16
"""Ports 68 to 71 come round."""
_MIRROR, _MIRROR_ENABLED = 0x27A8000, 3
_SESSIONS, _SESSION_STEP, _SESSION_CONTROL = 0x27A0000, 0x20, 0x14
_EGRESS_SESSION, _MOST_COPIES, _TRUNCATED = 1 << 1, 0x3F << 8, 16
_HAS_PORT, _PORT = 1 << 3, 4


def enable_ports(chip: Access) -> None:
    """Take frames from every port of pipe 0, and let them out."""
    for port in _PORTS:
        group, channel = divmod(port, _CHANNELS)
        ingress = _INGRESS + group * _INGRESS_STEP + channel * _CHANNEL_STEP
        number = chip.read(ingress + _PORT_NUMBER) & ~_PORT_MASK
        chip.write(ingress + _PORT_NUMBER, number | port)
        chip.write(ingress, chip.read(ingress) | _INGRESS_ENABLED)
        egress = _EGRESS + group * _EGRESS_STEP + channel * 4
        chip.write(egress, chip.read(egress) | _EGRESS_ENABLED)
    chip.write(*_ETHERNET_OF_CPU)
    chip.write(*_RECIRCULATES)


def mirror(chip: Access, session: int, octets: int) -> None:
    """A session of the egress, whose copies are cut behind so many octets and go to MIRRORED."""
    base = _SESSIONS + session * _SESSION_STEP
    chip.write(base, MIRRORED << _PORT | _HAS_PORT)
    control = _EGRESS_SESSION | _MOST_COPIES | octets << _TRUNCATED
    chip.write(base + _SESSION_CONTROL, control)
    chip.write(_MIRROR, chip.read(_MIRROR) | _MIRROR_ENABLED)
