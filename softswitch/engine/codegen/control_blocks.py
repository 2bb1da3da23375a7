"""C code of tables and control flow: one function per pipeline, a label per node."""

from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.codegen import codec
from fcn.softswitch.engine.codegen import value as v
from fcn.softswitch.engine.codegen.blocks import Block, Frame, divide
from fcn.softswitch.engine.codegen.codec import indent
from fcn.softswitch.engine.codegen.expr import Exprs
from fcn.softswitch.engine.codegen.layout import Layout, nbytes
from fcn.softswitch.engine.errors import ProgramError, UnsupportedError

MAX_KEY_WORDS = 32
"""SW_KEY_WORDS of the engine."""
_FIND = {"exact": "exact", "lpm": "lpm", "ternary": "ternary", "range": "ternary"}


def key_words(table: m.Table) -> int:
    """64-bit words of a table's key."""
    return (sum(k.size for k in table.keys) + 7) // 8


def set_words(s: m.ValueSet) -> int:
    """64-bit words of a value of a set."""
    return (nbytes(s.width) + 7) // 8


class ControlBlocks:
    """Generates prog_ingress, prog_egress and the table definitions."""

    def __init__(self, layout: Layout, exprs: Exprs) -> None:
        self.layout = layout
        self.model = layout.model
        self.exprs = exprs
        self.tables = {t.name: i for i, t in enumerate(self.model.tables())}
        self.profiles = {a.name: i for i, a in enumerate(self.model.profiles())}
        self.may_exit = any(
            p.op == "exit" for a in self.model.actions.values() for p in a.primitives
        )

    def definitions(self) -> str:
        out = [f'_Static_assert(SW_KEY_WORDS == {MAX_KEY_WORDS}, "as control_blocks.py has it");']
        rows = []
        for i, t in enumerate(self.model.tables()):
            words = key_words(t)
            if words > MAX_KEY_WORDS:
                raise UnsupportedError(f"key of {t.name} of more than {MAX_KEY_WORDS * 64} bits")
            ranges = []
            at = 0
            for k in t.keys:
                if k.kind == "range":
                    ranges.append(f"{{{at}, {k.size}}}")
                at += k.size
            if ranges:
                out.append(f"static const sw_range ranges_{i}[] = {{{', '.join(ranges)}}};")
            out.append(f"union ads_{i} {{")
            for a in dict.fromkeys(t.action_ids):
                out.append(f"    struct ad_{a} a{a};")
            out.append("    uint8_t none;\n};")
            meter = self.model.meters.get(t.meter) if t.meter else None
            rows.append(
                f"    {{SW_{_FIND[t.kind].upper()}, {words}, {len(ranges)}, "
                f"{f'ranges_{i}' if ranges else 'NULL'}, sizeof(union ads_{i}), {t.max_size}, "
                f"{'sizeof(sw_meter)' if meter else '0'}, "
                f"{int(meter is not None and meter.unit == 'bytes')}, {int(t.timeout)}}},"
            )
        for s in self.model.value_sets.values():
            rows.append(f"    {{SW_EXACT, {set_words(s)}, 0, NULL, 1, {s.size}, 0, 0, 0}},")
        out.append("static const sw_table_def prog_tables[] = {")
        out += rows or ["    {0},"]
        out.append("};")
        return "\n".join(out) + "\n"

    def function(self, p: m.ControlBlock) -> str:
        """C of prog_<pipeline>."""
        nodes = self._labels(p)
        # The parser clears that of ingress.
        clear = ["    memset(&sw_locals(e)->out, 0, sizeof sw_locals(e)->out);"]
        frame = Frame(
            "sw_engine *e, sw_pkt *p",
            "e, p",
            ("phv *h = sw_phv(p);", "locals *l = sw_locals(e);", "(void)e, (void)h, (void)l;"),
        )
        blocks = []
        for t in p.tables:
            lines = self.layout.budget.lines(self._table(p.name, t, nodes))
            blocks.append(Block(nodes[t.name], lines))
        for c in p.conditionals:
            lines = [
                f"if ({self.exprs.boolean(c.expression)}) {{",
                *indent(self.layout.points.mark(p.name, c.name, "true")),
                f"    goto {self._label(nodes, c.true_next)};",
                "}",
                *self.layout.points.mark(p.name, c.name, "false"),
                f"goto {self._label(nodes, c.false_next)};",
            ]
            blocks.append(Block(nodes[c.name], lines))
        for call in p.calls:
            lines = [
                *self.layout.points.mark(p.name, call.name),
                f"act_{call.action_id}(e, p, h, NULL);",
                *self._exit(),
                f"goto {self._label(nodes, call.next_node)};",
            ]
            blocks.append(Block(nodes[call.name], lines))
        functions, run = divide(f"prog_{p.name}", frame, self._label(nodes, p.init), blocks)
        return "\n".join([
            functions + f"static void prog_{p.name}(sw_engine *e, sw_pkt *p)",
            "{",
            "    (void)e, (void)p;",
            *(clear if p is self.model.egress else []),
            *indent(run),
            "}\n",
        ])  # fmt: skip

    @staticmethod
    def _labels(p: m.ControlBlock) -> dict[str, str]:
        return {node.name: f"n{i}" for i, node in enumerate(p.nodes)}

    @staticmethod
    def _label(nodes: dict[str, str], name: str | None) -> str:
        if name is None:
            return "end"
        if name not in nodes:
            raise ProgramError(f"unknown node {name!r}")
        return nodes[name]

    def _exit(self) -> list[str]:
        return ["if (p->exit)", "    goto end;"] if self.may_exit else []

    def _table(self, pipeline: str, t: m.Table, nodes: dict[str, str]) -> list[str]:
        if not t.keys and t.profile is None and not t.counters and self._is_const(t):
            mark = self.layout.points.mark(pipeline, t.name)
            return mark + self._constant_table(t, nodes)
        i = self.tables[t.name]
        out = [f"sw_table *t = &e->tables[{i}];"]
        words = key_words(t)
        if t.keys:
            out += self._key(t, words)
            out.append(f"sw_entry *n = sw_find_{_FIND[t.kind]}(t, key, {words});")
        else:
            out.append("sw_entry *n = NULL;")
        out.append("const bool hit = n != NULL;")
        out.append("if (!hit)")
        out.append("    n = t->default_entry;")
        out.append("sw_hit(e, n, p);")
        out += self._meter(t)
        out += self._dispatch(pipeline, t, nodes)
        return ["{", *indent(out), "}"]

    @staticmethod
    def _is_const(t: m.Table) -> bool:
        """Whether p4c made the table from plain statements: one action, no key, no arguments."""
        return (
            t.default is not None
            and len(set(t.action_ids)) == 1
            and not t.default.args
            and t.name.startswith("tbl_")
        )

    def _constant_table(self, t: m.Table, nodes: dict[str, str]) -> list[str]:
        assert t.default is not None
        target = self._label(nodes, self._next(t, t.default.action_id, hit=False))
        return [
            f"act_{t.default.action_id}(e, p, h, NULL);",
            *self._exit(),
            f"goto {target};",
        ]

    def _next(self, t: m.Table, action_id: int, hit: bool) -> str | None:
        return t.following(self.model.actions[action_id].name, hit=hit)

    def _key(self, t: m.Table, words: int) -> list[str]:
        """C that makes the key."""
        out, wide = [], []
        parts: list[tuple[str | None, int]] = []
        at = 0
        for i, key in enumerate(t.keys):
            size = key.size
            place = self.layout.header(key.field.header)
            x = self.exprs.data(key.target)
            if key.field.field != "$valid$":
                place, _, code = self.exprs.lvalue(key.target)
            optional = not place.metadata and key.field.field != "$valid$"
            if key.width > 128:
                if key.mask is not None:
                    raise UnsupportedError(f"mask on {key.name}, a key of more than 128 bits")
                guard = f"if ({place.valid}) " if optional else ""
                wide.append(f"{guard}memcpy((uint8_t *)key + {at}, {code}, {size});")
                parts.append((None, 8 * size))
            else:
                x = v.cut(v.Value(x.code, x.kind, x.low, x.high), key.width)
                code = x.code
                if key.mask is not None:
                    code = f"({code} & {v.constant(key.mask, x.kind).code})"
                value = f"{place.valid} ? {code} : 0" if optional else code
                out.append(f"const {'u128' if size > 8 else 'uint64_t'} k{i} = {value};")
                parts.append((f"k{i}", 8 * size))
            at += size
        made = ", ".join(f"__builtin_bswap64({code})" for code, _ in codec.words(parts, 8 * words))
        return [*out, f"uint64_t key[{words}] __attribute__((aligned(8))) = {{{made}}};", *wide]

    def _meter(self, t: m.Table) -> list[str]:
        meter = self.model.meters.get(t.meter) if t.meter else None
        if meter is None or meter.target is None:
            return []
        x = v.Value("(uint64_t)sw_meter_run(e, n->meter, p->ingress_len)", "u64", 0, 2)
        return ["if (hit) {", *indent(self.exprs.store(meter.target, x)), "}"]

    def _dispatch(self, pipeline: str, t: m.Table, nodes: dict[str, str]) -> list[str]:
        out: list[str] = []
        words = key_words(t)
        if t.profile is None:
            out += ["const uint32_t action = n->action;", "const void *data = n->data;"]
        else:
            out += self._indirect(t)
        out.append("switch (action) {")
        for a in self._possible(t):
            out.append(f"case {a}:")
            for what, test in (("hit", "if (hit)"), ("miss", "if (!hit)")):
                name = (pipeline, t.name, what, self.model.actions[a].name)
                marks = self.layout.points.applied(words, *name)
                out += [f"    {test} {{ {mark} }}" for mark in marks]
            out.append(f"    act_{a}(e, p, h, data);")
            out += indent(self._exit())
            hit = self._label(nodes, self._next(t, a, hit=True))
            miss = self._label(nodes, self._next(t, a, hit=False))
            if hit == miss:
                out.append(f"    goto {hit};")
            else:
                out += ["    if (hit)", f"        goto {hit};", f"    goto {miss};"]
        # A miss of a table without a default action
        mark = self.layout.points.applied(words, pipeline, t.name, "miss", "")
        out += ["default:", *indent(mark), "    (void)data;", "    break;", "}"]
        hit = self._label(nodes, t.following(None, hit=True))
        miss = self._label(nodes, t.following(None, hit=False))
        out += ["if (hit)", f"    goto {hit};", f"goto {miss};"]
        return out

    def _possible(self, t: m.Table) -> list[int]:
        """Actions an entry may have: with a shared profile, those of the other tables, too."""
        sharers = [
            o for o in self.model.tables() if t.profile is not None and o.profile == t.profile
        ]
        return list(dict.fromkeys(a for o in [t, *sharers] for a in o.action_ids))

    def _indirect(self, t: m.Table) -> list[str]:
        """A group's member is selected by hash; an empty group ends the pipeline."""
        assert t.profile is not None
        profile = next(a for a in self.model.profiles() if a.name == t.profile)
        number = self.profiles[t.profile]
        choice = f"select_{number}(e, p)" if profile.selector is not None else "0"
        return [
            "uint32_t action = n->action;",
            "const void *data = n->data;",
            "if (n->target != SW_ACTION) {",
            "    const sw_member *member = n->target == SW_MEMBER",
            f"        ? n->member : sw_select(n->group, {choice});",
            "    if (!member)",
            "        goto end;",
            "    action = member->action;",
            "    data = member->data;",
            "}",
        ]
