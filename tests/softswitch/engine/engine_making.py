"""The type of the make_engine fixture."""

from collections.abc import Callable

from fcn.softswitch.engine import MemoryEngine

MakeEngine = Callable[..., MemoryEngine]
