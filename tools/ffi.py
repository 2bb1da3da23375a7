"""What cffi makes of C interfaces, as modules: it takes a tenth of a second to parse them, which
every switch, test and run would take at its start.

`python -m tools.ffi` (`make ffi`) writes them.
"""

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import cffi

ROOT = Path(__file__).resolve().parents[1]
MODULES = {
    "softswitch/engine/control_ffi.py": ("softswitch/engine/native/sw_ctl.h",),
    "lab/lab_ffi.py": (
        # What a connection is told.
        *(f"hosts/roce/src/{name}.h" for name in ("wire", "packet", "dcqcn", "delay", "requester")),
        "lab/native/lab_api.h",
    ),
}
"""The headers of each module, which declare what is between their CDEF marks."""
_CDEF = re.compile(r"/\* BEGIN CDEF \*/(.*)/\* END CDEF \*/", re.DOTALL)
_OPAQUE = "typedef struct sw_engine sw_engine; typedef struct sw_sim_api sw_sim_api;"


def module_of(headers: Sequence[str]) -> str:
    """The text of the module of some headers."""
    ffi = cffi.FFI()
    ffi.cdef(_OPAQUE)
    for header in headers:
        found = _CDEF.search((ROOT / header).read_text())
        assert found is not None, f"{header} has CDEF marks"
        ffi.cdef(found.group(1).replace("SW_API ", ""))
    ffi.set_source("module", None)
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "module.py"
        ffi.emit_python_code(str(module))
        return module.read_text()


def main() -> None:
    for module, headers in MODULES.items():
        (ROOT / module).write_text(module_of(headers))


if __name__ == "__main__":
    main()
