"""One check of the demo."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """Two counts that must be equal, each with its meaning."""

    name: str
    left: str
    left_count: int
    right: str
    right_count: int

    @property
    def passed(self) -> bool:
        return self.left_count == self.right_count

    def __str__(self) -> str:
        relation = "=" if self.passed else "but"
        return (
            f"{self.name}: {self.left} {self.left_count} {relation} {self.right} {self.right_count}"
        )
