"""What is committed of cffi's reading of C interfaces."""

import pytest

from tools.ffi import MODULES, ROOT, module_of


@pytest.mark.parametrize("module", MODULES)
def test_modules_are_those_of_their_headers(module: str) -> None:
    """If not: `make ffi`."""
    assert (ROOT / module).read_text() == module_of(MODULES[module])
