"""The packet engine: BMv2 JSON in, native packet processing out.

load_program() reads and checks a program compiled by p4c-bm2-ss and prepares native code for it.
MemoryEngine runs it with in-memory ports under a virtual clock, RealEngine on network interfaces
under the wall clock; both implement softswitch.api.Engine.
"""

from softswitch.engine.errors import BuildError, ProgramError, UnsupportedError
from softswitch.engine.memory import MemoryEngine, Output
from softswitch.engine.program import Program, load_program
from softswitch.engine.real import RealEngine

__all__ = [
    "BuildError",
    "MemoryEngine",
    "Output",
    "Program",
    "ProgramError",
    "RealEngine",
    "UnsupportedError",
    "load_program",
]
