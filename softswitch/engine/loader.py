"""Reads BMv2 JSON into a Model; rejects unsupported constructs by name."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from fcn.softswitch.api import Exact, Lpm, MatchKey, Range, Ternary
from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.bmv2json import limits, read_program
from fcn.softswitch.engine.bmv2json.keys import key_field
from fcn.softswitch.engine.errors import ProgramError, UnsupportedError

_VALID = "$valid$"
_HASHES = {
    name: name
    for name in ("crc16", "crc32", "crcCCITT", "csum16", "cksum16", "xor16", "xor32", "identity")
} | {"crc16_custom": "crc16", "crc32_custom": "crc32"}
"""Algorithm by its name in the JSON; custom CRCs have BMv2's initial parameters."""
_BINARY = frozenset(
    [
        "+", "-", "*", "/", "%", "<<", ">>", "==", "!=", ">", ">=", "<", "<=", "and", "or", "&",
        "|", "^", "two_comp_mod", "usat_cast", "sat_cast",
    ]
)  # fmt: skip
_UNARY = frozenset({"not", "~", "valid", "d2b", "b2d"})
_UNION_OPS = frozenset({"valid_union"})
_STACK_OPS = frozenset({"last_stack_index", "size_stack"})


@lru_cache(maxsize=limits.PROGRAMS_KEPT)
def parse_json(data: bytes) -> m.Model:
    """Build the model of a program from JSON; raises ProgramError or UnsupportedError."""
    return build_model(read_program(data))


def build_model(root: Mapping[str, Any]) -> m.Model:
    """The model of a program that bmv2json has checked; raises as parse_json()."""
    return _Loader(root).load()


def read_json(path: Path) -> bytes:
    """The JSON in a file; raises ProgramError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ProgramError(f"cannot read {path}: {error.strerror}") from error


def _hex(text: str) -> int:
    return int(text, 16)


class _Loader:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self.types: dict[str, m.HeaderType] = {}
        self.widths: dict[str, dict[str, int | None]] = {}
        """Bits of the fields of each header type, None of a varbit."""
        self.headers: dict[str, m.Header] = {}
        self.stacks: dict[str, m.Stack] = {}
        self.unions: dict[str, tuple[str, ...]] = {}
        self.union_stacks: dict[str, dict[str, str]] = {}

    def load(self) -> m.Model:
        if externs := self.root.get("extern_instances"):
            raise UnsupportedError(f"extern instances: {externs[0]['name']!r}")
        major = self.root.get("__meta__", {}).get("version", [2])[0]
        if major != 2:
            raise UnsupportedError(f"BMv2 JSON format version {major}; version 2 is understood")
        self._headers()
        parsers = self.root["parsers"]
        if len(parsers) != 1 or len(self.root["deparsers"]) != 1:
            raise UnsupportedError("a program with other than one parser and one deparser")
        actions = {a["id"]: self._action(a) for a in self.root["actions"]}
        pipelines = {p["name"]: self._pipeline(p) for p in self.root["pipelines"]}
        if set(pipelines) != {"ingress", "egress"}:
            raise UnsupportedError(f"pipelines {sorted(pipelines)}; v1model has ingress and egress")
        deparser = self.root["deparsers"][0]
        if deparser.get("primitives"):
            op = deparser["primitives"][0].get("op", "?")
            raise UnsupportedError(f"primitive {op!r} in the deparser")
        return m.Model(
            headers=self.headers,
            stacks=self.stacks,
            unions=self.unions,
            union_stacks=self.union_stacks,
            value_sets={
                s["name"]: m.ValueSet(s["name"], s["compressed_bitwidth"], s["max_size"])
                for s in self.root.get("parse_vsets", [])
            },
            errors=dict(self.root.get("errors", [])),
            init_state=parsers[0]["init_state"],
            states={s["name"]: self._state(s) for s in parsers[0]["parse_states"]},
            deparse_order=tuple(self._known_header(h) for h in deparser["order"]),
            actions=actions,
            ingress=pipelines["ingress"],
            egress=pipelines["egress"],
            calculations={c["name"]: self._calculation(c) for c in self.root["calculations"]},
            checksums=tuple(self._checksum(c) for c in self.root["checksums"]),
            counters={
                c["name"]: m.Array(c["name"], c.get("size", 0), c["is_direct"])
                for c in self.root["counter_arrays"]
            },
            meters={c["name"]: self._meter(c) for c in self.root["meter_arrays"]},
            registers={r["name"]: self._register(r) for r in self.root["register_arrays"]},
            field_lists={f["id"]: self._field_list(f) for f in self.root.get("field_lists", [])},
            learn_lists={f["id"]: self._learn_list(f) for f in self.root.get("learn_lists", [])},
            aliases={name: m.FieldRef(*ref) for name, ref in self.root.get("field_aliases", [])},
        )

    def _headers(self) -> None:
        for t in self.root["header_types"]:
            fixed = sum(f[1] for f in t["fields"] if f[1] != "*")
            fields = []
            for f in t["fields"]:
                varbit = f[1] == "*"
                width = t["max_length"] * 8 - fixed if varbit else f[1]
                signed = bool(f[2]) if len(f) > 2 else False
                if len(f) > 3 and f[3]:
                    raise UnsupportedError(f"saturating field {t['name']}.{f[0]}")
                fields.append(m.FieldType(f[0], width, signed, varbit))
            if t.get("length_exp"):
                raise UnsupportedError(f"length expression of header type {t['name']}")
            if sum(f.varbit for f in fields) > 1:
                raise UnsupportedError(f"two varbit fields in header type {t['name']}")
            self.types[t["name"]] = m.HeaderType(t["name"], tuple(fields))
            self.widths[t["name"]] = {f.name: None if f.varbit else f.width for f in fields}
        by_id: dict[int, str] = {}
        for h in self.root["headers"]:
            htype = self.types[h["header_type"]]
            if not h["metadata"] and sum(f.width for f in htype.fields) % 8:
                raise UnsupportedError(f"header {h['name']} is not a whole number of bytes")
            self.headers[h["name"]] = m.Header(h["name"], htype, h["metadata"])
            by_id[h["id"]] = h["name"]
        for s in self.root["header_stacks"]:
            names = tuple(by_id[i] for i in s["header_ids"])
            self.stacks[s["name"]] = m.Stack(s["name"], self.types[s["header_type"]], names)
        self._unions(by_id)

    def _unions(self, headers: Mapping[int, str]) -> None:
        by_id: dict[int, tuple[str, ...]] = {}
        for u in self.root.get("header_unions", []):
            by_id[u["id"]] = self.unions[u["name"]] = tuple(headers[i] for i in u["header_ids"])
        types = {t["name"]: t["headers"] for t in self.root.get("header_union_types", [])}
        for s in self.root.get("header_union_stacks", []):
            members: dict[str, str] = {}
            for k, (member, htype) in enumerate(types[s["union_type"]]):
                # No name of the JSON has a star.
                name = members[member] = f"{s['name']}*{member}"
                elements = tuple(by_id[i][k] for i in s["header_union_ids"])
                self.stacks[name] = m.Stack(name, self.types[htype], elements)
            self.union_stacks[s["name"]] = members

    def _known_header(self, name: str) -> str:
        if name not in self.headers:
            raise ProgramError(f"unknown header {name!r}")
        return name

    def _whole(self, name: str) -> str:
        """A header or metadata that can be a part of a packet."""
        if sum(f.width for f in self.headers[self._known_header(name)].type.fields) % 8:
            raise UnsupportedError(f"{name}, not a whole number of bytes, as octets of a packet")
        return name

    def field(self, value: list[str]) -> m.FieldRef:
        """A checked field reference."""
        header = self.headers.get(value[0])
        if header is None:
            raise ProgramError(f"unknown header {value[0]!r}")
        if value[1] != _VALID and value[1] not in self.widths[header.type.name]:
            raise ProgramError(f"unknown field {value[0]}.{value[1]}")
        return m.FieldRef(value[0], value[1])

    def _width(self, what: str, ref: m.FieldRef) -> int:
        """Bits of a field, which is no varbit."""
        if ref.field == _VALID:
            return 1
        width = self.widths[self.headers[ref.header].type.name][ref.field]
        if width is None:
            raise UnsupportedError(f"varbit {ref.header}.{ref.field} in {what}")
        return width

    def expr(self, node: Mapping[str, Any] | None) -> m.Expr:
        """An expression, without the enclosing object of type "expression"."""
        if node is None:
            raise ProgramError("an operand is missing")
        if "op" in node:
            return self._op(node)
        kind: str = node["type"]
        value: Any = node.get("value")
        if kind == "expression":
            return self.expr(value)
        if kind == "hexstr":
            return m.Const(_hex(value))
        if kind == "bool":
            return m.BoolConst(bool(value))
        if kind == "field":
            return self.field(value)
        if kind in ("local", "runtime_data"):
            return m.Local(int(value))
        if kind == "header":
            return m.HeaderRef(self._known_header(value))
        if kind == "header_stack":
            return m.StackRef(self._known_stack(value))
        if kind == "header_union":
            if value not in self.unions:
                raise ProgramError(f"unknown header union {value!r}")
            return m.UnionRef(value)
        if kind == "header_union_stack":
            self._known_union_stack(value)
            return m.UnionStackRef(value)
        if kind == "stack_field":
            return m.LastField(self._known_stack(value[0]), value[1])
        if kind == "lookahead":
            return m.Lookahead(int(value[0]), int(value[1]))
        raise UnsupportedError(f"expression operand of type {kind!r}")

    def _known_stack(self, name: str) -> str:
        if name not in self.stacks:
            raise ProgramError(f"unknown header stack {name!r}")
        return name

    def _known_union_stack(self, name: str) -> dict[str, str]:
        if name not in self.union_stacks:
            raise ProgramError(f"unknown stack of header unions {name!r}")
        return self.union_stacks[name]

    def _op(self, node: Mapping[str, Any]) -> m.Op:
        op = node["op"]
        if op in _BINARY:
            return m.Op(op, self.expr(node.get("left")), self.expr(node.get("right")))
        if op in _UNARY or op in _STACK_OPS or op in _UNION_OPS:
            operand = node["right"] if node.get("right") is not None else node.get("left")
            return m.Op(op, None, self.expr(operand))
        if op == "?":
            return m.Op(
                op,
                self.expr(node.get("left")),
                self.expr(node.get("right")),
                self.expr(node.get("cond")),
            )
        if op == "dereference_header_stack":
            return m.Op(op, self.expr(node.get("left")), self.expr(node.get("right")))
        if op == "access_field":
            return m.Op(op, self.expr(node.get("left")), None, index=int(node["right"]))
        raise UnsupportedError(f"operation {op!r}")

    def param(self, node: Mapping[str, Any]) -> m.Param:
        """A parameter of a primitive."""
        if "op" in node:
            return self.expr(node)
        kind: str = node["type"]
        value: Any = node.get("value")
        if kind in ("calculation", "meter_array", "counter_array", "register_array", "string"):
            return m.Named(kind, value)
        if kind == "parameters_vector":
            return m.Vector(tuple(self.param(v) for v in value))
        if kind == "extern":
            raise UnsupportedError(f"{kind} {value!r} as an argument")
        return self.expr(node)

    def _primitive(self, p: Mapping[str, Any]) -> m.Primitive:
        return m.Primitive(p["op"], tuple(self.param(a) for a in p["parameters"]))

    def _action(self, a: Mapping[str, Any]) -> m.Action:
        params = tuple(m.ActionParam(p["name"], p["bitwidth"]) for p in a["runtime_data"])
        return m.Action(
            a["id"], a["name"], params, tuple(self._primitive(p) for p in a["primitives"])
        )

    def _parser_op(self, o: Mapping[str, Any]) -> m.ParserOp:
        op, params = o["op"], o["parameters"]
        if op in ("extract", "extract_VL"):
            if len(params) != (1 if op == "extract" else 2):
                raise ProgramError(f"parser operation {op!r} with {len(params)} parameters")
            kind, name = params[0].get("type"), params[0].get("value")
            target: m.Expr
            if kind == "regular":
                target = m.HeaderRef(self._whole(name))
            elif kind == "stack":
                target = m.StackRef(self._known_stack(name))
            elif kind == "union_stack":
                members = self._known_union_stack(name[0])
                if name[1] not in members:
                    raise ProgramError(f"unions of {name[0]} have no header {name[1]!r}")
                target = m.StackRef(members[name[1]])
            else:
                raise UnsupportedError(f"extract to a {kind}")
            return m.ParserOp(op, (target, *(self.expr(p) for p in params[1:])))
        if op == "primitive":
            return m.ParserOp(op, (), self._primitive(params[0]))
        if op == "shift":
            return m.ParserOp("advance", (m.Const(8 * int(params[0])),))
        if op in ("set", "verify", "advance"):
            if len(params) != (1 if op == "advance" else 2):
                raise ProgramError(f"parser operation {op!r} with {len(params)} parameters")
            return m.ParserOp(op, tuple(self.expr(p) for p in params))
        raise UnsupportedError(f"parser operation {op!r}")

    def _state(self, s: Mapping[str, Any]) -> m.ParseState:
        transitions = []
        for t in s["transitions"]:
            kind = t.get("type", "hexstr")
            if kind == "parse_vset":
                if t["mask"] is not None:
                    raise UnsupportedError(f"a mask on the parser value set {t['value']!r}")
                transitions.append(m.Transition(0, None, t["next_state"], t["value"]))
            elif kind == "default" or t["value"] == "default":
                transitions.append(m.Transition(None, None, t["next_state"]))
            else:
                mask = None if t["mask"] is None else _hex(t["mask"])
                transitions.append(m.Transition(_hex(t["value"]), mask, t["next_state"]))
        return m.ParseState(
            s["name"],
            tuple(self._parser_op(o) for o in s["parser_ops"]),
            tuple(self.expr(k) for k in s["transition_key"]),
            tuple(transitions),
        )

    def _algorithm(self, name: str) -> str:
        if name not in _HASHES:
            raise UnsupportedError(f"hash algorithm {name!r}")
        return _HASHES[name]

    def _inputs(self, inputs: list[Mapping[str, Any]]) -> tuple[m.CalcInput, ...]:
        out = []
        for i in inputs:
            kind = i["type"]
            if kind == "field":
                out.append(m.CalcInput(kind, field=self.field(i["value"])))
            elif kind == "header":
                out.append(m.CalcInput(kind, header=self._whole(i["value"])))
            elif kind == "payload":
                out.append(m.CalcInput(kind))
            elif kind == "hexstr":
                out.append(m.CalcInput(kind, value=_hex(i["value"]), width=i["bitwidth"]))
            else:
                raise UnsupportedError(f"input of type {kind!r} to a hash")
        return tuple(out)

    def _calculation(self, c: Mapping[str, Any]) -> m.Calculation:
        return m.Calculation(c["name"], self._algorithm(c["algo"]), self._inputs(c["input"]))

    def _checksum(self, c: Mapping[str, Any]) -> m.Checksum:
        if c["type"] != "generic":
            raise UnsupportedError(f"checksum of type {c['type']!r}")
        condition = c.get("if_cond")
        return m.Checksum(
            c["name"],
            self.field(c["target"]),
            c["calculation"],
            c.get("verify", True),
            c.get("update", True),
            None if condition is None else self.expr(condition),
        )

    def _meter(self, c: Mapping[str, Any]) -> m.Array:
        if c.get("rate_count", 2) != 2:
            raise UnsupportedError(f"meter {c['name']} with {c['rate_count']} rates")
        target = c.get("result_target")
        return m.Array(
            c["name"],
            c.get("size", 0),
            c["is_direct"],
            unit=c["type"],
            target=self.field(target) if c["is_direct"] and target else None,
        )

    @staticmethod
    def _register(r: Mapping[str, Any]) -> m.Array:
        if r["bitwidth"] > limits.REGISTER_WIDTH:
            raise UnsupportedError(
                f"register {r['name']} of {r['bitwidth']} bits (> {limits.REGISTER_WIDTH})"
            )
        return m.Array(r["name"], r["size"], width=r["bitwidth"])

    def _field_list(self, f: Mapping[str, Any]) -> m.FieldList:
        fields: list[m.FieldRef | m.Const] = []
        for e in f["elements"]:
            if e.get("type") == "field":
                fields.append(self.field(e["value"]))
            elif e.get("type") == "hexstr":
                fields.append(m.Const(_hex(e["value"])))
            else:
                raise UnsupportedError(f"{e.get('type', 'op')} in field list {f['name']}")
        return m.FieldList(f["id"], f["name"], tuple(fields))

    def _learn_list(self, f: Mapping[str, Any]) -> m.LearnList:
        fields = self._field_list(f).fields
        widths = (
            max(1, part.value.bit_length())
            if isinstance(part, m.Const)
            else self._width(f"digest {f['name']}", part)
            for part in fields
        )
        return m.LearnList(f["name"], fields, tuple(widths))

    def _pipeline(self, p: Mapping[str, Any]) -> m.ControlBlock:
        return m.ControlBlock(
            p["name"],
            p["init_table"],
            tuple(self._table(t) for t in p["tables"]),
            tuple(
                m.Conditional(
                    c["name"], self.expr(c["expression"]), c["true_next"], c["false_next"]
                )
                for c in p["conditionals"]
            ),
            tuple(
                m.ActionCallNode(c["name"], c["action_id"], c["next_node"])
                for c in p.get("action_calls", [])
            ),
            tuple(self._profile(a) for a in p.get("action_profiles", [])),
        )

    def _profile(self, a: Mapping[str, Any]) -> m.Profile:
        selector = a.get("selector")
        if selector is None:
            return m.Profile(a["name"], a["max_size"], None, ())
        algo = self._algorithm(selector["algo"])
        return m.Profile(a["name"], a["max_size"], algo, self._inputs(selector["input"]))

    def _table(self, t: Mapping[str, Any]) -> m.Table:
        keys = tuple(self._key(t["name"], k) for k in t["key"])
        for k in keys:
            if k.kind not in ("exact", "lpm", "ternary", "range", "optional"):
                raise UnsupportedError(f"match kind {k.kind!r} of {t['name']}")
        nexts = dict(t["next_tables"])
        hit_or_miss = "__HIT__" in nexts or "__MISS__" in nexts
        default = t.get("default_entry")
        return m.Table(
            name=t["name"],
            kind=t["match_type"],
            keys=keys,
            max_size=t["max_size"],
            action_ids=tuple(t["action_ids"]),
            next_by_action={} if hit_or_miss else nexts,
            next_hit=nexts.get("__HIT__", t.get("base_default_next")),
            next_miss=nexts.get("__MISS__", t.get("base_default_next")),
            hit_or_miss=hit_or_miss,
            default_next=t.get("base_default_next"),
            default=None
            if default is None
            else m.DefaultEntry(
                default["action_id"], tuple(_hex(v) for v in default.get("action_data", []))
            ),
            profile=t.get("action_profile"),
            counters=bool(t.get("with_counters")),
            timeout=bool(t.get("support_timeout")),
            meter=t.get("direct_meters"),
            entries=tuple(self._entry(e) for e in t.get("entries", [])),
            immutable=bool(t.get("entries")),
        )

    def _key(self, table: str, k: Mapping[str, Any]) -> m.Key:
        field = self.field(key_field(self.root, f"key of {table}", k["target"]))
        width = self._width(f"a key of {table}", field)
        return m.Key(
            k.get("name", f"{field.header}.{field.field}"),
            k["match_type"],
            width,
            (width + 7) // 8,
            field if isinstance(k["target"], list) else self.expr(k["target"]),
            field,
            None if k["mask"] is None else _hex(k["mask"]),
        )

    @staticmethod
    def _entry(e: Mapping[str, Any]) -> m.ConstEntry:
        match: list[MatchKey] = []
        for k in e["match_key"]:
            kind = k["match_type"]
            if kind == "exact":
                match.append(Exact(_hex(k["key"])))
            elif kind == "lpm":
                match.append(Lpm(_hex(k["key"]), int(k["prefix_length"])))
            elif kind in ("ternary", "optional"):
                mask = _hex(k["mask"])
                match.append(Ternary(_hex(k["key"]) & mask, mask))
            elif kind == "range":
                match.append(Range(_hex(k["start"]), _hex(k["end"])))
            else:
                raise UnsupportedError(f"match kind {kind!r} in a const entry")
        action = e["action_entry"]
        return m.ConstEntry(
            tuple(match),
            int(e.get("priority", 0)),
            action["action_id"],
            tuple(_hex(v) for v in action.get("action_data", [])),
        )
