"""The whole translation unit of a program."""

from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.codegen.actions import Actions, cell_size
from fcn.softswitch.engine.codegen.calc import calculations
from fcn.softswitch.engine.codegen.codec import header_functions, indent
from fcn.softswitch.engine.codegen.control_blocks import ControlBlocks
from fcn.softswitch.engine.codegen.expr import Exprs
from fcn.softswitch.engine.codegen.layout import Layout, nbytes
from fcn.softswitch.engine.codegen.parser import Parser
from fcn.softswitch.engine.codegen.points import Notes
from fcn.softswitch.engine.codegen.value import Value
from fcn.softswitch.engine.errors import UnsupportedError

_REQUIRED = ("ingress_port", "packet_length", "instance_type", "egress_spec", "egress_port")


def generate(model: m.Model) -> str:
    """C of a program; raises UnsupportedError for constructs outside the subset."""
    return generate_with_points(model, Notes.NONE)[0]


def generate_with_points(model: m.Model, notes: Notes = Notes.SEEN) -> tuple[str, tuple[str, ...]]:
    """As generate(), with notes of the points that packets passed; and the points (points.py)."""
    unit = _Unit(model, notes)
    return unit.text(), tuple(unit.layout.points.names)


class _Unit:
    def __init__(self, model: m.Model, notes: Notes) -> None:
        self.model = model
        self.notes = notes
        self.layout = Layout(model, notes)
        self.exprs = Exprs(self.layout)
        self.actions = Actions(self.layout)
        for name in _REQUIRED:
            if model.standard(f"standard_metadata.{name}") is None:
                raise UnsupportedError(f"a program without standard_metadata.{name}")

    def text(self) -> str:
        control_blocks = ControlBlocks(self.layout, self.exprs)
        parts = [
            self.layout.definitions(),
            self.layout.reset_functions(),
            self.layout.field_table() if self.notes is Notes.STORIES else "",
            header_functions(self.layout),
            calculations(self.layout),
            self.actions.definitions(),
            self.actions.functions(),
            control_blocks.definitions(),
            Parser(self.layout, self.exprs, self.actions).parse_function(),
            *(control_blocks.function(p) for p in self.model.control_blocks),
            Parser(self.layout, self.exprs, self.actions).deparse_function(),
            self._metadata(),
            self._field_lists(),
            self._program(),
        ]
        widest = max([
            self.exprs.widest,
            self.actions.widest,
            *(f.width for h in self.model.headers.values() for f in h.type.fields
              if not f.varbit and f.width > 128),
        ])  # fmt: skip
        limbs = (widest + 64) // 64 + 1
        head = [
            f"#define SW_WIDE {max(3, limbs)}",
            *(["#define SW_TRACED 1"] if self.notes is Notes.STORIES else []),
            '#include "sw_trace.h"',
            '#include "sw_wide.h"',
            self.layout.points.definition(),
        ]
        return "\n".join(head) + "\n".join(parts)

    # Standard metadata

    def _set(self, name: str, code: str) -> list[str]:
        """Assignment to a field of simple_switch, if the program has it."""
        ref = self.model.standard(name)
        if ref is None:
            return []
        return self.exprs.store(ref, Value(f"(uint64_t)({code})", "u64", 0, (1 << 64) - 1))

    def _get(self, name: str) -> str:
        ref = self.model.standard(name)
        if ref is None:
            return "0"
        declared = self.layout.field_type(self.layout.header(ref.header).type, ref.field)
        if declared.varbit or declared.width > 128:
            raise UnsupportedError(f"{name} of more than 128 bits")
        return f"(uint32_t){self.exprs.data(ref).code}"

    @staticmethod
    def _function(signature: str, lines: list[str]) -> str:
        body = ["    phv *h = sw_phv(p);", "    (void)h;", *indent(lines)]
        return "\n".join([f"static {signature}", "{", *body, "}"]) + "\n"

    def _getter(self, short: str, name: str) -> str:
        signature = f"uint32_t prog_{short}(const sw_pkt *p)"
        return self._function(signature, [f"return {self._get(name)};"])

    def _metadata(self) -> str:
        queueing = ("enq_timestamp", "enq_qdepth", "deq_timedelta", "deq_qdepth")
        with_queueing = all(
            self.model.standard(f"queueing_metadata.{q}") is not None for q in queueing
        )
        enqueued = ["(void)now_us, (void)depth;"]
        dequeued = self._set("intrinsic_metadata.egress_global_timestamp", "now_us")
        dequeued += ["(void)now_us, (void)depth;"]
        if with_queueing:
            enqueued += self._set("queueing_metadata.enq_timestamp", "now_us")
            enqueued += self._set("queueing_metadata.enq_qdepth", "depth")
            since = self._get("queueing_metadata.enq_timestamp")
            dequeued += self._set("queueing_metadata.deq_timedelta", f"now_us - {since}")
            dequeued += self._set("queueing_metadata.deq_qdepth", "depth")
            dequeued += self._set("queueing_metadata.qid", "p->queue")
        dequeued += self._set("standard_metadata.egress_port", "p->egress_port")
        dequeued += self._set("standard_metadata.egress_spec", "e_drop + 1")
        dequeued += self._set("standard_metadata.packet_length", "p->reg_len")
        return "".join([
            self._function(
                "void prog_received(sw_pkt *p, uint64_t now_us)",
                [
                    *self._set("standard_metadata.ingress_port", "p->ingress_port"),
                    *self._set("standard_metadata.packet_length", "p->reg_len"),
                    *self._set("standard_metadata.instance_type", "SW_NORMAL"),
                    *self._set("intrinsic_metadata.ingress_global_timestamp", "now_us"),
                    "(void)now_us;",
                ],
            ),
            self._function(
                "void prog_parsed(sw_pkt *p)",
                [
                    *self._set("standard_metadata.parser_error", "p->parser_error"),
                    *self._set("standard_metadata.checksum_error", "p->checksum_error"),
                ],
            ),
            self._function(
                "void prog_enqueued(sw_pkt *p, uint64_t now_us, uint32_t depth)", enqueued
            ),
            self._function(
                "void prog_dequeued(sw_pkt *p, uint64_t now_us, uint32_t depth, uint32_t e_drop)",
                dequeued,
            ),
            *(
                self._getter(short, n)
                for short, n in (
                    ("egress_spec", "standard_metadata.egress_spec"),
                    ("mcast_grp", "intrinsic_metadata.mcast_grp"),
                    ("priority", "intrinsic_metadata.priority"),
                )
            ),
            *(
                self._function(
                    f"void prog_set_{short}(sw_pkt *p, uint32_t v)",
                    [*self._set(n, "v"), "(void)v;"],
                )
                for short, n in (
                    ("priority", "intrinsic_metadata.priority"),
                    ("ingress_port", "standard_metadata.ingress_port"),
                    ("instance_type", "standard_metadata.instance_type"),
                    ("packet_length", "standard_metadata.packet_length"),
                    ("egress_rid", "intrinsic_metadata.egress_rid"),
                )
            ),
        ])  # fmt: skip

    # Field lists

    def _copy_field(self, ref: m.FieldRef) -> str:
        place = self.layout.header(ref.header)
        member = self.layout.field(place, ref.field)
        other = "g->" + member.removeprefix("h->")
        decl = self.layout.field_type(place.type, ref.field)
        if decl.width > 128 and not decl.varbit:
            return f"memcpy({member}, {other}, sizeof {member});"
        return f"{member} = {other};"

    def _field_lists(self) -> str:
        out = [
            "static void prog_copy_fields(sw_pkt *p, const sw_pkt *from, uint32_t list)",
            "{",
            "    phv *h = sw_phv(p);",
            "    const phv *g = sw_phv(from);",
            "    (void)h, (void)g;",
            "    switch (list) {",
        ]
        for f in self.model.field_lists.values():
            out.append(f"    case {f.id}:")
            for ref in f.fields:
                if isinstance(ref, m.FieldRef) and ref.field != "$valid$":
                    out.append("        " + self._copy_field(ref))
            out.append("        break;")
        out += ["    default:", "        break;", "    }", "}"]
        out += [
            "static uint32_t",
            "prog_learn(const sw_pkt *p, uint32_t list, uint8_t *out, uint32_t cap)",
            "{",
            "    const phv *h = sw_phv(p);",
            "    uint8_t *b = out;",
            "    (void)h, (void)cap;",
            "    switch (list) {",
        ]
        for number, learned in self.model.learn_lists.items():
            out += self._learn_case(number, learned)
        out += ["    default:", "        break;", "    }", "    return (uint32_t)(b - out);", "}"]
        return "\n".join(out) + "\n"

    def _learn_case(self, number: int, f: m.LearnList) -> list[str]:
        lines = []
        total = 0
        for ref, width in zip(f.fields, f.widths, strict=True):
            size = nbytes(width)
            total += size
            if isinstance(ref, m.Const):
                data = ", ".join(str(b) for b in ref.value.to_bytes(size, "big"))
                lines.append(f"memcpy(b, (const uint8_t[]){{{data}}}, {size});")
            elif ref.field == "$valid$":
                lines.append(f"*b = {self.layout.header(ref.header).valid};")
            else:
                place = self.layout.header(ref.header)
                code = self.layout.field(place, ref.field)
                put = (
                    f"memcpy(b, {code}, {size})" if width > 128 else f"sw_stn128(b, {code}, {size})"
                )
                lines.append(put + ";")
            lines.append(f"b += {size};")
        return [
            f"    case {number}:",
            f"        if (cap < {total})",
            "            break;",
            *indent(lines, 2),
            "        break;",
        ]

    # The program

    def _program(self) -> str:
        counters, meters = self.actions.counters, self.actions.meters
        registers = self.actions.registers
        cells = [str(cell_size(r.width)) for r in registers]
        last = max(self.model.actions, default=-1)
        sizes = [
            f"sizeof(struct ad_{i})" if i in self.model.actions else "0" for i in range(last + 1)
        ]

        def array(name: str, ctype: str, items: list[str]) -> str:
            return f"static const {ctype} {name}[] = {{{', '.join(items or ['0'])}}};\n"

        fields = {
            "phv_size": "sizeof(phv)",
            "locals_size": "sizeof(locals)",
            "n_tables": str(len(self.model.tables()) + len(self.model.value_sets)),
            "n_counters": str(len(counters)),
            "n_meters": str(len(meters)),
            "n_registers": str(len(registers)),
            "tables": "prog_tables",
            "counter_sizes": "prog_counter_sizes",
            "meter_sizes": "prog_meter_sizes",
            "meter_bytes": "prog_meter_bytes",
            "register_sizes": "prog_register_sizes",
            "register_cells": "prog_register_cells",
            "action_data": "prog_action_data",
            "n_actions": str(last + 1),
            "args": "prog_args",
            "first_arg": "prog_first_arg",
        }
        functions = (
            "reset reset_metadata received parse parsed ingress enqueued dequeued egress deparse "
            "copy_fields learn egress_spec mcast_grp priority set_priority set_ingress_port "
            "set_instance_type set_packet_length set_egress_rid"
        )
        fields |= {name: f"prog_{name}" for name in functions.split()}
        return (
            array("prog_counter_sizes", "uint32_t", [str(c.size) for c in counters])
            + array("prog_meter_sizes", "uint32_t", [str(c.size) for c in meters])
            + array("prog_meter_bytes", "uint8_t", [str(int(c.unit == "bytes")) for c in meters])
            + array("prog_register_sizes", "uint32_t", [str(r.size) for r in registers])
            + array("prog_register_cells", "uint32_t", cells)
            + array("prog_action_data", "uint32_t", sizes)
            + "const sw_program sw_prog = {\n"
            + "".join(f"    .{name} = {code},\n" for name, code in fields.items())
            + "};\n"
        )
