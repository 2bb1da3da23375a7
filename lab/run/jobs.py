"""The jobs of a scenario in a simulation, from now on."""

from typing import Any

from fcn.lab.core import Simulation
from fcn.lab.jobs import Jobs
from fcn.lab.run.connections import Connection
from fcn.lab.scenario.jobs import Work


class RunningJobs:
    """What the core does of them by itself, and when it did it. first_message: number of the first
    message; the others have those that follow."""

    def __init__(
        self,
        simulation: Simulation,
        work: Work,
        connections: list[Connection],
        first_message: int,
    ) -> None:
        self._simulation = simulation
        self._work = work
        self._connections = connections
        self._begun = simulation.now_ns
        self._jobs = Jobs(simulation)
        self._tasks: list[int] = []
        self._numbers: dict[int, int] = {}
        """Of messages, by the place of their task."""
        channels: dict[int, int] = {}
        for place, task in enumerate(work.tasks):
            after = [self._tasks[each] for each in task.after]
            start = self._begun + task.start_ns
            if task.flow is None:
                made = self._jobs.time(task.duration_ns, start_ns=start, after=after)
            else:
                if task.flow not in channels:
                    flow = connections[task.flow]
                    channels[task.flow] = self._jobs.channel(
                        flow.sender, flow.number, flow.receiver
                    )
                self._numbers[place] = first_message + len(self._numbers)
                made = self._jobs.message(
                    channels[task.flow],
                    task.size,
                    message_id=self._numbers[place],
                    duration_ns=task.duration_ns,
                    start_ns=start,
                    after=after,
                )
            self._tasks.append(made)
        self._jobs.begin()

    def messages(self) -> list[tuple[str, int, int, int, int]]:
        """Host, connection, number, size and start, since the traffic began, of messages that could
        be sent so far. Raises LabError when there was no memory for one."""
        self._jobs.check()
        found = []
        for place, number in self._numbers.items():
            task = self._work.tasks[place]
            assert task.flow is not None, "messages have a flow"
            start = self._since(self._jobs.times(self._tasks[place]).begun_ns)
            if start is not None:
                flow = self._connections[task.flow]
                found.append((flow.host, flow.number, number, task.size, start))
        return found

    def rows(self) -> list[tuple[Any, ...]]:
        """Of the table of jobs."""
        return [
            (
                part.job,
                part.iteration,
                part.rank.name,
                part.compute_ns,
                self._since(self._jobs.times(self._tasks[part.begin]).done_ns),
                self._since(self._jobs.times(self._tasks[part.end]).done_ns),
            )
            for part in self._work.parts
        ]

    def _since(self, time_ns: int | None) -> int | None:
        """Since the traffic began; None of what has not come yet, though it is known when."""
        if time_ns is None or time_ns > self._simulation.now_ns:
            return None
        return time_ns - self._begun
