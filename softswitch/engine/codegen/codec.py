"""C code that converts fields from and to octets: extraction, deparsing and the input of hashes.

Neighbouring fields are handled as runs that begin and end on an octet boundary, so that each run
of up to 128 bits is one load or store and some shifts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.codegen.layout import Layout, nbytes, storage
from fcn.softswitch.engine.codegen.value import constant
from fcn.softswitch.engine.errors import UnsupportedError


@dataclass(frozen=True)
class Piece:
    """A field to convert: its C lvalue (or an integer when writing a constant) and width."""

    code: str
    width: int
    literal: int | None = None


def runs(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Split into the shortest runs of whole octets; the last may end within an octet."""
    out: list[list[Piece]] = []
    run: list[Piece] = []
    bits = 0
    for p in pieces:
        run.append(p)
        bits += p.width
        if bits % 8 == 0:
            out.append(run)
            run, bits = [], 0
    if run:
        out.append(run)
    return out


def words(parts: Iterable[tuple[str | None, int]], octets: int) -> Iterable[tuple[str, int]]:
    """C of numbers of so many bits, one behind another in so many octets: words, and the octets of
    each. There is nothing where the code is None. A word whose octets were just stored one by one
    is slow to read: the processor waits until all of them are in the cache."""
    terms: list[list[str]] = [[] for _ in range((octets + 7) // 8)]
    at = 0
    for code, width in parts:
        for word in range(at // 64, (at + width - 1) // 64 + 1) if code is not None else ():
            left = min(64 * (word + 1), 8 * octets) - at - width
            if left < 0:
                terms[word].append(f"(uint64_t)({code} >> {-left})")
            else:
                terms[word].append(f"(uint64_t){code} << {left}" if left else f"(uint64_t){code}")
        at += width
    for word, of in enumerate(terms):
        yield " | ".join(of) or "0", min(8, octets - 8 * word)


def _merged(split: Iterable[list[Piece]]) -> list[list[Piece]]:
    """Neighbouring runs as one, but for those with a field of more than 128 bits."""
    out: list[list[Piece]] = []
    wide = True
    for run in split:
        before, wide = wide, any(p.width > 128 for p in run)
        if before or wide:
            out.append(run)
        else:
            out[-1] = out[-1] + run
    return out


def _octets(p: Piece) -> str:
    """C pointer to the piece as right-aligned octets."""
    if p.literal is not None:
        data = ", ".join(str(b) for b in p.literal.to_bytes(nbytes(p.width), "big"))
        return f"(const uint8_t[]){{{data}}}"
    return p.code


def load(pieces: Sequence[Piece], base: str) -> list[str]:
    """C statements that fill the pieces from the octets at `base`."""
    out: list[str] = []
    at = 0
    for run in runs(pieces):
        bits = sum(p.width for p in run)
        size = nbytes(bits)
        where = f"{base} + {at}" if at else base
        if bits <= 128 and bits % 8 == 0:
            wide = bits > 64
            fn = "sw_ldn128" if wide else "sw_ldn"
            if len(run) == 1:
                out.append(f"{run[0].code} = ({storage(bits)}){fn}({where}, {size});")
            else:
                out.append("{")
                out.append(f"    {'u128' if wide else 'uint64_t'} v = {fn}({where}, {size});")
                left = bits
                for p in run:
                    left -= p.width
                    mask = f"sw_mask{128 if wide else 64}({p.width})"
                    out.append(f"    {p.code} = ({storage(p.width)})((v >> {left}) & {mask});")
                out.append("}")
        elif len(run) == 1 and run[0].width % 8 == 0:
            out.append(f"memcpy({run[0].code}, {where}, {size});")
        else:
            bit = 0
            for p in run:
                out += _load_bits(p, where, bit)
                bit += p.width
        at += size
    return out


def _load_bits(p: Piece, where: str, bit: int) -> list[str]:
    if p.width > 128:
        return [f"sw_bits_get({where}, {bit}, {p.width}, {p.code});"]
    return [
        "{",
        f"    uint8_t b[{nbytes(p.width)}];",
        f"    sw_bits_get({where}, {bit}, {p.width}, b);",
        f"    {p.code} = ({storage(p.width)})sw_ldn128(b, {nbytes(p.width)});",
        "}",
    ]


def store(pieces: Sequence[Piece], base: str) -> list[str]:
    """C statements that write the pieces to the octets at `base`; a last octet is padded with 0."""
    out: list[str] = []
    at = 0
    for run in _merged(runs(pieces)):
        bits = sum(p.width for p in run)
        size = nbytes(bits)
        where = f"{base} + {at}" if at else base
        if all(p.width <= 128 for p in run):
            codes = [
                (p.code if p.literal is None else constant(p.literal).code, p.width) for p in run
            ]
            for i, (code, octets) in enumerate(words(codes, size)):
                out.append(f"sw_stn({base} + {at + 8 * i}, {code}, {octets});")
        elif len(run) == 1 and run[0].width % 8 == 0:
            out.append(f"memcpy({where}, {_octets(run[0])}, {size});")
        else:
            out.append(f"memset({where}, 0, {size});")
            bit = 0
            for p in run:
                out += store_bits(p, where, str(bit))
                bit += p.width
        at += size
    return out


def store_bits(p: Piece, where: str, bit: str) -> list[str]:
    """C statements that write a piece at a bit of the octets at `where`."""
    if p.width > 128 or p.literal is not None:
        return [f"sw_bits_put({where}, {bit}, {p.width}, {_octets(p)});"]
    return [
        "{",
        f"    uint8_t v[{nbytes(p.width)}];",
        f"    sw_stn128(v, {p.code}, {nbytes(p.width)});",
        f"    sw_bits_put({where}, {bit}, {p.width}, v);",
        "}",
    ]


def indent(lines: Iterable[str], depth: int = 1) -> list[str]:
    return ["    " * depth + line for line in lines]


def fixed_bytes(htype: m.HeaderType) -> int:
    """Octets of a header without its varbit."""
    return sum(f.width for f in htype.fields if not f.varbit) // 8


def whole_octets(htype: m.HeaderType) -> bool:
    """Whether a header of the type can be in a packet; metadata may be of any length."""
    return sum(f.width for f in htype.fields) % 8 == 0


def varbit(htype: m.HeaderType) -> m.FieldType | None:
    """The varbit of a header type, if it has one."""
    return next((f for f in htype.fields if f.varbit), None)


def _split(layout: Layout, htype: m.HeaderType) -> tuple[list[Piece], list[Piece]]:
    """Pieces before and after the varbit."""
    before: list[Piece] = []
    after: list[Piece] = []
    target = before
    for f in htype.fields:
        if f.varbit:
            if sum(p.width for p in before) % 8:
                raise UnsupportedError(f"varbit {htype.name}.{f.name} not on an octet boundary")
            target = after
            continue
        target.append(Piece(f"t->{layout.member(htype, f.name)}", f.width))
    return before, after


def header_functions(layout: Layout) -> str:
    """C functions get_<type>, put_<type> and size_<type> of every type of whole octets."""
    out: list[str] = []
    for htype in layout.types.values():
        if not (whole_octets(htype) and layout.is_whole(htype)):
            continue
        name = layout.type_name(htype)
        before, after = _split(layout, htype)
        vl = varbit(htype)
        member = "" if vl is None else f"t->{layout.member(htype, vl.name)}"
        extra = ", uint32_t vl" if vl else ""
        at = sum(p.width for p in before) // 8
        out.append(f"SW_INLINE void get_{name}(struct {name} *t, const uint8_t *d{extra})")
        out.append("{")
        out += indent(load(before, "d"))
        if vl:
            out += indent(
                [
                    f"{member}.bits = vl * 8;",
                    f"memcpy({member}.b, d + {at}, vl);",
                    f"d += {at} + vl;",
                    *load(after, "d"),
                ]
            )
        out += ["    (void)t, (void)d;", "}"]
        out.append(f"SW_INLINE void put_{name}(const struct {name} *t, uint8_t *d)")
        out.append("{")
        out += indent(store(before, "d"))
        if vl:
            out += indent(
                [
                    f"memcpy(d + {at}, {member}.b, {member}.bits / 8);",
                    f"d += {at} + {member}.bits / 8;",
                    *store(after, "d"),
                ]
            )
        out += ["    (void)t, (void)d;", "}"]
        out.append(f"SW_INLINE uint32_t size_{name}(const struct {name} *t)")
        size = str(fixed_bytes(htype)) + (f" + {member}.bits / 8" if vl else "")
        out.append(f"{{ (void)t; return {size}; }}")
    return "\n".join(out) + "\n"
