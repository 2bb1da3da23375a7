"""What was imported: switches, links, hosts, and flows between hosts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Link:
    """Between two nodes: bit/s of each direction, and nanoseconds of propagation."""

    a: str
    b: str
    rate_bps: int
    delay_ns: int


@dataclass(frozen=True, slots=True)
class Flow:
    """Octets from a host to another, from a time on."""

    source: str
    target: str
    size: int
    start_ns: int


@dataclass(frozen=True)
class Imported:
    """A network with its flows. edges: switches that have hosts; cores: the others. hosts: the link
    of each to its switch (`a` is the host). links: between switches. notes: what a reader should
    know, a sentence each. settings: more keys of the scenario, as YAML."""

    source: str
    edges: tuple[str, ...]
    cores: tuple[str, ...]
    hosts: tuple[Link, ...]
    links: tuple[Link, ...]
    flows: tuple[Flow, ...]
    notes: tuple[str, ...] = ()
    settings: str = ""
