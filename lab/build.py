"""The compiled core of the laboratory."""

import re
from functools import cache
from pathlib import Path

import cffi

from fcn.contract.constants import FCN_LABEL_BIT
from fcn.hosts.build import compile_cached
from fcn.hosts.roce.build import PROTOCOL_SOURCES, SOURCES
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
_PARAMETERS = ("wire", "packet", "dcqcn", "delay", "requester")
"""Headers of the protocol that have what a connection is told."""
_CDEF = re.compile(r"/\* BEGIN CDEF \*/(.*)/\* END CDEF \*/", re.DOTALL)


@cache
def ffi() -> CData:
    """cffi with the interface of native/lab_api.h declared."""
    out = cffi.FFI()
    out.cdef("typedef struct sw_engine sw_engine; typedef struct sw_sim_api sw_sim_api;")
    for header in (*(SOURCES / f"{name}.h" for name in _PARAMETERS), NATIVE / "lab_api.h"):
        found = _CDEF.search(header.read_text())
        assert found is not None, f"{header} has CDEF marks"
        out.cdef(found.group(1))
    return out


@cache
def load_core(*, sanitize: bool = False) -> CData:
    """The laboratory's library; `sanitize` builds it with ASan and UBSan. Raises BuildError."""
    sources = [*sorted(NATIVE.glob("*.c")), *PROTOCOL_SOURCES]
    library = compile_cached(
        "fcn-lab.so", sources, sanitize=sanitize, extra_flags=_FLAGS, headers_in=(ENGINE,)
    )
    return ffi().dlopen(str(library))
