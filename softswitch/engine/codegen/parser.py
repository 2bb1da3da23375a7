"""C code of the parser and the deparser."""

from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.codegen import value as v
from fcn.softswitch.engine.codegen.actions import Actions
from fcn.softswitch.engine.codegen.blocks import Block, Frame, divide
from fcn.softswitch.engine.codegen.calc import checksum_code
from fcn.softswitch.engine.codegen.codec import fixed_bytes, indent, varbit
from fcn.softswitch.engine.codegen.control_blocks import set_words
from fcn.softswitch.engine.codegen.expr import Exprs
from fcn.softswitch.engine.codegen.layout import Layout, Place, nbytes
from fcn.softswitch.engine.errors import ProgramError, UnsupportedError

_CORE_ERRORS = (
    "NoError", "PacketTooShort", "NoMatch", "StackOutOfBounds", "HeaderTooShort",
    "ParserTimeout", "ParserInvalidArgument",
)  # fmt: skip

MAX_REPETITIONS = 16384
"""Transitions back to an earlier state while one packet is parsed: more than it has octets."""

DEPARSED = 64
"""Headers of which the deparser puts out as many in one function, where there are more."""


class Parser:
    """Generates prog_parse and prog_deparse."""

    def __init__(self, layout: Layout, exprs: Exprs, actions: Actions) -> None:
        self.layout = layout
        self.model = layout.model
        self.exprs = exprs
        self.actions = actions
        # Core errors that the program does not list get numbers it cannot compare with.
        self.errors = dict(self.model.errors)
        for name in _CORE_ERRORS:
            self.errors.setdefault(name, max(self.errors.values(), default=-1) + 1)
        self.order = {s: i for i, s in enumerate(self.model.states)}
        self.labels = {s: f"state_{i}" for s, i in self.order.items()}

    def parse_function(self) -> str:
        """C of prog_parse: extract headers, keep the error, verify checksums."""
        frame = Frame(
            "sw_engine *e, sw_pkt *p, sw_parsing *s",
            "e, p, &s",
            (
                "phv *h = sw_phv(p);",
                "locals *l = sw_locals(e);",
                "const uint8_t *d = sw_data(p);",
                "uint32_t len = sw_at_hand(p);",
                "uint32_t off = s->off, repetitions = s->repetitions;",
                "(void)e, (void)h, (void)l, (void)d, (void)len;",
            ),
            ("s->off = off;", "s->repetitions = repetitions;"),
        )
        blocks = []
        for state in self.model.states.values():
            mark = self.layout.points.mark("parser", state.name)
            blocks.append(Block(self.labels[state.name], mark + self._state(state)))
        functions, run = divide("prog_parse", frame, self._label(self.model.init_state), blocks)
        out = [
            functions + "static void prog_parse(sw_engine *e, sw_pkt *p)",
            "{",
            "    phv *h = sw_phv(p);",
            "    locals *l = sw_locals(e);",
            "    memset(&l->in, 0, sizeof l->in);",
            "    sw_parsing s = {0, 0};",
            f"    p->parser_error = {self.errors['NoError']};",
            "    p->checksum_error = false;",
            "    (void)e, (void)h;",
            *indent(run),
            "    p->head += s.off;",
            "    p->len -= s.off;",
        ]
        for c in self.model.checksums:
            if c.verify:
                out += indent(checksum_code(self.layout, self._condition(c), c, True))
        out.append("}")
        return "\n".join(out) + "\n"

    def _condition(self, c: m.Checksum) -> str:
        return "1" if c.condition is None else self.exprs.boolean(c.condition)

    def _label(self, state: str | None) -> str:
        if state is None:
            return "end"
        if state not in self.labels:
            raise ProgramError(f"unknown parser state {state!r}")
        return self.labels[state]

    def _go(self, start: m.ParseState, number: int, end: str | None) -> str:
        """C of a transition. Every cycle has one to a state that is not later in the program."""
        mark = self.layout.points.mark("parser", start.name, str(number))
        go = " ".join([*mark, f"goto {self._label(end)};"])
        if end is None or self.order[end] > self.order[start.name]:
            return f"{{ {go} }}" if mark else go
        timeout = self._fail("ParserTimeout")
        return f"{{ if (++repetitions > {MAX_REPETITIONS}) {timeout} {go} }}"

    def _fail(self, error: str) -> str:
        return f"{{ p->parser_error = {self.errors[error]}; goto end; }}"

    def _state(self, state: m.ParseState) -> list[str]:
        out: list[str] = []
        for op in state.ops:
            out += self._op(op)
        return self.layout.budget.lines(out + self._select(state))

    def _op(self, op: m.ParserOp) -> list[str]:
        if op.primitive is not None:
            return self.actions.primitive(self.exprs, op.primitive)
        if op.op == "extract":
            return self._extract(op, None)
        if op.op == "extract_VL":
            bits = self.exprs.data(op.params[1])
            return self._extract(op, v.convert(bits, "u64"))
        if op.op == "set":
            return self._set(op)
        if op.op == "verify":
            code = v.convert(self.exprs.data(op.params[1]), "u64")
            return [
                f"if (!{self.exprs.boolean(op.params[0])})",
                f"    {{ p->parser_error = (uint32_t){code}; goto end; }}",
            ]
        return self._advance(op)

    def _extract(self, op: m.ParserOp, bits: str | None) -> list[str]:
        target = op.params[0]
        out: list[str] = []
        if isinstance(target, m.StackRef):
            nxt = self.layout.stack_next(target.name)
            size = len(self.model.stacks[target.name].headers)
            out.append(f"if ({nxt} >= {size})")
            out.append("    " + self._fail("StackOutOfBounds"))
            place = self.layout.stack_element(target.name, nxt)
        else:
            place = self.exprs.place(target)
        out += self._extract_to(place, bits)
        if isinstance(target, m.StackRef):
            out.append(f"{self.layout.stack_next(target.name)}++;")
        return ["{", *indent(out), "}"]

    def _extract_to(self, place: Place, bits: str | None) -> list[str]:
        fixed = fixed_bytes(place.type)
        name = self.layout.type_name(place.type)
        vl = varbit(place.type)
        if bits is None:
            if vl is not None:
                raise UnsupportedError(f"extract of {place.type.name} without a length")
            return [
                f"if (SW_TOO_SHORT({fixed}))",
                "    " + self._fail("PacketTooShort"),
                f"get_{name}(&{place.code}, d + off);",
                *place.make_valid(),
                f"{place.dirty};",
                f"off += {fixed};",
            ]
        if vl is None:
            raise UnsupportedError(f"extract of {place.type.name} with a length but no varbit")
        return [
            f"uint64_t bits = {bits};",
            "if (bits % 8)",
            "    " + self._fail("ParserInvalidArgument"),
            f"if (SW_TOO_SHORT({fixed} + bits / 8))",
            "    " + self._fail("PacketTooShort"),
            f"if (bits / 8 > {nbytes(vl.width)})",
            "    " + self._fail("HeaderTooShort"),
            f"get_{name}(&{place.code}, d + off, (uint32_t)(bits / 8));",
            *place.make_valid(),
            f"{place.dirty};",
            f"off += {fixed} + (uint32_t)(bits / 8);",
        ]

    def _set(self, op: m.ParserOp) -> list[str]:
        target, source = op.params
        if isinstance(source, m.Lookahead):
            x, check = self._lookahead(source)
            return [*check, "{", *indent(x[0]), *indent(self.exprs.store(target, x[1])), "}"]
        if self.exprs.is_varbit(target):
            return self.exprs.store_varbit(target, source)
        return self.exprs.store(target, source)

    def _lookahead(self, look: m.Lookahead) -> tuple[tuple[list[str], v.Value], list[str]]:
        """Statements and value of a lookahead, and the check of the packet's length."""
        need = nbytes(look.offset + look.width)
        check = [f"if (SW_TOO_SHORT({need}))", "    " + self._fail("PacketTooShort")]
        byte, bit = divmod(look.offset, 8)
        size = nbytes(look.width)
        where = f"d + off + {byte}" if byte else "d + off"
        high = (1 << look.width) - 1
        if bit + look.width <= 64:
            n = nbytes(bit + look.width)
            shift = n * 8 - bit - look.width
            code = f"((sw_ldn({where}, {n}) >> {shift}) & sw_mask64({look.width}))"
            return ([], v.Value(code, "u64", 0, high)), check
        lines = [f"uint8_t look[{size}];", f"sw_bits_get({where}, {bit}, {look.width}, look);"]
        kind = v.modular_kind(look.width)
        load = f"sw_w_ld(look, {size})" if kind == "w" else f"sw_ldn128(look, {size})"
        x = v.Value(load, "w" if kind == "w" else "u128", 0, high)
        self.exprs.widest = max(self.exprs.widest, look.width if kind == "w" else 0)
        return (lines, x), check

    def _advance(self, op: m.ParserOp) -> list[str]:
        bits = v.convert(self.exprs.data(op.params[0]), "u64")
        return [
            "{",
            f"    uint64_t bits = {bits};",
            "    if (bits % 8)",
            "        " + self._fail("ParserInvalidArgument"),
            "    if (SW_TOO_SHORT(bits / 8))",
            "        " + self._fail("PacketTooShort"),
            "    off += (uint32_t)(bits / 8);",
            "}",
        ]

    def _select(self, state: m.ParseState) -> list[str]:
        default = next((t.next_state for t in state.transitions if t.value is None), None)
        cases = [t for t in state.transitions if t.value is not None]
        if not state.key or not cases:
            return [self._go(state, len(cases), default)]
        keys: list[v.Value] = []
        widths: list[int] = []
        out: list[str] = []
        for k, e in enumerate(state.key):
            if isinstance(e, m.Lookahead):
                (lines, x), check = self._lookahead(e)
                out += check
                out += lines
                widths.append(e.width)
            else:
                x = self.exprs.data(e)
                widths.append(self._width(e))
                x = v.cut(x, widths[-1])
            keys.append(v.Value(f"k{k}", x.kind, 0, (1 << widths[-1]) - 1))
            # Masks of the transitions may leave nothing of it.
            out.append(f"{v.ctype(x.kind)} k{k} = {x.code}; (void)k{k};")
        for number, t in enumerate(cases):
            go = self._go(state, number, t.next_state)
            if t.value_set is not None:
                out += self._in_set(keys, widths, t, go)
                continue
            out.append(f"if ({self._matches(keys, widths, t)})")
            out.append("    " + go)
        out.append(self._go(state, len(cases), default))
        return ["{", *indent(out), "}"]

    def _in_set(
        self, keys: list[v.Value], widths: list[int], t: m.Transition, go: str
    ) -> list[str]:
        """C that looks the key up in a value set: its components without padding between them."""
        assert t.value_set is not None
        s = self.model.value_sets[t.value_set]
        if sum(widths) != s.width:
            raise ProgramError(
                f"a key of {sum(widths)} bits for the value set {s.name} of {s.width} bits"
            )
        words = set_words(s)
        out = [
            f"sw_table *t = &e->tables[{self.layout.set_index[s.name]}];",
            f"uint64_t key[{words}] __attribute__((aligned(8))) = {{0}};",
            f"uint8_t part[{max(nbytes(w) for w in widths)}];",
        ]
        at = nbytes(s.width) * 8 - s.width
        for key, width in zip(keys, widths, strict=True):
            put = "sw_w_st(part, {1}, {0});" if key.kind == "w" else "sw_stn128(part, {0}, {1});"
            out.append(put.format(key.code, nbytes(width)))
            out.append(f"sw_bits_put((uint8_t *)key, {at}, {width}, part);")
            at += width
        out.append(f"if (sw_find_exact(t, key, {words}))")
        out.append(f"    {go}")
        return ["{", *indent(out), "}"]

    def _width(self, e: m.Expr) -> int:
        if isinstance(e, m.FieldRef) and e.field == "$valid$":
            return 1
        if isinstance(e, (m.FieldRef, m.LastField)):
            return self.exprs.lvalue(e)[1].width
        raise UnsupportedError(f"{type(e).__name__} in a parser transition key")

    @staticmethod
    def _matches(keys: list[v.Value], widths: list[int], t: m.Transition) -> str:
        """Compare octet-padded key components with a transition."""
        left = sum(nbytes(w) for w in widths) * 8
        tests = []
        for key, width in zip(keys, widths, strict=True):
            left -= nbytes(width) * 8
            full = (1 << nbytes(width) * 8) - 1
            value = (t.value or 0) >> left & full
            mask = full if t.mask is None else t.mask >> left & full
            masked = mask & (1 << width) - 1
            if masked == 0:
                if value & mask:
                    return "0"
                continue
            if key.kind == "w":
                x, want = v.constant(masked, "w").code, v.constant(value & masked, "w").code
                tests.append(f"sw_w_cmp(sw_w_and({key.code}, {x}), {want}) == 0")
            elif masked == (1 << width) - 1:
                tests.append(f"{key.code} == {v.constant(value & mask, key.kind).code}")
            else:
                x = v.constant(masked, key.kind).code
                tests.append(f"({key.code} & {x}) == {v.constant(value & mask, key.kind).code}")
        return " && ".join(tests) or "1"

    def deparse_function(self) -> str:
        """C of prog_deparse: update checksums, put valid headers before the payload."""
        order = self.model.deparse_order
        groups = [order[i : i + DEPARSED] for i in range(0, len(order), DEPARSED)]
        kind = "static" if len(groups) == 1 else "SW_OWN"
        parts: list[str] = []
        for i, group in enumerate(groups):
            sizes = [f"uint32_t prog_size_{i}(const phv *h)", "{", "    uint32_t size = 0;"]
            puts = [f"uint8_t *prog_put_{i}(const phv *h, uint8_t *d)", "{"]
            for name in group:
                place = self.layout.header(name)
                tname = self.layout.type_name(place.type)
                sizes.append(f"    if ({place.valid})")
                sizes.append(f"        size += size_{tname}(&{place.code});")
                puts.append(f"    if ({place.valid}) {{")
                puts.append(f"        put_{tname}(&{place.code}, d);")
                puts.append(f"        d += size_{tname}(&{place.code});")
                puts.append("    }")
            parts += [f"{kind} {sizes[0]}", *sizes[1:], "    return size;", "}"]
            parts += [f"{kind} {puts[0]}", *puts[1:], "    return d;", "}"]
        out = [
            *parts,
            "static void prog_deparse(sw_engine *e, sw_pkt *p)",
            "{",
            "    phv *h = sw_phv(p);",
            "    locals *l = sw_locals(e);",
            "    uint32_t size = 0;",
            "    (void)e, (void)h, (void)l;",
        ]
        for c in self.model.checksums:
            if c.update:
                out += indent(checksum_code(self.layout, self._condition(c), c, False))
        out += [f"    size += prog_size_{i}(h);" for i in range(len(groups))]
        out += [
            "    if (SW_UNLIKELY(size > p->head) && !sw_pkt_widen(e, p, size)) {",
            "        e->growth_drops++;",
            "        p->dropped = true;",
            "        return;",
            "    }",
            "    p->head -= size;",
            "    p->len += size;",
            "    uint8_t *d = sw_data(p);",
            *(f"    d = prog_put_{i}(h, d);" for i in range(len(groups))),
            "    (void)d;",
            "}",
        ]
        return "\n".join(out) + "\n"
