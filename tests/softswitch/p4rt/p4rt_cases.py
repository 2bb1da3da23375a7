"""Malformed table entries and the error codes P4Runtime specifies for them."""

from collections.abc import Callable

from finsy.proto import p4r, rpc_code

Change = Callable[[p4r.TableEntry], object]


def _set(field: str, value: object) -> Change:
    return lambda entry: setattr(entry, field, value)


HOST_ERRORS: list[tuple[str, Change, int]] = [
    ("no table", _set("table_id", 0), rpc_code.INVALID_ARGUMENT),
    ("unknown table", _set("table_id", 0x02123456), rpc_code.INVALID_ARGUMENT),
    ("priority", _set("priority", 3), rpc_code.INVALID_ARGUMENT),
    ("is_const", _set("is_const", True), rpc_code.INVALID_ARGUMENT),
    ("no key", lambda e: e.ClearField("match"), rpc_code.INVALID_ARGUMENT),
    ("key twice", lambda e: e.match.append(e.match[0]), rpc_code.INVALID_ARGUMENT),
    ("unknown key", lambda e: e.match.add(field_id=9), rpc_code.INVALID_ARGUMENT),
    ("key type", lambda e: e.match[0].lpm.SetInParent(), rpc_code.INVALID_ARGUMENT),
    ("empty key", lambda e: e.match[0].exact.ClearField("value"), rpc_code.OUT_OF_RANGE),
    (
        "wide key",
        lambda e: setattr(e.match[0].exact, "value", b"\x01" + bytes(6)),
        rpc_code.OUT_OF_RANGE,
    ),
    ("no action", lambda e: e.ClearField("action"), rpc_code.INVALID_ARGUMENT),
    (
        "unknown action",
        lambda e: setattr(e.action.action, "action_id", 5),
        rpc_code.INVALID_ARGUMENT,
    ),
    ("no param", lambda e: e.action.action.ClearField("params"), rpc_code.INVALID_ARGUMENT),
    (
        "param twice",
        lambda e: e.action.action.params.append(e.action.action.params[0]),
        rpc_code.INVALID_ARGUMENT,
    ),
    (
        "unknown param",
        lambda e: e.action.action.params.add(param_id=7, value=b"\x01"),
        rpc_code.INVALID_ARGUMENT,
    ),
    (
        "wide param",
        lambda e: setattr(e.action.action.params[0], "value", b"\x02\x00"),
        rpc_code.OUT_OF_RANGE,
    ),
    (
        "member in a direct table",
        lambda e: setattr(e.action, "action_profile_member_id", 1),
        rpc_code.INVALID_ARGUMENT,
    ),
    ("negative timeout", _set("idle_timeout_ns", -1), rpc_code.INVALID_ARGUMENT),
    ("last hit", lambda e: e.time_since_last_hit.SetInParent(), rpc_code.INVALID_ARGUMENT),
    ("meter", lambda e: e.meter_config.SetInParent(), rpc_code.INVALID_ARGUMENT),
    ("meter counters", lambda e: e.meter_counter_data.SetInParent(), rpc_code.UNIMPLEMENTED),
]


ACL_ERRORS: list[tuple[str, Change]] = [
    ("no priority", _set("priority", 0)),
    ("negative priority", _set("priority", -1)),
    ("bits outside the mask", lambda e: setattr(e.match[0].ternary, "value", b"\x0a\x01")),
    (
        "mask 0",
        lambda e: e.match[0].ternary.CopyFrom(p4r.FieldMatch.Ternary(value=b"\0", mask=b"\0")),
    ),
    ("low above high", lambda e: setattr(e.match[1].range, "low", b"\x09\x00")),
    (
        "whole range",
        lambda e: e.match[1].range.CopyFrom(p4r.FieldMatch.Range(low=b"\0", high=b"\xff\xff")),
    ),
    ("idle timeout", _set("idle_timeout_ns", 5)),
    ("counter", lambda e: e.counter_data.SetInParent()),
]
