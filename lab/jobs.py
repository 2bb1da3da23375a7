"""Jobs: messages that hosts send when they have received others, and time in which they compute.

Who waits for whom is the core's: a message can be sent in the nanosecond in which the last packet
that it waits for arrives.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from fcn.lab.core import Simulation
from fcn.lab.errors import LabError
from fcn.lab.roce import MAX_MESSAGE, RoceHost

_NEVER = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class TaskTimes:
    """When the time of a task began, or of a message when it could be sent, and when it was done,
    or received whole; None: not yet."""

    begun_ns: int | None
    done_ns: int | None


class Jobs:
    """Tasks of a simulation; each waits for some that were added before it.

    duration_ns: how long a task takes from when all that it waits for is done, and from `start_ns`
    at the earliest. A message is sent at the end of that.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._native = simulation.native
        self._read = self._native.ffi.new("lab_task_times *")

    def channel(self, sender: RoceHost, connection: int, receiver: RoceHost) -> int:
        """The number of a connection that is up, for messages of jobs only. Raises LabError."""
        remote_qp = sender.sender(connection).remote_qp
        # Their queue pairs are numbered in the order in which the receiver accepted them.
        responder = remote_qp - receiver.options.first_accepted_qp
        if responder < 0:
            raise LabError(f"{sender.host.name}: connection {connection} is not up")
        ends = sender.host.number, connection, receiver.host.number, responder
        return self._native.call("job_channel", *ends)

    def time(self, duration_ns: int, *, start_ns: int = 0, after: Iterable[int] = ()) -> int:
        """The number of a task that takes time."""
        return self._after(self._native.call("job_time", start_ns, duration_ns), after)

    def message(
        self,
        channel: int,
        size: int,
        *,
        message_id: int = 0,
        duration_ns: int = 0,
        start_ns: int = 0,
        after: Iterable[int] = (),
    ) -> int:
        """The number of a task that is a message. Raises LabError."""
        if not 1 <= size <= MAX_MESSAGE:
            raise LabError(f"a message of {size} octets is not one of 1 to 2^32 - 1")
        given = channel, message_id, size, start_ns, duration_ns
        return self._after(self._native.call("job_message", *given), after)

    def begin(self) -> None:
        """Do what waits for nothing, and by and by the rest."""
        self._native.call("job_begin")

    def check(self) -> None:
        """Raises LabError when some task could not be done for lack of memory."""
        self._native.call("job_check")

    def times(self, task: int) -> TaskTimes:
        """Of a task."""
        self._native.call("job_times", task, self._read)
        begun, done = self._read.begun, self._read.done
        return TaskTimes(None if begun == _NEVER else begun, None if done == _NEVER else done)

    def _after(self, task: int, before: Iterable[int]) -> int:
        for each in before:
            self._native.call("job_after", task, each)
        return task
