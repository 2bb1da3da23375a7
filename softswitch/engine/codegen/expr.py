"""C code of expressions."""

from collections.abc import Sequence
from dataclasses import replace

from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.bmv2json import limits
from fcn.softswitch.engine.codegen import value as v
from fcn.softswitch.engine.codegen.layout import Layout, Place, nbytes
from fcn.softswitch.engine.codegen.value import Value
from fcn.softswitch.engine.errors import ProgramError, UnsupportedError

_COMPARE = {"==", "!=", "<", "<=", ">", ">="}
_BOOLEAN = _COMPARE | {"and", "or", "not", "valid", "valid_union", "d2b"}
_RING = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
_SHIFT_LIMIT = 8192


class Exprs:
    """Translates expressions; `params` are the parameters of the enclosing action."""

    def __init__(self, layout: Layout, params: Sequence[m.ActionParam] = ()) -> None:
        self.layout = layout
        self.params = params
        self.widest = 0

    # Headers and fields

    def place(self, e: m.Param) -> Place:
        """The header an expression denotes."""
        place = self._place(e)
        self.layout.budget.spend(len(place.code))
        return place

    def _place(self, e: m.Param) -> Place:
        if isinstance(e, m.HeaderRef):
            return self.layout.header(e.name)
        if isinstance(e, m.Op) and e.op == "dereference_header_stack":
            if not isinstance(e.left, m.StackRef) or e.right is None:
                raise UnsupportedError("indexing of something other than a header stack")
            index = self.data(e.right)
            code = (
                v.convert(index, "u64")
                if index.kind != "w"
                else f"(uint64_t)sw_w_low({index.code})"
            )
            return self.layout.stack_element(e.left.name, code)
        if isinstance(e, m.LastField) and e.field == "last":
            return self._last(e)
        raise UnsupportedError(f"{type(e).__name__} where a header is expected")

    def _last(self, e: m.LastField) -> Place:
        nxt = self.layout.stack_next(e.stack)
        return self.layout.stack_element(e.stack, f"((uint64_t){nxt} - 1)")

    def lvalue(self, e: m.Param) -> tuple[Place, m.FieldType, str]:
        """A field that can be assigned: its header, declaration and C lvalue."""
        if isinstance(e, m.FieldRef):
            place, name = self.layout.header(e.header), e.field
        elif isinstance(e, m.LastField):
            place, name = self._last(e), e.field
        elif isinstance(e, m.Op) and e.op == "access_field" and e.left is not None:
            place = self.place(e.left)
            if e.index >= len(place.type.fields):
                raise ProgramError(f"field {e.index} of {place.type.name}, which has fewer")
            name = place.type.fields[e.index].name
        else:
            raise UnsupportedError(f"{type(e).__name__} where a field is expected")
        if name == "$valid$":
            raise UnsupportedError("assignment to $valid$")
        decl = self.layout.field_type(place.type, name)
        if self.layout.is_apart(place, name):
            place = replace(place, dirty="")
        return place, decl, self.layout.field(place, name)

    # Booleans

    def is_bool(self, e: m.Param) -> bool:
        """Whether the expression is a truth value rather than an integer."""
        if isinstance(e, m.BoolConst):
            return True
        if isinstance(e, m.Op):
            if e.op == "?":
                return e.left is not None and self.is_bool(e.left)
            return e.op in _BOOLEAN
        return False

    def boolean(self, e: m.Param | None) -> str:
        """C of a truth value."""
        code = self._boolean(e)
        self.layout.budget.spend(len(code))
        return code

    def _boolean(self, e: m.Param | None) -> str:
        if isinstance(e, m.BoolConst):
            return "1" if e.value else "0"
        if not isinstance(e, m.Op):
            raise ProgramError(f"{type(e).__name__} where a truth value is expected")
        if e.op in ("and", "or"):
            c = "&&" if e.op == "and" else "||"
            return f"({self.boolean(e.left)} {c} {self.boolean(e.right)})"
        if e.op == "not":
            return f"(!{self.boolean(e.right)})"
        if e.op == "valid":
            return f"({self._need_place(e.right).valid} != 0)"
        if e.op == "valid_union":
            if not isinstance(e.right, m.UnionRef):
                raise ProgramError("valid_union of something other than a header union")
            headers = self.layout.model.unions[e.right.name]
            return f"({' || '.join(self.layout.header(name).valid for name in headers)})"
        if e.op == "d2b":
            d = self._need(e.right)
            return self._compare("!=", d, v.constant(0))
        if e.op == "?":
            return f"({self.boolean(e.cond)} ? {self.boolean(e.left)} : {self.boolean(e.right)})"
        if e.op in _COMPARE and e.left is not None and e.right is not None:
            return self._comparison(e.op, e.left, e.right)
        raise ProgramError(f"operation {e.op!r} where a truth value is expected")

    def _comparison(self, op: str, left: m.Expr, right: m.Expr) -> str:
        if self.is_bool(left):
            return f"({self.boolean(left)} {op} {self.boolean(right)})"
        if isinstance(left, m.HeaderRef) or (
            isinstance(left, m.Op) and left.op == "dereference_header_stack"
        ):
            return self._header_equal(op, self.place(left), self.place(right))
        if self.is_varbit(left) and self.is_varbit(right):
            equal = self._varbit_equal(self.lvalue(left)[2], self.lvalue(right)[2])
            return f"({equal})" if op == "==" else f"(!{equal})"
        return self._compare(op, self.data(left), self.data(right))

    def _header_equal(self, op: str, a: Place, b: Place) -> str:
        if a.type != b.type:
            raise ProgramError(f"comparison of {a.type.name} with {b.type.name}")
        tests = [f"{a.valid} && {b.valid}"]
        for f in a.type.fields:
            name = self.layout.member(a.type, f.name)
            if f.varbit:
                tests.append(self._varbit_equal(f"{a.code}.{name}", f"{b.code}.{name}"))
            elif f.width > 128:
                tests.append(f"!memcmp({a.code}.{name}, {b.code}.{name}, {nbytes(f.width)})")
            else:
                tests.append(f"{a.code}.{name} == {b.code}.{name}")
        equal = " && ".join(tests)
        return f"({equal})" if op == "==" else f"(!({equal}))"

    @staticmethod
    def _varbit_equal(a: str, b: str) -> str:
        return f"sw_number_equal({a}.b, {a}.bits / 8, {b}.b, {b}.bits / 8)"

    def is_varbit(self, e: m.Param) -> bool:
        """Whether the expression is a field of variable length."""
        if isinstance(e, m.FieldRef) and e.field == "$valid$":
            return False
        is_field = isinstance(e, (m.FieldRef, m.LastField))
        is_field |= isinstance(e, m.Op) and e.op == "access_field"
        return is_field and self.lvalue(e)[1].varbit

    @staticmethod
    def _compare(op: str, a: Value, b: Value) -> str:
        kind = v.common_kind(a, b)
        x, y = v.convert(a, kind), v.convert(b, kind)
        if kind == "w":
            return f"(sw_w_cmp({x}, {y}) {op} 0)"
        return f"({x} {op} {y})"

    # Integers

    def _need(self, e: m.Expr | None, demand: int | None = None) -> Value:
        if e is None:
            raise ProgramError("an operand is missing")
        return self.data(e, demand)

    def _need_place(self, e: m.Expr | None) -> Place:
        if e is None:
            raise ProgramError("an operand is missing")
        return self.place(e)

    def _note(self, x: Value) -> Value:
        if x.kind == "w":
            bits = x.demand or v.bits_of(x.low, x.high)
            self.widest = max(self.widest, bits, 129)
        return x

    def data(self, e: m.Param, demand: int | None = None) -> Value:
        """C of an integer; with demand only its low bits need be right."""
        x = self._note(self._data(e, demand))
        self.layout.budget.spend(len(x.code))
        return x

    def _data(self, e: m.Param, demand: int | None) -> Value:
        if isinstance(e, m.Const):
            return v.constant(e.value)
        if isinstance(e, (m.FieldRef, m.LastField)) or (
            isinstance(e, m.Op) and e.op == "access_field"
        ):
            return self._load(e)
        if isinstance(e, m.Local):
            if e.index >= len(self.params):
                raise ProgramError(f"argument {e.index} of an action that has {len(self.params)}")
            p = self.params[e.index]
            return self._stored(f"d->a{e.index}", p.width, False)
        if self.is_bool(e):
            return Value(f"((uint64_t){self.boolean(e)})", "u64", 0, 1)
        if isinstance(e, m.Op):
            return self._operation(e, demand)
        raise UnsupportedError(f"{type(e).__name__} where an integer is expected")

    def _load(self, e: m.FieldRef | m.LastField | m.Op) -> Value:
        if isinstance(e, m.FieldRef) and e.field == "$valid$":
            return Value(f"((uint64_t){self.layout.header(e.header).valid})", "u64", 0, 1)
        _, decl, code = self.lvalue(e)
        if decl.varbit:
            raise UnsupportedError(f"varbit {decl.name} in an expression")
        return self._stored(code, decl.width, decl.signed)

    def _stored(self, code: str, width: int, signed: bool) -> Value:
        kind = v.modular_kind(width)
        high = (1 << width) - 1
        if kind == "w":
            x = Value(f"sw_w_ld({code}, {nbytes(width)})", kind, 0, high)
        else:
            x = Value(f"(({v.ctype(kind)}){code})", kind, 0, high)
        if not signed:
            return self._note(x)
        raw = Value(x.code, x.kind, 0, high, demand=width)
        return self._note(v.sign_extend(raw, width))

    def _operation(self, e: m.Op, demand: int | None) -> Value:
        op = e.op
        if op == "?":
            return self._choice(e, demand)
        if op == "b2d":
            return Value(f"((uint64_t){self.boolean(e.right)})", "u64", 0, 1)
        if op == "two_comp_mod":
            width = self._literal(e.right)
            return v.sign_extend(self._note(self._need(e.left, width)), width)
        if op in ("usat_cast", "sat_cast"):
            return self._saturate(e)
        if op in ("last_stack_index", "size_stack"):
            return self._stack_size(e)
        if op == "&":
            masked = self._masked(e)
            if masked is not None:
                return masked
        if op in _RING:
            return self._ring(op, self._need(e.left, demand), self._need(e.right, demand), demand)
        if op == "~":
            return self._complement(self._need(e.right, demand), demand)
        if op == "<<":
            return self._shift_left(e, demand)
        if op == ">>":
            return self._shift_right(self._need(e.left), self._need(e.right))
        if op in ("/", "%"):
            return self._divide(op, self._need(e.left), self._need(e.right))
        raise UnsupportedError(f"operation {op!r}")

    @staticmethod
    def _literal(e: m.Expr | None) -> int:
        if not isinstance(e, m.Const):
            raise UnsupportedError("a width that is not a literal")
        if not 1 <= e.value <= limits.WIDTH:
            raise ProgramError(f"a width of {e.value} bits")
        return e.value

    def _masked(self, e: m.Op) -> Value | None:
        """x & constant: only the bits of the constant matter."""
        for mask, other in ((e.right, e.left), (e.left, e.right)):
            if isinstance(mask, m.Const) and mask.value >= 0 and other is not None:
                width = mask.value.bit_length()
                if width == 0:
                    return v.constant(0)
                x = self.data(other, width)
                if mask.value == (1 << width) - 1:
                    return self._note(v.cut(x, width))
                kind = v.modular_kind(width)
                a, b = v.convert(x, kind), v.constant(mask.value, kind).code
                code = f"sw_w_and({a}, {b})" if kind == "w" else f"({a} & {b})"
                return self._note(Value(code, kind, 0, mask.value))
        return None

    def _modular(self, demand: int, *xs: Value) -> str | None:
        """The kind for modular arithmetic, if some operand is not exact."""
        if any(x.demand is not None for x in xs):
            return v.modular_kind(demand)
        return None

    def _ring(self, op: str, a: Value, b: Value, demand: int | None) -> Value:
        low, high = self._ring_range(op, a, b)
        kind = None
        if demand is not None:
            kind = self._modular(demand, a, b)
            exact_bits = v.bits_of(low, high)
            if kind is None and exact_bits > 64 and exact_bits > demand:
                kind = v.modular_kind(demand)
        modular = kind is not None
        kind = kind or v.kind_of(low, high)
        x, y = v.convert(a, kind), v.convert(b, kind)
        if kind == "w":
            code = f"sw_w_{_RING[op]}({x}, {y})"
        elif kind in ("s64", "s128"):
            u = "uint64_t" if kind == "s64" else "u128"
            code = f"(({v.ctype(kind)})(({u}){x} {op} ({u}){y}))"
        else:
            code = f"({x} {op} {y})"
        if modular:
            return Value(code, kind, 0, (1 << (demand or 0)) - 1, demand=demand)
        return Value(code, kind, low, high)

    @staticmethod
    def _ring_range(op: str, a: Value, b: Value) -> tuple[int, int]:
        if op == "+":
            return a.low + b.low, a.high + b.high
        if op == "-":
            return a.low - b.high, a.high - b.low
        if op == "*":
            corners = [p * q for p in (a.low, a.high) for q in (b.low, b.high)]
            return min(corners), max(corners)
        bits = max(v.bits_of(a.low, a.high), v.bits_of(b.low, b.high)) - 1
        full = (1 << bits) - 1
        if a.low >= 0 and b.low >= 0:
            return (0, min(a.high, b.high)) if op == "&" else (0, full)
        if op == "&" and (a.low >= 0 or b.low >= 0):
            return 0, a.high if a.low >= 0 else b.high
        return -full - 1, full

    def _complement(self, a: Value, demand: int | None) -> Value:
        if a.demand is not None or (demand is not None and demand > 64):
            kind = v.modular_kind(demand or a.demand or 64)
            x = v.convert(a, kind)
            code = f"sw_w_not({x})" if kind == "w" else f"(~{x})"
            return Value(code, kind, 0, (1 << (demand or 64)) - 1, demand=demand or a.demand)
        low, high = -a.high - 1, -a.low - 1
        kind = v.kind_of(low, high)
        x = v.convert(a, kind)
        code = f"sw_w_not({x})" if kind == "w" else f"(({v.ctype(kind)})~({x}))"
        return Value(code, kind, low, high)

    def _shift_left(self, e: m.Op, demand: int | None) -> Value:
        b = self._need(e.right)
        if b.low < 0:
            raise UnsupportedError("a shift by a negative amount")
        exact = self._need(e.left)
        reach = None
        if b.high <= _SHIFT_LIMIT and exact.demand is None:
            reach = (min(exact.low << b.high, exact.low), max(exact.high << b.high, exact.high))
        fits = reach is not None and v.bits_of(*reach) <= v.MAX_BITS
        if fits and reach is not None and (demand is None or v.kind_of(*reach) in ("u64", "s64")):
            return self._shl(exact, b, v.kind_of(*reach), reach, None)
        if demand is None:
            raise UnsupportedError("a left shift whose result is not cut to a width")
        return self._shl(
            self._need(e.left, demand), b, v.modular_kind(demand), (0, (1 << demand) - 1), demand
        )

    @staticmethod
    def _amount(b: Value) -> str:
        """The shift amount in 64 bits; any larger amount gives the same result."""
        if b.kind == "u64":
            return b.code
        if b.kind == "w":
            big = v.constant(_SHIFT_LIMIT, "w").code
            return (
                f"(sw_w_cmp({b.code}, {big}) > 0 ? {_SHIFT_LIMIT} : (uint64_t)sw_w_low({b.code}))"
            )
        return f"(({b.code}) > {_SHIFT_LIMIT} ? {_SHIFT_LIMIT} : (uint64_t)({b.code}))"

    def _shl(
        self, a: Value, b: Value, kind: str, reach: tuple[int, int], demand: int | None
    ) -> Value:
        x, n = v.convert(a, kind), self._amount(b)
        if kind == "w":
            code = f"sw_w_shl({x}, {n})"
        else:
            bits = "64" if kind.endswith("64") else "128"
            unsigned = "uint64_t" if bits == "64" else "u128"
            constant = b.low == b.high and b.high < int(bits)
            code = (
                f"(({unsigned}){x} << {b.low})"
                if constant
                else f"sw_shl{bits}(({unsigned}){x}, {n})"
            )
            if kind.startswith("s"):
                code = f"(({v.ctype(kind)}){code})"
        return Value(code, kind, *reach, demand=demand)

    def _shift_right(self, a: Value, b: Value) -> Value:
        if b.low < 0:
            raise UnsupportedError("a shift by a negative amount")
        n = self._amount(b)
        least = min(b.low, _SHIFT_LIMIT)
        low = a.low >> least if a.low < 0 else 0
        high = a.high >> least if a.high >= 0 else -1
        if a.kind == "w":
            return Value(f"sw_w_shr({a.code}, {n})", "w", low, high)
        bits = 64 if a.kind.endswith("64") else 128
        if b.low == b.high and b.high < bits:
            code = f"({a.code} >> {b.low})"
        else:
            code = f"sw_{'sa' if a.kind.startswith('s') else 'sh'}r{bits}({a.code}, {n})"
        return Value(code, a.kind, low, high)

    @staticmethod
    def _divide(op: str, a: Value, b: Value) -> Value:
        kind = v.common_kind(a, b)
        if a.low < 0 or b.low < 0 or kind == "w":
            raise UnsupportedError(f"{op!r} on signed numbers or on more than 128 bits")
        name = "div" if op == "/" else "mod"
        code = f"sw_{name}{kind[1:]}({v.convert(a, kind)}, {v.convert(b, kind)})"
        return Value(code, kind, 0, a.high if op == "/" else min(a.high, b.high))

    def _saturate(self, e: m.Op) -> Value:
        width = self._literal(e.right)
        x = self._need(e.left)
        if e.op == "usat_cast":
            low, high = 0, (1 << width) - 1
        else:
            low, high = -(1 << width - 1), (1 << width - 1) - 1
        kind = v.kind_of(min(low, x.low), max(high, x.high))
        code = v.convert(x, kind)
        lo, hi = v.constant(low, kind).code, v.constant(high, kind).code
        less, more = f"({code} < {lo})", f"({code} > {hi})"
        if kind == "w":
            less, more = f"(sw_w_cmp({code}, {lo}) < 0)", f"(sw_w_cmp({code}, {hi}) > 0)"
        tests = code
        if x.high > high:
            tests = f"({more} ? {hi} : {tests})"
        if x.low < low:
            tests = f"({less} ? {lo} : {tests})"
        return self._note(Value(tests, kind, low, high))

    def _stack_size(self, e: m.Op) -> Value:
        name = e.right.name if isinstance(e.right, (m.StackRef, m.UnionStackRef)) else None
        if name is None:
            raise UnsupportedError(f"{e.op} of something other than a header stack")
        if isinstance(e.right, m.UnionStackRef):
            name = next(iter(self.layout.model.union_stacks[name].values()))
        nxt = self.layout.stack_next(name)
        size = len(self.layout.model.stacks[name].headers)
        if e.op == "size_stack":
            return Value(f"((uint64_t){nxt})", "u64", 0, size)
        # simple_switch computes this as an unsigned 64-bit number.
        return Value(f"((uint64_t){nxt} - 1)", "u64", 0, (1 << 64) - 1)

    def _choice(self, e: m.Op, demand: int | None) -> Value:
        a, b = self._need(e.left, demand), self._need(e.right, demand)
        cond = self.boolean(e.cond)
        if a.demand is not None or b.demand is not None:
            width = demand or 64
            kind = v.modular_kind(width)
            code = f"({cond} ? {v.convert(a, kind)} : {v.convert(b, kind)})"
            return Value(code, kind, 0, (1 << width) - 1, demand=width)
        kind = v.common_kind(a, b)
        code = f"({cond} ? {v.convert(a, kind)} : {v.convert(b, kind)})"
        return Value(code, kind, min(a.low, b.low), max(a.high, b.high))

    # Assignment

    def store(self, target: m.Param, x: m.Param | Value) -> list[str]:
        """C statements that assign to a field, truncated to its width."""
        place, decl, code = self.lvalue(target)
        if decl.varbit:
            raise UnsupportedError(f"assignment of an integer to varbit {decl.name}")
        if not isinstance(x, Value):
            x = self.data(x, decl.width)
        out = [f"{place.dirty};"] if place.dirty else []
        out.append(self.store_code(code, decl.width, x))
        return out

    def store_varbit(self, target: m.Param, source: m.Param) -> list[str]:
        """C statements that assign one field of variable length to another."""
        if not (self.is_varbit(target) and self.is_varbit(source)):
            raise ProgramError("an assignment between a varbit and another field")
        place, decl, code = self.lvalue(target)
        _, other_decl, other = self.lvalue(source)
        dirty = f"{place.dirty};" if place.dirty else ";"
        if nbytes(decl.width) == nbytes(other_decl.width):
            return [f"{code} = {other};", dirty]
        return [
            f"{code}.bits = {other}.bits <= {decl.width} ? {other}.bits : {decl.width};",
            f"memcpy({code}.b, {other}.b, {code}.bits / 8);",
            dirty,
        ]

    def store_code(self, code: str, width: int, x: Value) -> str:
        """C statement that stores the low `width` bits."""
        x = self._note(v.cut(x, width))
        if width > 128:
            return f"sw_w_st({code}, {nbytes(width)}, {v.convert(x, 'w')});"
        kind = v.modular_kind(width)
        return f"{code} = {v.convert(x, kind)};"
