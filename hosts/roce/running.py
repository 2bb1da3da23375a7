"""fcn-roce in a host, and what it logs while it runs."""

from collections import Counter
from collections.abc import Sequence

from fcn.hosts.processes import Process
from fcn.hosts.roce.build import fcn_roce
from fcn.hosts.roce.log import RoceLog, parse_line, read_log
from fcn.hosts.roce.options import Receiver, Sender

READY_TIMEOUT_S = 120.0


class RoceProcess(Process):
    """Sends or receives. What it says beside its log is in HOST.log, in the same folder."""

    def __init__(self, host: str, options: Sender | Receiver, prefix: Sequence[str]) -> None:
        """Start it; `prefix` enters the host."""
        self._file = options.log
        self._offset = 0
        self._rates: dict[int, float] = {}
        self.counts: Counter[str] = Counter()
        """Events in its log, by name, as far as it was read."""
        # What an earlier one has told would be read as this one's.
        self._file.unlink(missing_ok=True)
        output = self._file.with_name(f"{host}.log")
        super().__init__(f"fcn-roce in {host}", [fcn_roce(), *options.arguments()], output, prefix)

    def read(self) -> None:
        """Read the lines completed since the last call."""
        if not self._file.exists():
            return
        with self._file.open("rb") as log:
            log.seek(self._offset)
            text = log.read()
        complete = text.rfind(b"\n") + 1
        self._offset += complete
        for line in text[:complete].decode().splitlines():
            event = parse_line(line, str(self._file))
            self.counts[event.name] += 1
            if event.name in ("rate", "cnp"):
                self._rates[event["qp"]] = event["rate_bps"]

    def told(self, event: str, times: int = 1) -> bool:
        """Whether it has told so often of an event by now."""
        self.read()
        return self.counts[event] >= times

    def wait_for(self, event: str, times: int = 1) -> None:
        """Wait until it has. Raises ProcessError when it ends before, or takes too long."""
        self.wait_ready(lambda: self.told(event, times), READY_TIMEOUT_S)

    @property
    def rate_bps(self) -> float:
        """Sum of the queue pairs' current rates."""
        return sum(self._rates.values())

    @property
    def log_read(self) -> RoceLog:
        """The whole log, once it has ended."""
        return read_log(self._file)
