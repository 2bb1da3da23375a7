"""C code of hash and checksum calculations and their inputs."""

from collections.abc import Sequence

from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.codegen.codec import Piece, indent, store, store_bits
from fcn.softswitch.engine.codegen.layout import Layout, nbytes, storage
from fcn.softswitch.engine.errors import UnsupportedError

MAX_INPUT_BITS = 32768


def input_function(layout: Layout, name: str, inputs: Sequence[m.CalcInput]) -> str:
    """C of `static uint32_t <name>(sw_engine *e, const sw_pkt *p)`.

    It writes the input to e->scratch and returns its length in octets. Fields and headers that
    are not valid are left out; a payload is what follows the parsed headers.
    """
    groups = _groups(layout, inputs)
    if sum(g.bits + g.tail_bits for g in groups) > MAX_INPUT_BITS:
        raise UnsupportedError(f"hash input of more than {MAX_INPUT_BITS} bits")
    body: list[str] = []
    aligned = all(g.bits % 8 == 0 for g in groups[:-1])
    if aligned:
        for g in groups:
            lines = [*store(g.pieces, "b"), f"b += {nbytes(g.bits)};"] if g.pieces else []
            lines += g.tail
            body += _guarded(g.guard, lines)
    else:
        body.append("uint32_t bit = 0;")
        for g in groups:
            if g.tail:
                raise UnsupportedError(f"unaligned fields next to a varbit or header in {name}")
            lines = [line for p in g.pieces for line in _put_at_bit(p)]
            body += _guarded(g.guard, lines)
        body.append("b += (bit + 7) / 8;")
    if any(i.kind == "payload" for i in inputs):
        body += ["sw_put_data(b, p);", "b += sw_size(p);"]
    lines = [
        f"static uint32_t {name}(sw_engine *e, const sw_pkt *p)",
        "{",
        "    const phv *h = sw_phv(p);",
        "    const locals *l = sw_locals(e);",
        "    uint8_t *b = e->scratch;",
        "    (void)h, (void)l;",
        *indent(body),
        "    return (uint32_t)(b - e->scratch);",
        "}",
    ]
    return "\n".join(lines) + "\n"


class _Group:
    """Inputs that are valid together; `tail` writes those without a constant size."""

    def __init__(self, guard: str) -> None:
        self.guard = guard
        self.pieces: list[Piece] = []
        self.tail: list[str] = []
        self.tail_bits = 0

    @property
    def bits(self) -> int:
        return sum(p.width for p in self.pieces)


def _guarded(guard: str, lines: list[str]) -> list[str]:
    return ["if (" + guard + ") {", *indent(lines), "}"] if guard else lines


def _groups(layout: Layout, inputs: Sequence[m.CalcInput]) -> list[_Group]:
    groups: list[_Group] = []

    def group(guard: str) -> _Group:
        if not groups or groups[-1].guard != guard or groups[-1].tail:
            groups.append(_Group(guard))
        return groups[-1]

    for i in inputs:
        if i.kind == "hexstr":
            group("").pieces.append(Piece("", i.width, i.value))
        elif i.kind == "header" and i.header is not None:
            place = layout.header(i.header)
            name = layout.type_name(place.type)
            group(place.valid).tail += [
                f"put_{name}(&{place.code}, b);",
                f"b += size_{name}(&{place.code});",
            ]
            groups[-1].tail_bits += sum(f.width for f in place.type.fields)
        elif i.kind == "field" and i.field is not None:
            place = layout.header(i.field.header)
            if i.field.field == "$valid$":
                guard = "" if place.metadata else place.valid
                group(guard).pieces.append(Piece(place.valid, 1))
                continue
            decl = layout.field_type(place.type, i.field.field)
            code = layout.field(place, decl.name)
            g = group("" if place.metadata else place.valid)
            if decl.varbit:
                g.tail += [f"memcpy(b, {code}.b, {code}.bits / 8);", f"b += {code}.bits / 8;"]
                g.tail_bits += decl.width
            else:
                g.pieces.append(Piece(code, decl.width))
    return groups


def _put_at_bit(p: Piece) -> list[str]:
    return [
        f"memset(b + (bit + 7) / 8, 0, {nbytes(p.width)} + 1);",
        *store_bits(p, "b", "bit"),
        f"bit += {p.width};",
    ]


def calculations(layout: Layout) -> str:
    """C functions `calc_<n>` for every calculation and `select_<n>` for every selector."""
    out = []
    for i, c in enumerate(layout.model.calculations.values()):
        out.append(input_function(layout, f"input_{i}", c.inputs))
        out.append(_hash_function(f"calc_{i}", f"input_{i}", c.algo))
    for i, profile in enumerate(layout.model.profiles()):
        if profile.selector is not None:
            out.append(input_function(layout, f"selector_{i}", profile.selector.inputs))
            out.append(_hash_function(f"select_{i}", f"selector_{i}", profile.selector.algo))
    return "".join(out)


def _hash_function(name: str, source: str, algo: str) -> str:
    return (
        f"static uint64_t {name}(sw_engine *e, const sw_pkt *p)\n"
        "{\n"
        f"    uint32_t n = {source}(e, p);\n"
        f"    return sw_hash_{algo}(e->scratch, n);\n"
        "}\n"
    )


def checksum_code(layout: Layout, condition: str, c: m.Checksum, verify: bool) -> list[str]:
    """C statements that verify or update one checksum."""
    place = layout.header(c.target.header)
    decl = layout.field_type(place.type, c.target.field)
    if decl.width > 64 or decl.varbit:
        raise UnsupportedError(f"checksum in a field of more than 64 bits ({c.name})")
    code = layout.field(place, decl.name)
    index = list(layout.model.calculations).index(c.calculation)
    if verify:
        guard = f"({place.valid}) && " if not place.metadata else ""
        return [
            f"if ({guard}({condition}) && calc_{index}(e, p) != {code})",
            "    p->checksum_error = true;",
        ]
    return [
        f"if ({condition})",
        f"    {code} = ({storage(decl.width)})(calc_{index}(e, p) & sw_mask64({decl.width}));",
    ]
