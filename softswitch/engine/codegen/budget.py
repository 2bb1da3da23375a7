"""A bound on what generating a program's C may cost."""

from fcn.softswitch.engine.bmv2json import limits
from fcn.softswitch.engine.errors import UnsupportedError


class Budget:
    """Characters of C a program may still have, intermediate expressions included.

    Some operations repeat the C of their operands, so that nesting them multiplies its length.
    """

    def __init__(self) -> None:
        self.left = limits.C_CHARACTERS

    def spend(self, characters: int) -> None:
        """Raises UnsupportedError when the program would become too large."""
        self.left -= characters
        if self.left < 0:
            raise UnsupportedError(f"a program of more than {limits.C_CHARACTERS} characters of C")

    def lines(self, lines: list[str]) -> list[str]:
        self.spend(sum(map(len, lines)))
        return lines
