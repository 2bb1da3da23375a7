"""Tofino 2."""

from collections.abc import Iterator, Sequence

from fcn.ptf_tests.tofino.layout import Layout, Misses, ParserRows, PipeBits, Setting

_GROUPS, _CHANNELS, _GROUP_STEP = 9, 8, 0x2000
_INGRESS, _EGRESS = 0x4C00000, 0x4C20000
_PORTS_IN, _PORTS_OUT = 0x18, 0xC
_CHANNEL, _CHANNEL_STEP = 0x800, 0x100
_PORT_NUMBER, _PORT_MASK = 6, 0x1FF
_PARSERS_IN_GROUP, _PARSER_REGISTERS, _PARSER_STEP = 4, 0x11E8, 0x400
"""The register that says with which parser of its group one is written."""
_DEPARSER, _DEPARSER_STEP = 0x4D2A824, 8
_ALL_CHANNELS = 0xFF
_PCIE_OF_CPU = Setting(0x4C36024, 1)
"""Port 0."""
_RECIRCULATES = Setting(0x4C3603C, 1 | 3 << 16)
"""Ports 6 and 7 come round."""
_MIRRORED = 2
"""The model serves ports in the order of their numbers: copies leave before what comes after them
on front-panel ports, so what a test sees there is complete."""
_SESSION_WORDS, _WORDS = 0x4C8000C, 5
_PORT_WORD, _HAS_PORT = 2, 1 << 14
_SESSIONS = 0x4C82000
"""What is written here takes the words before it for a session."""
_SLICES, _SLICE, _SLICE_STEP = 4, 0x4C90000, 0x800
_EGRESS_SESSION, _TRUNCATED = 3, 4
_FCS = 4
"""Counts in what copies are cut to."""
_PARSER_ROWS, _PARSER_ROWS_STEP = 0x260_8000_0400, 0x800
_SECOND = 64


def _before() -> Iterator[Setting]:
    """The assembler writes the first parser of each group."""
    for side in (_INGRESS, _EGRESS):
        for group in range(_GROUPS):
            for parser in range(_PARSERS_IN_GROUP):
                base = side + group * _GROUP_STEP + parser * _PARSER_STEP
                yield Setting(base + _PARSER_REGISTERS, 0)


def _ports() -> Iterator[Setting]:
    for group in range(_GROUPS):
        ingress = _INGRESS + group * _GROUP_STEP
        yield Setting(ingress + _PORTS_IN, _ALL_CHANNELS)
        yield Setting(_EGRESS + group * _GROUP_STEP + _PORTS_OUT, _ALL_CHANNELS)
        yield Setting(_DEPARSER + group * _DEPARSER_STEP, _ALL_CHANNELS)
        for channel in range(_CHANNELS):
            port = group * _CHANNELS + channel
            control = ingress + _CHANNEL + channel * _CHANNEL_STEP
            yield Setting(control, port << _PORT_NUMBER, _PORT_MASK << _PORT_NUMBER)
    yield _PCIE_OF_CPU
    yield _RECIRCULATES


def _mirror(session: int, octets: int) -> Sequence[Setting]:
    words = [0] * _WORDS
    words[_PORT_WORD] = _MIRRORED | _HAS_PORT
    length = octets + _FCS + 3 & ~3
    control = _EGRESS_SESSION | length << _TRUNCATED
    return (
        *(Setting(_SESSION_WORDS + 4 * number, word) for number, word in enumerate(words)),
        Setting(_SESSIONS + 4 * session, 0),
        *(
            Setting(_SLICE + number * _SLICE_STEP + 4 * session, control)
            for number in range(_SLICES)
        ),
    )


def _parsers() -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    for group in range(_GROUPS):
        row = _PARSER_ROWS + group * _PARSERS_IN_GROUP * _PARSER_ROWS_STEP
        yield (row, 0), (row, _SECOND)


TOFINO2 = Layout(
    name="Tofino 2",
    target="tofino2",
    package=5,
    reset=(0x80000, 1 << 18),
    before=tuple(_before()),
    registers=PipeBits(1 << 26, 3 << 24),
    memories=PipeBits(1 << 41, 3 << 39),
    stage_registers=(0x4000000, 0x80000),
    stage_memories=(0x200_0000_0000, 1 << 34),
    misses=Misses(
        next=0x7FC00,
        next_bits=9,
        immediate=0x7FD40,
        instruction=0x7FDC0,
        action_data=0x7FE40,
        statistics=0x7FEC0,
        meter=0x7FF40,
        idle=0x7FFC0,
    ),
    meter=(0x7300C, 0x400),
    clock_ns=1.0,
    filter=(0x400000, 16),
    parsers=ParserRows(tuple(_parsers()), {0: 0, 1: 8, 2: 16, 3: 24}),
    ports=tuple(_ports()),
    cpu=0,
    recirculation=6,
    mirrored=_MIRRORED,
    mirror=_mirror,
)
