"""A log of fcn-roce, read while it is written."""

from collections import Counter
from pathlib import Path

from fcn.hosts.roce.log import parse_line


class LogTail:
    """The latest state in a log that is still being written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._rates: dict[int, float] = {}
        self.counts: Counter[str] = Counter()

    def read(self) -> None:
        """Read the lines completed since the last call."""
        if not self._path.exists():
            return
        with self._path.open("rb") as log:
            log.seek(self._offset)
            text = log.read()
        complete = text.rfind(b"\n") + 1
        self._offset += complete
        for line in text[:complete].decode().splitlines():
            event = parse_line(line, str(self._path))
            self.counts[event.name] += 1
            if event.name in ("rate", "cnp"):
                self._rates[event["qp"]] = event["rate_bps"]

    def told(self, event: str, times: int = 1) -> bool:
        """Whether it tells so often of an event by now."""
        self.read()
        return self.counts[event] >= times

    @property
    def rate_bps(self) -> float:
        """Sum of the queue pairs' current rates."""
        return sum(self._rates.values())
