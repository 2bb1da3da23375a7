"""What one part of a program says about another: names, identifiers, counts, widths, totals.

Runs on JSON that fits `schema`; raises ProgramError with the path of the first contradiction.
References inside expressions and primitives are resolved where they are translated, with the same
error.
"""

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from fcn.softswitch.engine.bmv2json import limits
from fcn.softswitch.engine.bmv2json.keys import key_field
from fcn.softswitch.engine.bmv2json.unions import check_unions, once
from fcn.softswitch.engine.bmv2json.values import is_hex
from fcn.softswitch.engine.errors import ProgramError

Json = Mapping[str, Any]
VALID = "$valid$"
_FINER = {
    "exact": ("lpm", "ternary", "optional", "range"),
    "lpm": ("ternary", "optional", "range"),
    "ternary": ("range",),
}
"""Kinds of key a table of a kind cannot have."""
_SAME = {
    "exact": ("exact",),
    "lpm": ("lpm",),
    "range": ("range",),
    "ternary": ("ternary", "optional"),
    "optional": ("ternary", "optional"),
}
"""Kinds a const entry may call a key of a kind; others are refused by name later."""


def check_references(root: Json) -> None:
    """Raises ProgramError when the parts of a program contradict each other."""
    _unique(root)
    headers = _Headers(root)
    check_unions(root)
    actions = {a["id"]: a for a in root["actions"]}
    _parsers(root)
    _arrays(root)
    _lists(root, headers)
    const_entries = 0
    for i, pipeline in enumerate(root["pipelines"]):
        where = f"pipelines[{i}]"
        _control_flow(where, pipeline, actions)
        for k, table in enumerate(pipeline["tables"]):
            _Table(f"{where}.tables[{k}]", root, pipeline, table, headers, actions).check()
            const_entries += len(table.get("entries", []))
        _no_cycle(where, pipeline)
    if const_entries > limits.ALL_CONST_ENTRIES:
        raise ProgramError(
            f"pipelines: {const_entries} const entries, {limits.ALL_CONST_ENTRIES} at most"
        )


def _unique(root: Json) -> None:
    for key in (
        "header_types", "headers", "header_stacks", "calculations", "counter_arrays",
        "meter_arrays", "register_arrays",
    ):  # fmt: skip
        once(f"{key}, names", (x["name"] for x in root[key]))
    for key in ("headers", "actions", "field_lists", "learn_lists"):
        once(f"{key}, ids", (x["id"] for x in root.get(key, [])))
    once("learn_lists, names", (x["name"] for x in root["learn_lists"]))
    once("parse_vsets, names", (v["name"] for v in root.get("parse_vsets", [])))
    once("errors, names", (x[0] for x in root.get("errors", [])))
    pipelines = root["pipelines"]
    once("pipelines, names", (p["name"] for p in pipelines))
    for key in ("tables", "action_profiles"):
        names = (t["name"] for p in pipelines for t in p.get(key, []))
        once(f"{key}, names", names)


def _known(where: str, name: object, names: Iterable[object], what: str) -> None:
    if name not in names:
        raise ProgramError(f"{where}: there is no {what} {name!r}")


class _Headers:
    """Header types and instances: total size, stacks, and the width of every field."""

    def __init__(self, root: Json) -> None:
        self.types = {t["name"]: t for t in root["header_types"]}
        self.widths = {
            name: {f[0]: f[1] for f in htype["fields"]} for name, htype in self.types.items()
        }
        self.headers = {h["name"]: h for h in root["headers"]}
        octets = {t["name"]: self._octets(i, t) for i, t in enumerate(root["header_types"])}
        for i, h in enumerate(root["headers"]):
            _known(f"headers[{i}].header_type", h["header_type"], self.types, "header type")
        total = sum(octets[h["header_type"]] for h in root["headers"])
        if total > limits.PHV_OCTETS:
            raise ProgramError(
                f"headers: {total} octets of headers and metadata, {limits.PHV_OCTETS} at most"
            )
        self._stacks(root)

    @staticmethod
    def _octets(index: int, htype: Json) -> int:
        where = f"header_types[{index}]"
        once(f"{where}.fields, names", (f[0] for f in htype["fields"]))
        bits = sum(f[1] for f in htype["fields"] if f[1] != "*")
        if any(f[1] == "*" for f in htype["fields"]):
            longest = htype.get("max_length")
            if longest is None or longest * 8 < bits:
                raise ProgramError(
                    f"{where}.max_length: a varbit needs a length of at least the {bits} other bits"
                )
            bits = longest * 8
        octets: int = (bits + 7) // 8
        if octets > limits.HEADER_OCTETS:
            raise ProgramError(f"{where}: {octets} octets, {limits.HEADER_OCTETS} at most")
        return octets

    def _stacks(self, root: Json) -> None:
        by_id = {h["id"]: h for h in root["headers"]}
        for i, stack in enumerate(root["header_stacks"]):
            where = f"header_stacks[{i}]"
            for k, number in enumerate(stack["header_ids"]):
                _known(f"{where}.header_ids[{k}]", number, by_id, "header with id")
                header = by_id[number]
                if header["metadata"] or header["header_type"] != stack["header_type"]:
                    raise ProgramError(
                        f"{where}.header_ids[{k}]: {header['name']} is no header of type "
                        f"{stack['header_type']}"
                    )
        ids = (i for stack in root["header_stacks"] for i in stack["header_ids"])
        once("header_stacks, header_ids", ids)
        once(
            "headers and header_stacks, names",
            [h["name"] for h in root["headers"]] + [s["name"] for s in root["header_stacks"]],
        )

    def width(self, where: str, path: list[str]) -> int | None:
        """Bits of a field; None is a varbit."""
        header, field = path
        _known(where, header, self.headers, "header")
        if field == VALID:
            return 1
        widths = self.widths[self.headers[header]["header_type"]]
        if field not in widths:
            raise ProgramError(f"{where}: unknown field {header}.{field}")
        width = widths[field]
        return width if isinstance(width, int) else None


def _parsers(root: Json) -> None:
    value_sets = {v["name"] for v in root.get("parse_vsets", [])}
    for i, parser in enumerate(root["parsers"]):
        where = f"parsers[{i}]"
        states = [s["name"] for s in parser["parse_states"]]
        once(f"{where}.parse_states, names", states)
        known = {None, *states}
        _known(f"{where}.init_state", parser["init_state"], known, "state")
        for k, state in enumerate(parser["parse_states"]):
            for n, transition in enumerate(state["transitions"]):
                at = f"{where}.parse_states[{k}].transitions[{n}]"
                _known(f"{at}.next_state", transition["next_state"], known, "state")
                kind, value = transition.get("type"), transition["value"]
                if kind == "parse_vset":
                    _known(f"{at}.value", value, value_sets, "value set")
                elif kind != "default" and value != "default" and not is_hex(value):
                    raise ProgramError(f"{at}.value: a transition needs a value")
    headers = {h["name"] for h in root["headers"] if not h["metadata"]}
    for i, deparser in enumerate(root["deparsers"]):
        for k, name in enumerate(deparser["order"]):
            _known(f"deparsers[{i}].order[{k}]", name, headers, "header")


def _arrays(root: Json) -> None:
    cells = 0
    for key in ("counter_arrays", "meter_arrays", "register_arrays"):
        for i, array in enumerate(root[key]):
            if array.get("is_direct"):
                tables = [t["name"] for p in root["pipelines"] for t in p["tables"]]
                _known(f"{key}[{i}].binding", array.get("binding"), tables, "table")
            elif "size" not in array:
                raise ProgramError(f"{key}[{i}].size: Field required")
            else:
                cells += array["size"]
    if cells > limits.ALL_CELLS:
        raise ProgramError(
            f"counter_arrays, meter_arrays, register_arrays: {cells} cells together, "
            f"{limits.ALL_CELLS} at most"
        )


def _lists(root: Json, headers: _Headers) -> None:
    for i, entry in enumerate(root["learn_lists"]):
        for k, element in enumerate(entry["elements"]):
            if element.get("type") == "field":
                where = f"learn_lists[{i}].elements[{k}]"
                if headers.width(where, element["value"]) is None:
                    raise ProgramError(f"{where}: a varbit in a digest")
    for i, meter in enumerate(root["meter_arrays"]):
        if meter.get("result_target"):
            headers.width(f"meter_arrays[{i}].result_target", meter["result_target"])
    calculations = {c["name"] for c in root["calculations"]}
    _inputs("calculations", root["calculations"], headers)
    for i, pipeline in enumerate(root["pipelines"]):
        profiles = [p.get("selector") or {"input": []} for p in pipeline.get("action_profiles", [])]
        _inputs(f"pipelines[{i}].action_profiles", profiles, headers)
    for i, checksum in enumerate(root["checksums"]):
        where = f"checksums[{i}]"
        headers.width(f"{where}.target", checksum["target"])
        _known(f"{where}.calculation", checksum["calculation"], calculations, "calculation")


def _inputs(where: str, calculations: Iterable[Json], headers: _Headers) -> None:
    """The value an input of a hash has to have depends on its kind."""
    for i, calculation in enumerate(calculations):
        for k, entry in enumerate(calculation["input"]):
            at = f"{where}[{i}].input[{k}]"
            kind, value = entry["type"], entry.get("value")
            if kind == "field":
                if not isinstance(value, list):
                    raise ProgramError(f"{at}.value: a field has a header and a name")
                headers.width(at, value)
            elif kind == "header":
                if not isinstance(value, str):
                    raise ProgramError(f"{at}.value: a header has a name")
                _known(f"{at}.value", value, headers.headers, "header")
            elif kind == "hexstr":
                if entry.get("bitwidth") is None or not is_hex(value):
                    raise ProgramError(f"{at}: a literal has a number and a bitwidth")
                _fits(f"{at}.value", value, entry["bitwidth"])


def _control_flow(where: str, pipeline: Json, actions: Mapping[int, Json]) -> None:
    calls = pipeline.get("action_calls", [])
    names = [n["name"] for n in (*pipeline["tables"], *pipeline["conditionals"], *calls)]
    once(f"{where}, names of tables, conditionals and action calls", names)
    known = {None, *names}
    _known(f"{where}.init_table", pipeline["init_table"], known, "node")
    for i, c in enumerate(pipeline["conditionals"]):
        for key in ("true_next", "false_next"):
            _known(f"{where}.conditionals[{i}].{key}", c[key], known, "node")
    for i, call in enumerate(calls):
        at = f"{where}.action_calls[{i}]"
        _known(f"{at}.next_node", call["next_node"], known, "node")
        _arguments(at, call["action_id"], [], actions)


def _no_cycle(where: str, pipeline: Json) -> None:
    """Control flow with a cycle might never end."""
    following = {
        **{
            t["name"]: {t.get("base_default_next"), *t["next_tables"].values()}
            for t in pipeline["tables"]
        },
        **{c["name"]: {c["true_next"], c["false_next"]} for c in pipeline["conditionals"]},
        **{c["name"]: {c["next_node"]} for c in pipeline.get("action_calls", [])},
    }
    try:
        TopologicalSorter(following).prepare()
    except CycleError as error:
        raise ProgramError(f"{where}: {error.args[1][0]} comes after itself") from error


def _arguments(where: str, number: int, data: list[str], actions: Mapping[int, Json]) -> None:
    _known(f"{where}.action_id", number, actions, "action with id")
    params = actions[number]["runtime_data"]
    if len(params) != len(data):
        raise ProgramError(
            f"{where}: {actions[number]['name']} has {len(params)} arguments, {len(data)} are given"
        )
    for i, (param, value) in enumerate(zip(params, data, strict=True)):
        _fits(f"{where}.action_data[{i}]", value, param["bitwidth"])


def _fits(where: str, value: str, width: int) -> None:
    if not 0 <= int(value, 16) < 1 << width:
        raise ProgramError(f"{where}: {value} does not fit {width} bits")


class _Table:
    def __init__(
        self,
        where: str,
        root: Json,
        pipeline: Json,
        table: Json,
        headers: _Headers,
        actions: Mapping[int, Json],
    ) -> None:
        self.where = where
        self.root = root
        self.pipeline = pipeline
        self.table = table
        self.headers = headers
        self.actions = actions

    def check(self) -> None:
        """Raises ProgramError."""
        t, where = self.table, self.where
        self._check_actions()
        nodes = {None} | {
            n["name"]
            for key in ("tables", "conditionals", "action_calls")
            for n in self.pipeline.get(key, [])
        }
        _known(f"{where}.base_default_next", t.get("base_default_next"), nodes, "node")
        for name, following in t["next_tables"].items():
            _known(f"{where}.next_tables", name, {*t["actions"], "__HIT__", "__MISS__"}, "action")
            _known(f"{where}.next_tables.{name}", following, nodes, "node")
        meters = {m["name"] for m in self.root["meter_arrays"] if m["is_direct"]}
        _known(f"{where}.direct_meters", t.get("direct_meters"), {None} | meters, "direct meter")
        profiles = {p["name"] for p in self.pipeline.get("action_profiles", [])}
        profile = t.get("action_profile")
        _known(f"{where}.action_profile", profile, {None} | profiles, "action profile")
        widths = [self._key_width(f"{where}.key[{i}]", key) for i, key in enumerate(t["key"])]
        self._check_kind()
        if len(t.get("entries", [])) > t["max_size"] or (t.get("entries") and profile):
            raise ProgramError(f"{where}.entries: more than max_size, or in a table with a profile")
        for i, entry in enumerate(t.get("entries", [])):
            self._check_entry(f"{where}.entries[{i}]", entry, widths)

    def _check_kind(self) -> None:
        kind = self.table["match_type"]
        kinds = [k["match_type"] for k in self.table["key"]]
        wrong = {k for k in kinds if k in _FINER.get(kind, ())}
        if wrong or (kind == "lpm" and kinds.count("lpm") != 1):
            raise ProgramError(f"{self.where}.match_type: {kind!r} with keys {kinds}")

    def _check_actions(self) -> None:
        t, where = self.table, self.where
        names = []
        for i, number in enumerate(t["action_ids"]):
            _known(f"{where}.action_ids[{i}]", number, self.actions, "action with id")
            names.append(self.actions[number]["name"])
        once(f"{where}.action_ids", names)
        if names != list(t["actions"]):
            raise ProgramError(f"{where}.actions: these are not the names of action_ids")
        default = t.get("default_entry")
        if default is not None:
            at = f"{where}.default_entry"
            if t.get("action_profile") is not None:
                raise ProgramError(f"{at}: the table has an action profile")
            _known(f"{at}.action_id", default["action_id"], t["action_ids"], "action of the table")
            _arguments(at, default["action_id"], default.get("action_data", []), self.actions)

    def _key_width(self, where: str, key: Json) -> int:
        field = key_field(self.root, f"{where}.target", key["target"])
        width = self.headers.width(f"{where}.target", field)
        if width is None:
            raise ProgramError(f"{where}: a varbit as a key")
        if key["mask"] is not None:
            _fits(f"{where}.mask", key["mask"], width)
        return width

    def _check_entry(self, where: str, entry: Json, widths: list[int]) -> None:
        call = entry["action_entry"]
        _known(
            f"{where}.action_entry.action_id",
            call["action_id"],
            self.table["action_ids"],
            "action of the table",
        )
        _arguments(
            f"{where}.action_entry", call["action_id"], call.get("action_data", []), self.actions
        )
        keys = self.table["key"]
        if len(entry["match_key"]) != len(keys):
            raise ProgramError(
                f"{where}.match_key: {len(entry['match_key'])} fields, the table has {len(keys)}"
            )
        for i, (match, key, width) in enumerate(zip(entry["match_key"], keys, widths, strict=True)):
            at = f"{where}.match_key[{i}]"
            kind = key["match_type"]
            if kind in _SAME and match["match_type"] not in _SAME[kind]:
                raise ProgramError(f"{at}: {match['match_type']!r}, the key is {kind!r}")
            self._check_match(at, match, width)

    @staticmethod
    def _check_match(where: str, match: Json, width: int) -> None:
        members = {"range": ("start", "end"), "ternary": ("key", "mask")}
        members["optional"] = members["ternary"]
        for name in members.get(match["match_type"], ("key",)):
            if match.get(name) is None:
                raise ProgramError(f"{where}.{name}: Field required")
            _fits(f"{where}.{name}", match[name], width)
        if match["match_type"] == "range" and int(match["start"], 16) > int(match["end"], 16):
            raise ProgramError(f"{where}: an empty range")
        if match["match_type"] == "lpm":
            length = match.get("prefix_length")
            if length is None or length > width:
                raise ProgramError(f"{where}.prefix_length: 0 to {width} are possible")
