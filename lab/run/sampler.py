"""Samples of queues, links, rates and counters: taken as rows of a block, compared with the row
before all at once, and then kept as columns of the tables of a result."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fcn.contract.names import COUNTERS, named_cells
from fcn.lab.core import DROPS
from fcn.lab.look import Block, Look, Probe, Watch
from fcn.lab.result.tables import TABLES, TableName, conform, frame
from fcn.lab.run.build import Built
from fcn.lab.run.connections import Connection
from fcn.lab.run.watch import FailureWatch

Key = tuple[str, str, str]
"""Of a counter: node, kind and name."""

_OF_QUEUE = (Look.QUEUED, Look.QUEUED_OCTETS)
_OF_LINK = (Look.PUT, Look.PUT_OCTETS, Look.CUT)
_OF_CONNECTION = (Look.RATE, Look.ACKNOWLEDGED, Look.OCTETS)
_ROWS = 256
_CHANGES = 4096
_NEVER = (1 << 64) - 1


class Sampler:
    """Samples a network that was built, from now on."""

    def __init__(
        self,
        built: Built,
        connections: list[Connection],
        watch: FailureWatch,
        spans: Iterator[range],
    ) -> None:
        """spans: when links and paths are looked at beside samples, since now, in order."""
        measure = built.wiring.scenario.measure
        core = built.wiring.core_directions
        self._built = built
        self._simulation = built.simulation
        self._parts: dict[TableName, list[pd.DataFrame]] = {
            "queues": [], "links": [], "rates": [], "counters": []
        }  # fmt: skip
        self._watch = watch
        self._spans = spans
        self._begun = self._simulation.now_ns
        self._times: list[int] = []
        self._is_first = True
        queues = core if measure.queues is None else measure.queues
        self.queues = [(node, towards) for node, towards in queues]
        self._links = list(core)
        self._connections = [(each.host, each.number) for each in connections]
        self._fixed = [
            *self._of_queues(),
            *self._of_links(),
            *(
                Probe(what, each.sender.host.number, each.number)
                for each in connections
                for what in _OF_CONNECTION
            ),
        ]
        self._before: dict[Key, int] = {}
        self._block: Block
        self._closely: Watch
        self._lay_out(np.zeros(len(self._fixed), np.uint64), {}, range(0))
        self._block.look()
        self._block.take()
        self._closely.look()
        self._closely.take()
        links = 2 * len(self.queues), 2 * len(self.queues) + 3 * len(self._links)
        self._links_before = self._block.now[links[0] : links[1]].copy()
        self._before = self._counters_now()
        self._counters_before = np.array([self._before[key] for key in self._keys], np.uint64)

    def sample(self) -> None:
        """Look at everything now."""
        self._prepare()
        self._times.append(self._simulation.now_ns - self._begun)
        self._block.look()
        self._closely.look()

    def run(self, until: int, before: int | None) -> int:
        """Go on until then, or until the loop has something to do, looking closely at links and
        paths where that is due before `before`."""
        native = self._simulation.native
        while True:
            self._prepare()
            reached = self._closely.run(until, _NEVER if before is None else before)
            if native.call("stopped"):
                return reached
            if reached >= until:
                self.catch_up(before)
                return reached

    def catch_up(self, before: int | None) -> None:
        """Look closely now, where that was due by now and before `before`."""
        now = self._simulation.now_ns
        self._prepare()
        while (times := self._closely.times) and times[0] <= now:
            if before is not None and times[0] >= before:
                return
            self._closely.times = times[1:]
            self._closely.look()
            self._prepare()

    def flush(self) -> None:
        """Write what was seen."""
        times = np.array(self._times, np.int64)
        self._times.clear()
        values, changed = self._block.take()
        begin = len(self._fixed)
        if len(times):
            self._add_fixed(times, values[:, :begin], changed[:, :begin])
        self._add_counters(times, values[:, begin:], changed[:, begin:])

    def _add_fixed(
        self, times: NDArray[np.int64], values: NDArray[np.uint64], changed: NDArray[np.bool_]
    ) -> None:
        """Of queues, links and connections, at samples."""
        if self._is_first:
            changed[0] = True
            self._is_first = False
        ends = np.cumsum([2 * len(self.queues), 3 * len(self._links)])
        queues, links, rates = np.split(values, ends, axis=1)
        _, links_changed, rates_changed = np.split(changed, ends, axis=1)
        self._add_queues(times, queues)
        at, which = _rows_changed(links_changed)
        picked = (links - self._links_before).reshape(len(times), -1, 3)[at, which]
        self._add("links", times[at], self._links, which, picked.astype(np.int64).T)
        at, which = _rows_changed(rates_changed)
        picked = rates.reshape(len(times), -1, 3)[at, which]
        per_second = np.ascontiguousarray(picked[:, 0]).view(np.float64)
        self._add("rates", times[at], self._connections, which, (per_second, *picked[:, 1:].T))

    def count(self, name: str, value: int) -> None:
        """Note an event of the laboratory itself, now."""
        now = np.array([self._simulation.now_ns - self._begun])
        named = [("laboratory", "event", name)]
        self._add("counters", now, named, np.array([0]), (np.array([value]),))

    def tables(self) -> Iterable[tuple[TableName, pd.DataFrame]]:
        for table, parts in self._parts.items():
            yield table, conform(table, pd.concat(parts)) if parts else frame(table)

    def _prepare(self) -> None:
        """For the next look."""
        if self._block.is_full or self._closely.is_full:
            self.flush()
        if self._starts != self._simulation.native.starts:
            self.flush()
            fixed = self._block.now[: len(self._fixed)].copy()
            self._lay_out(fixed, self._counters_now(), self._closely.times)
        if not self._closely.times and (span := next(self._spans, None)):
            self._closely.times = range(
                self._begun + span.start, self._begun + span.stop, span.step
            )

    def _lay_out(self, fixed: NDArray[np.uint64], before: dict[Key, int], times: range) -> None:
        """Columns for what the programs that switches have now count. Others have their last
        values, in case they come back."""
        self._starts = self._simulation.native.starts
        watched = self._watch.probes()
        counted = self._counted()
        self._keys = [*watched, *counted]
        self._others = {key: value for key, value in before.items() if key not in watched | counted}
        last = np.array([before.get(key, 0) for key in self._keys], np.uint64)
        native, begin = self._simulation.native, len(watched)
        self._closely = Watch(native, list(watched.values()), last[:begin], _CHANGES)
        self._closely.times = times
        self._counters_before = np.array(
            [self._before.get(key, 0) for key in self._keys], np.uint64
        )
        first = np.concatenate((fixed, last[begin:]))
        self._block = Block(native, [*self._fixed, *counted.values()], first, _ROWS)

    def _counters_now(self) -> dict[Key, int]:
        values = [*self._closely.now.tolist(), *self._block.now[len(self._fixed) :].tolist()]
        return self._others | dict(zip(self._keys, values, strict=True))

    def _of_queues(self) -> Iterable[Probe]:
        for node, towards in self.queues:
            switch, port = self._built.port(node, towards)
            for what in _OF_QUEUE:
                yield Probe(what, switch.number, port)

    def _of_links(self) -> Iterable[Probe]:
        for node, towards in self._links:
            link, way = self._built.link(node, towards)
            for what in _OF_LINK:
                yield Probe(what, 2 * link.number + way)

    def _counted(self) -> dict[Key, Probe]:
        """Packets: what the programs count, and what the engines drop."""
        counted: dict[Key, Probe] = {}
        for node, switch in self._simulation.switches.items():
            if not switch.is_on:
                continue
            for full, number in switch.engine.program.counters.items():
                alias = full.rpartition(".")[2]
                if alias not in COUNTERS:
                    continue
                kind = "drop" if alias == "drops" else "event"
                for index, name in named_cells(alias).items():
                    counted[node, kind, name] = Probe(Look.COUNTER, switch.number, number, index)
            for name, probe in switch.drop_probes():
                counted[node, "drop", name.removesuffix(DROPS).upper()] = probe
        return counted

    def _add_queues(self, times: NDArray[np.int64], values: NDArray[np.uint64]) -> None:
        """A row for each sample and queue."""
        which = np.tile(np.arange(len(self.queues)), len(times))
        depths = values.reshape(-1, 2).astype(np.int64).T
        self._add("queues", np.repeat(times, len(self.queues)), self.queues, which, depths)

    def _add_counters(
        self, times: NDArray[np.int64], values: NDArray[np.uint64], changed: NDArray[np.bool_]
    ) -> None:
        """Of samples, and of looks between them."""
        at, which = np.nonzero(changed)
        close_times, close_which, close_values = self._closely.take().T
        times = np.concatenate((close_times - self._begun, times[at]))
        places = np.concatenate((close_which, which + len(self._closely.now)))
        found = np.concatenate((close_values, values[at, which].astype(np.int64)))
        order = np.lexsort((places, times))
        places = places[order]
        since = found[order] - self._counters_before[places].astype(np.int64)
        self._add("counters", times[order], self._keys, places, (since,))

    def _add(
        self,
        table: TableName,
        times: NDArray[np.int64],
        names: list[Any],
        which: NDArray[np.int64],
        columns: Iterable[NDArray[Any]],
    ) -> None:
        if not len(which):
            return
        heads = TABLES[table]
        named = [
            pd.Series(column, dtype=head.dtype).array.take(which)
            for head, column in zip(heads[1:], zip(*names, strict=True), strict=False)
        ]
        values = zip((head.name for head in heads), (times, *named, *columns), strict=True)
        self._parts[table].append(pd.DataFrame(dict(values)))


def _rows_changed(changed: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of groups of three columns those in which anything changed: which row, which group."""
    at, which = np.nonzero(changed.reshape(len(changed), -1, 3).any(axis=2))
    return at, which
