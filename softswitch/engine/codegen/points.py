"""Points of a program whose C notes that a packet passed them, where that is asked for.

A point's name has the words of the JSON: `parser/STATE`, `parser/STATE/N` for its transition N,
`PIPELINE/NODE`, `PIPELINE/CONDITION/true`, `PIPELINE/TABLE/hit/ACTION`.
"""


class Points:
    """Numbers the points as the code is generated."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted
        self.names: list[str] = []

    def mark(self, *name: str) -> list[str]:
        """C that notes that a packet came here; nothing where nobody wants to know."""
        if not self._wanted:
            return []
        self.names.append("/".join(name))
        return [f"sw_seen[{len(self.names) - 1}] = 1;"]

    def definition(self) -> str:
        """C of the notes, which all engines of the program share."""
        return f"SW_API uint8_t sw_seen[{len(self.names)}];\n" if self.names else ""
