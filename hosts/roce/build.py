"""The compiled RoCEv2 host, `fcn-roce`."""

from pathlib import Path

from fcn.hosts.build import compile_cached

SOURCES = Path(__file__).parent / "src"
_PROTOCOL = (
    "cm", "dcqcn", "delay", "icrc", "marks", "packet", "pfc", "requester", "requester_cm",
    "responder",
)  # fmt: skip
PROTOCOL_SOURCES = tuple(SOURCES / f"{name}.c" for name in _PROTOCOL)
"""What knows neither sockets nor the wall clock; the laboratory's hosts run it, too."""


def fcn_roce(*, sanitize: bool = False) -> Path:
    """Path of the compiled `fcn-roce`; `sanitize` builds it with ASan and UBSan."""
    return compile_cached("fcn-roce", sorted(SOURCES.glob("*.c")), sanitize=sanitize)
