"""The packet engine: BMv2 JSON in, native packet processing out.

load_program() and make_program() read and check a program compiled by p4c-bm2-ss and prepare
native code for it. MemoryEngine runs it with in-memory ports under a virtual clock, RealEngine on
network interfaces under the wall clock; both implement softswitch.api.Engine.
"""

from fcn.softswitch.engine.errors import BuildError, ProgramError, UnsupportedError
from fcn.softswitch.engine.memory import MemoryEngine, Output
from fcn.softswitch.engine.program import Program, load_program, make_program
from fcn.softswitch.engine.real import RealEngine

__all__ = [
    "BuildError",
    "MemoryEngine",
    "Output",
    "Program",
    "ProgramError",
    "RealEngine",
    "UnsupportedError",
    "load_program",
    "make_program",
]
