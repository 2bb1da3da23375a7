"""Progress of a run: a live display on a terminal, otherwise periodic lines."""

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from fcn.topologies.demo.modes import Mode
from fcn.topologies.demo.scenario import Scenario
from fcn.topologies.demo.traffic import Progress

LINE_EVERY_S = 2.0


class Display:
    """Context manager; `show` takes the newest state. page: the address of the live page."""

    def __init__(self, console: Console, scenario: Scenario, mode: Mode, page: str = "") -> None:
        self._console = console
        self._page = page
        self._scenario = scenario
        self._mode = mode
        self._live = Live(console=console, refresh_per_second=8) if console.is_terminal else None
        self._next_line_s = 0.0

    def __enter__(self) -> "Display":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, progress: Progress) -> None:
        if self._live is not None:
            self._live.update(self._table(progress))
        elif progress.elapsed_s >= self._next_line_s:
            self._next_line_s += LINE_EVERY_S
            self._console.print(self._line(progress), highlight=False, soft_wrap=True)

    def _table(self, progress: Progress) -> Table:
        table = Table.grid(padding=(0, 2))
        total = self._scenario.seconds
        elapsed = min(progress.elapsed_s, total)
        bar = ProgressBar(total=total, completed=elapsed, width=24)
        table.add_row(f"[bold]{self._mode.title}", bar, f"{elapsed:4.1f} of {total:g} s")
        for name, rate in progress.rates_bps.items():
            cnps = f"{progress.cnps[name]} CNPs received"
            table.add_row(f"  {name}", f"{rate / 1e6:6.1f} Mb/s", cnps)
        depth = "" if progress.queue_depth is None else f"{progress.queue_depth:3d} packets queued"
        notices = f"{progress.notices} {self._mode.notice.title} sent"
        table.add_row(f"  {self._scenario.bottleneck[0]}", depth, notices)
        if self._page:
            table.add_row("  live page", self._page)
        return table

    def _line(self, progress: Progress) -> str:
        senders = ", ".join(
            f"{name} {rate / 1e6:.1f} Mb/s and {progress.cnps[name]} CNPs"
            for name, rate in progress.rates_bps.items()
        )
        return (
            f"{self._mode.title}, {progress.elapsed_s:4.1f} s: {senders}, "
            f"{progress.notices} {self._mode.notice.title}"
        )
