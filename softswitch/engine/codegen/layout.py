"""Layout of headers and fields in C.

A field of up to 128 bits is an unsigned integer, a wider one its big-endian octets, a varbit its
length in bits with its octets. Elements of a header stack form an array with one additional
element, which accesses beyond the stack's end use.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.codegen.budget import Budget
from fcn.softswitch.engine.codegen.points import Notes, Points
from fcn.softswitch.engine.codegen.sides import Side, one_sided
from fcn.softswitch.engine.errors import ProgramError


def storage(width: int) -> str:
    """The C type of a stored field of at most 128 bits."""
    for bits in (8, 16, 32, 64):
        if width <= bits:
            return f"uint{bits}_t"
    return "u128_mem"


def nbytes(width: int) -> int:
    """Octets that hold `width` bits."""
    return (width + 7) // 8


def _declared(f: m.FieldType, name: str) -> str:
    """The C declaration of a field."""
    if f.varbit:
        return f"struct varbit_{nbytes(f.width)} {name};"
    if f.width > 128:
        return f"uint8_t {name}[{nbytes(f.width)}];"
    return f"{storage(f.width)} {name};"


@dataclass(frozen=True)
class Place:
    """A header in C: an lvalue, its index in the validity array, and that element's C form."""

    code: str
    valid: str
    type: m.HeaderType
    metadata: bool
    dirty: str = ""
    siblings: tuple[str, ...] = ()
    """Elements of the other headers of its union."""

    def make_valid(self) -> list[str]:
        """C statements after which this header is valid, and no other of its union."""
        return [f"{self.valid} = 1;", *(f"{other} = 0;" for other in self.siblings)]


class Layout:
    """C names of everything in the PHV: numbers, and nothing of the program's own names."""

    def __init__(self, model: m.Model, notes: Notes = Notes.NONE) -> None:
        self.model = model
        self.budget = Budget()
        self.points = Points(notes)
        self._types: dict[str, str] = {}
        self._fields: dict[tuple[str, str], str] = {}
        self._declared: dict[tuple[str, str], m.FieldType] = {}
        self._places: dict[str, Place] = {}
        self._in_stack = {h for s in model.stacks.values() for h in s.headers}
        self.stack_index = {name: i for i, name in enumerate(model.stacks)}
        self.stack_base: dict[str, int] = {}
        self.set_index = {name: len(model.tables()) + i for i, name in enumerate(model.value_sets)}
        """Value sets are tables after those of the program."""
        self._stack_of_unions = {
            name: tuple(members.values())
            for members in model.union_stacks.values()
            for name in members.values()
        }
        self._apart = one_sided(model)
        self._name_types()
        self._place_headers()
        self._join_unions()
        self._lvalues = {
            (self._places[ref.header].code, ref.field): f"l->{side.value}.{self._local(ref)}"
            for ref, side in self._apart.items()
        }

    def _name_types(self) -> None:
        types = {h.type.name: h.type for h in self.model.headers.values()}
        for i, (name, htype) in enumerate(types.items()):
            self._types[name] = f"t{i}"
            for k, f in enumerate(htype.fields):
                self._fields[name, f.name] = f"f{k}"
                self._declared[name, f.name] = f
        self.types = types

    def _place_headers(self) -> None:
        slot = 0
        for i, h in enumerate(self.model.headers.values()):
            if h.name in self._in_stack:
                continue
            self._places[h.name] = Place(
                f"h->h{i}",
                f"h->valid[{slot}]",
                h.type,
                h.metadata,
                "" if h.metadata else f"sw_dirty(h, {slot})",
            )
            slot += 1
        for k, s in enumerate(self.model.stacks.values()):
            self.stack_base[s.name] = slot
            for i, name in enumerate(s.headers):
                self._places[name] = Place(
                    f"h->s{k}[{i}]",
                    f"h->valid[{slot + i}]",
                    s.type,
                    False,
                    f"sw_dirty(h, {slot + i})",
                )
            slot += len(s.headers) + 1
        self.slots = slot

    def _join_unions(self) -> None:
        for union in self.model.unions.values():
            valid = {name: self._places[name].valid for name in union}
            for name in union:
                others = tuple(code for other, code in valid.items() if other != name)
                self._places[name] = replace(self._places[name], siblings=others)

    def type_name(self, htype: m.HeaderType) -> str:
        """The struct tag of a header type."""
        return self._types[htype.name]

    def header(self, name: str) -> Place:
        """The C form of a header instance."""
        return self._places[name]

    def member(self, htype: m.HeaderType, field: str) -> str:
        return self._fields[htype.name, field]

    def field(self, place: Place, name: str) -> str:
        """The C lvalue of a field of a header."""
        apart = self._lvalues.get((place.code, name))
        return apart or f"{place.code}.{self.member(place.type, name)}"

    def is_apart(self, place: Place, name: str) -> bool:
        """Whether a field is not in packets, but in the engine's `locals`."""
        return (place.code, name) in self._lvalues

    def is_whole(self, htype: m.HeaderType) -> bool:
        """Whether the struct of a header type has all of its fields."""
        return all(self._type_of(ref).name != htype.name for ref in self._apart)

    def _type_of(self, ref: m.FieldRef) -> m.HeaderType:
        return self.model.headers[ref.header].type

    def _local(self, ref: m.FieldRef) -> str:
        """The member of `locals` that is a field: header types of such have one header."""
        htype = self._type_of(ref)
        return f"{self._types[htype.name]}_{self._fields[htype.name, ref.field]}"

    def field_type(self, htype: m.HeaderType, field: str) -> m.FieldType:
        try:
            return self._declared[htype.name, field]
        except KeyError as error:
            raise ProgramError(f"unknown field {htype.name}.{field}") from error

    def stack_array(self, name: str) -> str:
        return f"h->s{self.stack_index[name]}"

    def stack_valid(self, name: str) -> str:
        """Pointer to the validity of a stack's first element."""
        return f"(h->valid + {self.stack_base[name]})"

    def stack_next(self, name: str) -> str:
        """The number of elements parsed or pushed."""
        first = self._stack_of_unions.get(name, (name,))[0]
        return f"h->next[{self.stack_index[first]}]"

    def stack_element(self, name: str, index: str) -> Place:
        """The element at a run-time index; beyond the end, the additional element."""
        s = self.model.stacks[name]
        size = len(s.headers)
        base = self.stack_base[name]
        at = f"sw_clamp(h, {index}, {size})"
        return Place(
            f"{self.stack_array(name)}[{at}]",
            f"h->valid[{base} + {at}]",
            s.type,
            False,
            f"sw_dirty(h, {base} + {at})",
            tuple(
                f"h->valid[{self.stack_base[other]} + {at}]"
                for other in self._stack_of_unions.get(name, ())
                if other != name
            ),
        )

    def valid_slot(self, header: str) -> int:
        """The index of a header's validity, which is at the beginning of the PHV."""
        return int(self._places[header].valid.removeprefix("h->valid[").removesuffix("]"))

    def field_table(self) -> str:
        """C of where each field of each header is, and of how many octets; those of `locals` are
        behind those of the packet."""
        rows = [
            f"{{{before}offsetof({whose}, {at}), sizeof (({whose} *)0)->{at}}}"
            for h in self.model.headers.values()
            for f in h.type.fields
            for struct, _, at in [self.field(self._places[h.name], f.name).partition("->")]
            for whose, before in [("phv", "") if struct == "h" else ("locals", "sizeof(phv) + ")]
        ]
        return f"SW_API const uint32_t sw_fields[][2] = {{{', '.join(rows or ['{0}'])}}};\n"

    def definitions(self) -> str:
        """C definitions of the header types and of struct phv."""
        out = []
        sizes = {nbytes(f.width) for t in self.types.values() for f in t.fields if f.varbit}
        for size in sorted(sizes):
            out.append(f"struct varbit_{size} {{ uint32_t bits; uint8_t b[{max(1, size)}]; }};")
        for htype in self.types.values():
            out.append(f"struct {self.type_name(htype)} {{")
            apart = {ref.field for ref in self._apart if self._type_of(ref).name == htype.name}
            inside = [f for f in htype.fields if f.name not in apart]
            out += [f"    {_declared(f, self.member(htype, f.name))}" for f in inside]
            if not inside:
                out.append("    uint8_t empty;")
            out.append("};")
        out += self._locals()
        words = (self.slots + 63) // 64
        out.append("typedef struct phv {")
        out.append(f"    uint8_t valid[{max(1, self.slots)}];")
        out.append(f"    uint8_t next[{max(1, len(self.model.stacks))}];")
        out.append(f"    uint64_t dirty[{max(1, words)}];")
        plain = [h for h in self.model.headers.values() if h.name not in self._in_stack]
        for h in sorted(plain, key=lambda x: not x.metadata):
            place = self._places[h.name].code.removeprefix("h->")
            out.append(f"    struct {self.type_name(h.type)} {place};")
        for s in self.model.stacks.values():
            array = self.stack_array(s.name).removeprefix("h->")
            out.append(f"    struct {self.type_name(s.type)} {array}[{len(s.headers) + 1}];")
        out.append("} __attribute__((aligned(16))) phv;")
        out.append("SW_INLINE phv *sw_phv(const sw_pkt *p) { return (phv *)(uintptr_t)p->phv; }")
        out.append("SW_INLINE void sw_dirty(phv *h, unsigned i)")
        out.append("{ h->dirty[i / 64] |= 1ULL << (i % 64); }")
        out.append("SW_INLINE uint64_t sw_clamp(const phv *h, uint64_t i, uint64_t n)")
        out.append("{ (void)h; return i < n ? i : n; }")
        return "\n".join(out) + "\n"

    def _locals(self) -> list[str]:
        """C of the fields that one side of the queues has for itself, in the engine."""
        out = ["typedef struct locals {"]
        for side in Side:
            out.append("    struct {")
            for ref, of in self._apart.items():
                if of is side:
                    declared = self.field_type(self._type_of(ref), ref.field)
                    out.append(f"        {_declared(declared, self._local(ref))}")
            out += ["        uint8_t end;", f"    }} {side.value};"]
        # Stories look at words of it.
        out.append("} __attribute__((aligned(16))) locals;")
        out.append("SW_INLINE locals *sw_locals(sw_engine *e) { return (locals *)e->locals; }")
        return out

    def reset_functions(self) -> str:
        """C of prog_reset and prog_reset_metadata."""
        out = ["static void prog_reset_metadata(sw_pkt *p)", "{", "    phv *h = sw_phv(p);"]
        for h in self.model.headers.values():
            if h.metadata:
                code = self._places[h.name].code
                out.append(f"    memset(&{code}, 0, sizeof {code});")
        out += ["    (void)h;", "}"]
        slots = sorted(self._slots().items())
        words = [(word, dict(each)) for word, each in groupby(slots, lambda slot: slot[0] // 64)]
        for word, places in words:
            out += self._reset_word(word, places)
        out += ["static void prog_reset(sw_pkt *p)", "{", "    phv *h = sw_phv(p);"]
        out += [f"    prog_reset_{word}(h);" for word, _ in words]
        out += [
            "    memset(h->valid, 0, sizeof h->valid);",
            "    memset(h->next, 0, sizeof h->next);",
            "    prog_reset_metadata(p);",
            "}",
        ]
        return "\n".join(out) + "\n"

    @staticmethod
    def _reset_word(word: int, places: Mapping[int, str]) -> list[str]:
        """C that clears what is dirty of one word of slots: no function grows with the program."""
        out = [f"static void prog_reset_{word}(phv *h)", "{"]
        out += [f"    for (uint64_t d = h->dirty[{word}]; d; d &= d - 1) {{"]
        out += [f"        switch ({word * 64} + __builtin_ctzll(d)) {{"]
        for slot, code in places.items():
            out += [
                f"        case {slot}:",
                f"            memset(&{code}, 0, sizeof {code});",
                "            break;",
            ]
        return [*out, "        }", "    }", f"    h->dirty[{word}] = 0;", "}"]

    def _slots(self) -> dict[int, str]:
        """What is at each index of the validity array: headers, and elements of stacks, of which
        there is one more than the program has."""
        slots = {
            self.valid_slot(name): self._places[name].code
            for name in self.model.headers
            if name not in self._in_stack
        }
        for s in self.model.stacks.values():
            for i in range(len(s.headers) + 1):
                slots[self.stack_base[s.name] + i] = f"{self.stack_array(s.name)}[{i}]"
        return slots
