"""Whether the compiler warns of generated code."""

from pathlib import Path

from fcn.softswitch.engine.build import SOURCES, compile_c

FLAGS = ("-Wall", "-Wextra", "-Werror", "-O1", "-c")


def refuse_warnings(code: str, folder: Path) -> None:
    """Compile a program with the runtime. Raises BuildError."""
    unit = code + "".join(f'\n#include "{name}"' for name in SOURCES)
    compile_c(unit, folder / "program.o", FLAGS)
