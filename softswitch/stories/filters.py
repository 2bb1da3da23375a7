"""Which packets a story is told of, in the words of who looks for them."""

import ipaddress
import re
from dataclasses import dataclass

from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.program import Program
from fcn.softswitch.engine.tracing import FieldTest, Filter, PortTest
from fcn.softswitch.stories.words import flattened

SHORT = {
    "src": ("src", "src_addr", "srcaddr", "source", "ip_src"),
    "dst": ("dst", "dst_addr", "dstaddr", "destination", "ip_dst"),
    "protocol": ("protocol", "next_header", "next_hdr", "nexthdr", "proto"),
    "sport": ("src_port", "srcport", "sport", "l4_src_port"),
    "dport": ("dst_port", "dstport", "dport", "l4_dst_port"),
    "flow-label": ("flow_label", "flowlabel"),
    "dest-qp": ("dest_qp", "destqp", "dst_qp", "dqpn"),
}
"""Names of fields that mean the same in programs of others; which of them a packet has does not
matter."""
_FIELD = re.compile(r"([\w.\[\]-]+)=([^/]+?)(?:/(.+))?")
_WIDEST = 128


class FilterError(Exception):
    """A filter that cannot be; the message says why, and what there is."""


@dataclass(frozen=True, slots=True)
class _Known:
    ref: m.FieldRef
    plain: str
    width: int


def read_filter(program: Program, port: int | None, texts: list[str]) -> Filter:
    """FIELD=VALUE or FIELD=VALUE/MASK each, for IP addresses VALUE/LENGTH; FIELD is one of SHORT or
    a field of the program, such as `ipv4.ttl`. All have to hold. Raises FilterError."""
    known = _known(program)
    groups: list[list[FieldTest | PortTest]] = []
    if port is not None:
        groups.append([PortTest(port)])
    for text in texts:
        match = _FIELD.fullmatch(text)
        if match is None:
            raise FilterError(f"{text!r} is not FIELD=VALUE, such as dst=10.0.0.1 or dest-qp=0x11")
        name, value, mask = match.groups()
        fields = _named(known, name)
        tests = [t for each in fields if (t := _test(each, value, mask)) is not None]
        if not tests:
            widths = ", ".join(sorted({f"{each.plain} ({each.width} bits)" for each in fields}))
            raise FilterError(f"{text!r}: the value fits none of {widths}")
        groups.append(list(tests))
    return groups


def _known(program: Program) -> list[_Known]:
    headers = program.model.headers
    plain = flattened(headers)
    return [
        _Known(m.FieldRef(h.name, f.name), f"{plain[h.name]}.{f.name}", f.width)
        for h in headers.values()
        for f in h.type.fields
        if not f.varbit and f.width <= _WIDEST
    ]


def _named(known: list[_Known], name: str) -> list[_Known]:
    if name in SHORT:
        found = [each for each in known if each.ref.field.lower() in SHORT[name]]
    else:
        wanted = name.removeprefix("hdr.")
        found = [
            each for each in known if wanted in (each.plain, f"{each.ref.header}.{each.ref.field}")
        ]
    if not found:
        near = sorted(each.plain for each in known if name.rpartition(".")[2] in each.plain)[:8]
        there = f"; there are {', '.join(near)}" if near else ""
        raise FilterError(
            f"the program has no field {name}{there}; short names: {', '.join(SHORT)}"
        )
    return found


def _test(field: _Known, value: str, mask: str | None) -> FieldTest | None:
    """None where the value is not one of this field, such as an IPv6 address of an IPv4 header."""
    full = (1 << field.width) - 1
    try:
        address = ipaddress.ip_interface(value if mask is None else f"{value}/{mask}")
    except ValueError:
        address = None
    if address is not None and not value.isdecimal():
        if field.width != address.max_prefixlen:
            return None
        return FieldTest(field.ref, int(address.ip), int(address.netmask))
    bits, ones = _number(value), full if mask is None else _number(mask)
    return None if bits > full or ones > full else FieldTest(field.ref, bits, ones)


def _number(text: str) -> int:
    try:
        if text.count(":") == 5:
            return int(text.replace(":", ""), 16)
        return int(text, 0)
    except ValueError:
        raise FilterError(f"{text!r} is neither a number nor an address") from None
