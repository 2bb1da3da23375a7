"""C code of actions and primitives."""

from collections.abc import Sequence
from functools import cache
from inspect import Parameter, signature
from typing import TypeVar

from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.codegen import value as v
from fcn.softswitch.engine.codegen.codec import fixed_bytes, indent, varbit
from fcn.softswitch.engine.codegen.expr import Exprs
from fcn.softswitch.engine.codegen.layout import Layout, Place, nbytes, storage
from fcn.softswitch.engine.errors import ProgramError, UnsupportedError

_Array = TypeVar("_Array", m.Counter, m.Meter, m.Register)
INLINED = 384 << 10
"""Characters of C of the actions that may become part of the pipeline's function (PE: 337 Ki)."""


def cell_size(width: int) -> int:
    """Octets of a register cell."""
    return next(n for n in (1, 2, 4, 8, 16) if width <= n * 8)


@cache
def _parameters(method: str) -> int | None:
    """How many parameters of a primitive a method of Actions takes; None: any number."""
    of_it = signature(getattr(Actions, method)).parameters
    kinds = [x.kind for name, x in of_it.items() if name not in ("self", "exprs", "_exprs")]
    return None if Parameter.VAR_POSITIONAL in kinds else len(kinds)


class Actions:
    """Generates the action functions and the packing of their arguments."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.model = layout.model
        self.widest = 0
        self.calculations = list(self.model.calculations)
        self.counters = [c for c in self.model.counters.values() if not c.direct]
        self.meters = [c for c in self.model.meters.values() if not c.direct]
        self.registers = list(self.model.registers.values())

    def definitions(self) -> str:
        """C structs of action data, and what fills them from arguments."""
        out = []
        for a in self.model.actions.values():
            if any(p.width > 2048 for p in a.params):
                raise UnsupportedError(f"argument of more than 2048 bits in {a.name}")
            out.append(f"struct ad_{a.id} {{")
            for i, p in enumerate(a.params):
                if p.width > 128:
                    out.append(f"    uint8_t a{i}[{nbytes(p.width)}];")
                else:
                    out.append(f"    {storage(p.width)} a{i};")
            out.append("};" if a.params else "    uint8_t none;\n};")
        return "\n".join(out) + "\n" + self._arguments()

    def _arguments(self) -> str:
        """C arrays of where each argument of each action is in its data, by action id."""
        rows, first = [], [0]
        for number in range(max(self.model.actions, default=-1) + 1):
            action = self.model.actions.get(number)
            for i, p in enumerate(action.params if action else ()):
                rows.append(f"{{offsetof(struct ad_{number}, a{i}), {p.width}}}")
            first.append(len(rows))
        return (
            f"static const sw_arg prog_args[] = {{{', '.join(rows or ['{0}'])}}};\n"
            f"static const uint32_t prog_first_arg[] = {{{', '.join(map(str, first))}}};\n"
        )

    def functions(self) -> str:
        """C functions act_<id>.

        A compiler needs far more than twice the time for a function of twice the length, and it
        puts actions into the function of the pipeline: so that this remains bounded, those beyond
        INLINED characters stay functions of their own.
        """
        texts = []
        total = 0
        for a in self.model.actions.values():
            text = "\n".join(self._function(a))
            total += len(text)
            texts.append(("static " if total <= INLINED else "SW_OWN ") + text)
        return "\n".join(texts) + "\n"

    def _function(self, a: m.Action) -> list[str]:
        exprs = Exprs(self.layout, a.params)
        out = [
            f"void act_{a.id}(sw_engine *e, sw_pkt *p, phv *h, const struct ad_{a.id} *d)",
            "{",
            "    locals *l = sw_locals(e);",
            "    (void)e, (void)p, (void)h, (void)d, (void)l;",
        ]
        targets = self._jump_targets(a)
        for i, prim in enumerate(a.primitives):
            if i in targets:
                out.append(f"at_{i}:;")
            if prim.op in ("_jump", "_jump_if_zero"):
                out += indent(self._jump(exprs, prim, i))
            else:
                out += indent(["{", *indent(self.primitive(exprs, prim)), "}"])
        if len(a.primitives) in targets:
            out.append(f"at_{len(a.primitives)}:;")
        out.append("}")
        self.widest = max(self.widest, exprs.widest)
        return out

    @staticmethod
    def _jump_targets(a: m.Action) -> set[int]:
        out = set()
        for p in a.primitives:
            if p.op in ("_jump", "_jump_if_zero"):
                target = p.params[-1] if len(p.params) == 1 + (p.op != "_jump") else None
                if not isinstance(target, m.Const) or not (0 <= target.value <= len(a.primitives)):
                    raise ProgramError(f"jump to an unknown primitive in {a.name}")
                out.add(target.value)
        return out

    @staticmethod
    def _jump(exprs: Exprs, p: m.Primitive, at: int) -> list[str]:
        """C of a jump; how often a packet goes back is bounded, so that an action ends."""
        target = p.params[-1]
        assert isinstance(target, m.Const)
        go = [f"goto at_{target.value};"]
        if target.value <= at:
            go = ["{", "    if (!sw_again(e, p))", "        return;", *indent(go), "}"]
        if p.op == "_jump":
            return go
        cond = exprs.data(p.params[0])
        zero = v.constant(0, cond.kind).code
        test = f"sw_w_cmp({cond.code}, {zero}) == 0" if cond.kind == "w" else f"{cond.code} == 0"
        return [f"if ({test})", *indent(go)]

    # Primitives

    def primitive(self, exprs: Exprs, p: m.Primitive) -> list[str]:
        """C statements of one primitive call."""
        method = getattr(self, "_do_" + p.op.lstrip("_"), None)
        if method is None:
            raise UnsupportedError(f"primitive {p.op!r}")
        if _parameters(method.__name__) not in (len(p.params), None):
            raise ProgramError(f"primitive {p.op!r} with {len(p.params)} parameters")
        lines: list[str] = method(exprs, *p.params)
        return self.layout.budget.lines(lines)

    def _u64(self, exprs: Exprs, e: m.Param) -> str:
        return v.convert(v.cut(exprs.data(e, 64), 64), "u64")

    def _u16(self, exprs: Exprs, e: m.Param) -> str:
        return f"(uint16_t){self._u64(exprs, e)}"

    def _index(self, exprs: Exprs, e: m.Param) -> str:
        x = exprs.data(e)
        if x.kind in ("u64", "s64"):
            return v.convert(x, "u64")
        raise UnsupportedError("an index of more than 64 bits")

    @staticmethod
    def _name(p: m.Param) -> str:
        if not isinstance(p, m.Named):
            raise ProgramError("an array or calculation is expected")
        return p.name

    def _do_assign(self, exprs: Exprs, target: m.Param, source: m.Param) -> list[str]:
        return exprs.store(target, source)

    _do_modify_field = _do_assign

    @staticmethod
    def _do_assign_VL(exprs: Exprs, target: m.Param, source: m.Param) -> list[str]:  # noqa: N802
        return exprs.store_varbit(target, source)

    def _do_assign_header(self, exprs: Exprs, target: m.Param, source: m.Param) -> list[str]:
        to, come = exprs.place(target), exprs.place(source)
        if to.type != come.type:
            raise ProgramError(f"assignment of {come.type.name} to {to.type.name}")
        return [
            f"{to.valid} = {come.valid};",
            f"if ({come.valid}) {{",
            f"    {to.code} = {come.code};",
            f"    {to.dirty};",
            *indent(to.make_valid()),
            "}",
        ]

    _do_copy_header = _do_assign_header

    def _do_assign_header_stack(self, exprs: Exprs, t: m.Param, s: m.Param) -> list[str]:
        if not (isinstance(t, m.StackRef) and isinstance(s, m.StackRef)):
            raise ProgramError("assign_header_stack of something other than stacks")
        out = [f"{self.layout.stack_next(t.name)} = {self.layout.stack_next(s.name)};"]
        to_stack, from_stack = self.model.stacks[t.name], self.model.stacks[s.name]
        if len(to_stack.headers) != len(from_stack.headers):
            raise ProgramError(f"assignment of {s.name} to {t.name}, which has another size")
        pairs = zip(to_stack.headers, from_stack.headers, strict=True)
        for to, come in pairs:
            out += self._do_assign_header(exprs, m.HeaderRef(to), m.HeaderRef(come))
        return out

    def _do_add_header(self, exprs: Exprs, target: m.Param) -> list[str]:
        place = exprs.place(target)
        return [
            f"if (!{place.valid}) {{",
            f"    memset(&{place.code}, 0, sizeof {place.code});",
            *indent(place.make_valid()),
            f"    {place.dirty};",
            f"    p->reg_len += {fixed_bytes(place.type)};",
            "}",
        ]

    def _do_add_header_fast(self, exprs: Exprs, target: m.Param) -> list[str]:
        """As simple_switch: neither cleared nor counted in the packet's length."""
        return exprs.place(target).make_valid()

    def _do_remove_header(self, exprs: Exprs, target: m.Param) -> list[str]:
        place = exprs.place(target)
        vl = varbit(place.type)
        size = str(fixed_bytes(place.type))
        if vl is not None:
            size += f" + {self.layout.field(place, vl.name)}.bits / 8"
        return [
            f"if ({place.valid}) {{",
            f"    {place.valid} = 0;",
            f"    p->reg_len -= {size};",
            "}",
        ]

    def _do_push(self, exprs: Exprs, stack: m.Param, count: m.Param) -> list[str]:
        return self._shift_stack(exprs, stack, count, "push")

    def _do_pop(self, exprs: Exprs, stack: m.Param, count: m.Param) -> list[str]:
        return self._shift_stack(exprs, stack, count, "pop")

    def _shift_stack(self, exprs: Exprs, stack: m.Param, count: m.Param, how: str) -> list[str]:
        if isinstance(stack, m.UnionStackRef):
            return self._shift_unions(exprs, stack, count, how)
        if not isinstance(stack, m.StackRef):
            raise ProgramError(f"{how} on something other than a header stack")
        s = self.model.stacks[stack.name]
        size = len(s.headers)
        array = self.layout.stack_array(stack.name)
        base = self.layout.stack_base[stack.name]
        return [
            f"sw_stack_{how}({array}, sizeof {array}[0], {self.layout.stack_valid(stack.name)},",
            f"    &{self.layout.stack_next(stack.name)}, {size}, {self._u64(exprs, count)});",
            f"for (unsigned i = 0; i < {size}; i++)",
            f"    sw_dirty(h, {base} + i);",
        ]

    def _shift_unions(
        self, exprs: Exprs, stack: m.UnionStackRef, count: m.Param, how: str
    ) -> list[str]:
        """BMv2 rotates a stack of unions: what leaves one end returns at the other, valid."""
        members = list(self.model.union_stacks[stack.name].values())
        size = len(self.model.stacks[members[0]].headers)
        nxt = self.layout.stack_next(members[0])
        turn = {"push": "up", "pop": "down"}[how]
        out = [f"uint64_t count = {self._u64(exprs, count)};"]
        for member in members:
            array, base = self.layout.stack_array(member), self.layout.stack_base[member]
            valid = self.layout.stack_valid(member)
            out.append(f"sw_stack_{turn}({array}, sizeof {array}[0], {valid}, {size}, count);")
            out.append(f"for (unsigned i = 0; i < {size}; i++)")
            out.append(f"    sw_dirty(h, {base} + i);")
        return [*out, f"sw_next_{how}(&{nxt}, {size}, count);"]

    def _do_drop(self, exprs: Exprs) -> list[str]:
        return self._do_mark_to_drop(exprs, m.HeaderRef("standard_metadata"))

    def _do_mark_to_drop(self, exprs: Exprs, standard: m.Param) -> list[str]:
        place: Place = exprs.place(standard)
        spec = self.layout.field(place, "egress_spec")
        width = self.layout.field_type(place.type, "egress_spec").width
        out = [
            exprs.store_code(
                spec,
                width,
                v.Value("(uint64_t)e->drop_port", "u64", 0, (1 << 32) - 1),
            )
        ]
        if any(f.name == "mcast_grp" for f in place.type.fields):
            out.append(f"{self.layout.field(place, 'mcast_grp')} = 0;")
        return out

    def _do_generate_digest(self, exprs: Exprs, _receiver: m.Param, list_id: m.Param) -> list[str]:
        return [f"p->learn_list = {self._u16(exprs, list_id)};"]

    def _do_clone_ingress_pkt_to_egress(
        self, exprs: Exprs, session: m.Param, list_id: m.Param
    ) -> list[str]:
        return [
            f"p->clone_session = {self._u16(exprs, session)} | SW_SESSION_VALID;",
            f"p->clone_list = {self._u16(exprs, list_id)};",
        ]

    _do_clone_egress_pkt_to_egress = _do_clone_ingress_pkt_to_egress

    def _do_resubmit(self, exprs: Exprs, list_id: m.Param) -> list[str]:
        return [f"p->resubmit_list = {self._u16(exprs, list_id)};"]

    def _do_recirculate(self, exprs: Exprs, list_id: m.Param) -> list[str]:
        return [f"p->recirculate_list = {self._u16(exprs, list_id)};"]

    def _do_truncate(self, exprs: Exprs, length: m.Param) -> list[str]:
        return [
            f"uint64_t n = {self._u64(exprs, length)};",
            "if (n < p->truncated)",
            "    p->truncated = (uint32_t)n;",
        ]

    def _do_modify_field_with_hash_based_offset(
        self, exprs: Exprs, target: m.Param, base: m.Param, calc: m.Param, size: m.Param
    ) -> list[str]:
        if self._name(calc) not in self.model.calculations:
            raise ProgramError(f"unknown calculation {self._name(calc)!r}")
        index = self.calculations.index(self._name(calc))
        x = v.Value("r", "u64", 0, (1 << 64) - 1)
        return [
            f"uint64_t n = {self._u64(exprs, size)};",
            f"uint64_t r = calc_{index}(e, p) % (n ? n : 1) + {self._u64(exprs, base)};",
            *exprs.store(target, x),
        ]

    def _do_modify_field_rng_uniform(
        self, exprs: Exprs, target: m.Param, low: m.Param, high: m.Param
    ) -> list[str]:
        x = v.Value("sw_random(e, low, high)", "u64", 0, (1 << 64) - 1)
        return [
            f"uint64_t low = {self._u64(exprs, low)}, high = {self._u64(exprs, high)};",
            "if (low <= high) {",
            *indent(exprs.store(target, x)),
            "}",
        ]

    def _do_count(self, exprs: Exprs, counter: m.Param, index: m.Param) -> list[str]:
        k, array = self._array(self.counters, counter)
        return [
            f"uint64_t i = {self._index(exprs, index)};",
            *self.layout.points.cell("counter", array.name),
            f"if (i < {array.size})",
            f"    sw_count(&e->counters[{k}][i], p);",
        ]

    def _do_execute_meter(
        self, exprs: Exprs, meter: m.Param, index: m.Param, target: m.Param
    ) -> list[str]:
        k, array = self._array(self.meters, meter)
        x = v.Value(f"(uint64_t)sw_meter_run(e, &e->meters[{k}][i], p->ingress_len)", "u64", 0, 2)
        return [
            f"uint64_t i = {self._index(exprs, index)};",
            *self.layout.points.cell("meter", array.name),
            f"if (i < {array.size}) {{",
            *indent(exprs.store(target, x)),
            "}",
        ]

    def _array(self, arrays: Sequence[_Array], p: m.Param) -> tuple[int, _Array]:
        name = self._name(p)
        for k, a in enumerate(arrays):
            if a.name == name:
                return k, a
        raise ProgramError(f"unknown array {name!r}")

    def _cell(self, k: int, r: m.Register) -> str:
        ctype = storage(r.width).replace("u128_mem", "u128")
        return f"(({ctype} *)e->registers[{k}])[i]"

    def _do_register_read(
        self, exprs: Exprs, target: m.Param, register: m.Param, index: m.Param
    ) -> list[str]:
        k, r = self._array(self.registers, register)
        kind = v.modular_kind(r.width)
        x = v.Value(f"({v.ctype(kind)}){self._cell(k, r)}", kind, 0, (1 << r.width) - 1)
        return [
            f"uint64_t i = {self._index(exprs, index)};",
            *self.layout.points.cell("register read", r.name, r.size, self._cell(k, r)),
            f"if (i < {r.size}) {{",
            *indent(exprs.store(target, x)),
            "}",
        ]

    def _do_register_write(
        self, exprs: Exprs, register: m.Param, index: m.Param, source: m.Param
    ) -> list[str]:
        k, r = self._array(self.registers, register)
        x = exprs.data(source, r.width)
        return [
            f"uint64_t i = {self._index(exprs, index)};",
            f"if (i < {r.size})",
            "    " + exprs.store_code(self._cell(k, r), r.width, x),
            *self.layout.points.cell("register write", r.name, r.size, self._cell(k, r)),
        ]

    @staticmethod
    def _do_exit(_exprs: Exprs) -> list[str]:
        return ["p->exit = true;"]

    @staticmethod
    def _do_no_op(_exprs: Exprs) -> list[str]:
        return []

    @staticmethod
    def _do_log_msg(_exprs: Exprs, *_args: m.Param) -> list[str]:
        return []

    @staticmethod
    def _do_assert(exprs: Exprs, condition: m.Param) -> list[str]:
        x = exprs.data(condition)
        return [f"if ({x.code} == 0)", "    sw_assert_failed(e, p);"]

    _do_assume = _do_assert
