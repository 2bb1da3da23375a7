"""The compiled RoCEv2 host, `fcn-roce`."""

from pathlib import Path

from fcn.hosts.build import compile_cached

SOURCES = Path(__file__).parent / "src"


def fcn_roce(*, sanitize: bool = False) -> Path:
    """Path of the compiled `fcn-roce`; `sanitize` builds it with ASan and UBSan."""
    return compile_cached("fcn-roce", sorted(SOURCES.glob("*.c")), sanitize=sanitize)
