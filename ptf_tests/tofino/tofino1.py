"""Tofino 1."""

from collections.abc import Iterator, Sequence

from fcn.ptf_tests.tofino.layout import Layout, Misses, ParserRows, PipeBits, Setting

_PORTS = 72
_CHANNELS = 4
_INGRESS, _INGRESS_STEP, _CHANNEL_STEP = 0x2701A00, 0x2000, 0x80
_PORT_NUMBER, _PORT_MASK = 0x18, 0x1FF
_EGRESS, _EGRESS_STEP = 0x2741800, 0x2000
_INGRESS_ENABLED, _EGRESS_ENABLED = 1, 1 << 16
_ETHERNET_OF_CPU = Setting(0x273D018, 2 | 0xF << 16)
"""Ports 64 to 67 are MACs."""
_RECIRCULATES = Setting(0x273D01C, 1 | 0xF << 16)
"""Ports 68 to 71 come round."""
_MIRRORED = 67
_MIRROR, _MIRROR_ENABLED = 0x27A8000, 3
_SESSIONS, _SESSION_STEP, _SESSION_CONTROL = 0x27A0000, 0x20, 0x14
_EGRESS_SESSION, _MOST_COPIES, _TRUNCATED = 1 << 1, 0x3F << 8, 16
_HAS_PORT, _PORT = 1 << 3, 4
_PARSERS, _PARSER, _PARSER_STEP, _SECOND = 18, 0x21C_8000_0000, 0x2000, 0x100


def _ports() -> Iterator[Setting]:
    for port in range(_PORTS):
        group, channel = divmod(port, _CHANNELS)
        ingress = _INGRESS + group * _INGRESS_STEP + channel * _CHANNEL_STEP
        yield Setting(ingress + _PORT_NUMBER, port, _PORT_MASK)
        yield Setting(ingress, _INGRESS_ENABLED, _INGRESS_ENABLED)
        egress = _EGRESS + group * _EGRESS_STEP + channel * 4
        yield Setting(egress, _EGRESS_ENABLED, _EGRESS_ENABLED)
    yield _ETHERNET_OF_CPU
    yield _RECIRCULATES


def _mirror(session: int, octets: int) -> Sequence[Setting]:
    base = _SESSIONS + session * _SESSION_STEP
    control = _EGRESS_SESSION | _MOST_COPIES | octets << _TRUNCATED
    return (
        Setting(base, _MIRRORED << _PORT | _HAS_PORT),
        Setting(base + _SESSION_CONTROL, control),
        Setting(_MIRROR, _MIRROR_ENABLED, _MIRROR_ENABLED),
    )


def _parsers() -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    for number in range(_PARSERS):
        first = _PARSER + number * _PARSER_STEP
        yield (first, 0), (first + _SECOND, 0)


TOFINO1 = Layout(
    name="Tofino 1",
    target="tofino",
    package=2,
    reset=(0x40000, 1 << 6),
    before=(),
    registers=PipeBits(1 << 25, 3 << 23),
    memories=PipeBits(1 << 41, 3 << 37),
    stage_registers=(0x2000000, 0x80000),
    stage_memories=(0x200_0000_0000, 1 << 33),
    misses=Misses(
        next=0x1C680,
        next_bits=8,
        immediate=0x1C700,
        instruction=0x1C780,
        action_data=0x1D000,
        statistics=0x1D080,
        meter=0x1D100,
        idle=0x1D180,
    ),
    meter=(0x10804, 0x200),
    clock_ns=0.8,
    filter=(0x200000, 14),
    parsers=ParserRows(tuple(_parsers()), {0: 0, 2: 16, 3: 24}),
    ports=tuple(_ports()),
    cpu=64,
    recirculation=68,
    mirrored=_MIRRORED,
    mirror=_mirror,
)
