"""The compiled core of the laboratory."""

from functools import cache
from pathlib import Path

from fcn.contract.constants import FCN_LABEL_BIT
from fcn.hosts.build import compile_cached
from fcn.hosts.roce.build import PROTOCOL_SOURCES
from fcn.lab import lab_ffi
from fcn.softswitch.engine.build import NATIVE as ENGINE
from fcn.softswitch.engine.build import CData

NATIVE = Path(__file__).parent / "native"
_FLAGS = (
    "-O3",
    "-fPIC",
    "-shared",
    "-ffp-contract=off",
    # One unit: calls between files are inlined, and none goes through a table of others.
    "-flto",
    "-fno-semantic-interposition",
    "-fno-strict-aliasing",
    f"-DFCN_LABEL_BIT={FCN_LABEL_BIT}",
)


def ffi() -> CData:
    """cffi with the interface of native/lab_api.h declared."""
    return lab_ffi.ffi


@cache
def load_core(*, sanitize: bool = False) -> CData:
    """The laboratory's library; `sanitize` builds it with ASan and UBSan. Raises BuildError."""
    sources = [*sorted(NATIVE.glob("*.c")), *PROTOCOL_SOURCES]
    library = compile_cached(
        "fcn-lab.so", sources, sanitize=sanitize, extra_flags=_FLAGS, headers_in=(ENGINE,)
    )
    return ffi().dlopen(str(library))
