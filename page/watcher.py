"""Asks the controller once a second, in threads of its own: its client waits for answers."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from fcn.controller.events import Kind
from fcn.controller.northbound.client import ControllerError, FcnClient
from fcn.controller.northbound.story import counted
from fcn.controller.proto import fcn_pb2 as pb
from fcn.page.flows import FlowLists
from fcn.page.model import Flows, Frame, Picture
from fcn.page.snapshot import Answers, Snapshots

LOG = logging.getLogger("fcn.page")

INTERVAL = 1.0
"""Seconds between frames; the controller reads counters as often."""

TIMEOUT = 10.0
"""Seconds for an answer."""

LISTED = 100.0
"""Flows that are listed in a second, on average. Of many the pause before a list is long, and the
longer while they become more: the controller has to read their counters from the switches."""

LIST_INTERVAL = 2.0
"""Seconds of such a pause, at least."""

_ANOTHER = frozenset({Kind.CONFIGURED, Kind.LOST})
"""Events after which the network may be another."""

PENDING = 1_000
"""Events that are kept until the next frame: the newest."""


class Watcher:
    """Tells of the network by these functions, from a thread of its own until it is stopped."""

    def __init__(
        self, api: str, draw: Callable[[Picture], object], show: Callable[[Frame | Flows], object]
    ) -> None:
        self._api = api
        self._draw = draw
        self._show = show
        self._stopped = threading.Event()
        self._labels = 0
        self._network: bytes | None = None
        self._snapshots: Snapshots | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Watch meanwhile."""
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            thread.join(TIMEOUT)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                with FcnClient(self._api, TIMEOUT) as client:
                    self._follow(client)
            except ControllerError as error:
                self._show(Frame(time.time(), problem=str(error)))
            except Exception as error:
                # Whoever looks at the page would take what stands still for what is.
                LOG.exception("the page cannot show what the controller says; trying again")
                problem = f"this page has a fault, and tries again: {error!r}"
                self._show(Frame(time.time(), problem=problem))
            self._stopped.wait(INTERVAL)

    def _follow(self, client: FcnClient) -> None:
        events = _events_of(client)
        snapshots = self._drawn(client.network())
        ended = threading.Event()
        lister = threading.Thread(target=self._list, args=(ended,), daemon=True)
        try:
            while not self._stopped.is_set():
                began = time.monotonic()
                news = [events.popleft() for _ in range(len(events))]
                if any(event.kind in _ANOTHER for event in news):
                    snapshots = self._drawn(client.network())
                answers = Answers(
                    time.time(),
                    client.status(),
                    client.last_counters(),
                    client.links(),
                    client.paths(),
                    client.queues(),
                    news,
                )
                self._labels = answers.status.labels_in_use
                self._show(snapshots.frame(answers))
                # Flows are of a network that is shown.
                if lister.ident is None:
                    lister.start()
                self._stopped.wait(began + INTERVAL - time.monotonic())
        finally:
            ended.set()

    def _list(self, ended: threading.Event) -> None:
        """Lists of flows, in a thread of their own for each controller: frames do not wait for a
        long one, nor for the stream of a controller that ended, which gRPC may never end."""
        lists = FlowLists()
        with FcnClient(self._api, TIMEOUT) as client:
            while not ended.is_set():
                # Where a switch goes away meanwhile there is no list; of the controller, the other
                # calls say it.
                with suppress(ControllerError), _told("flows cannot be listed; trying again"):
                    flows = client.flows(counters=True)
                    listed = lists.see(time.time(), flows, counted(client.last_counters()))
                    if not ended.is_set():
                        self._show(listed)
                began = time.monotonic()
                while not ended.wait(LIST_INTERVAL):
                    if time.monotonic() >= began + self._labels / LISTED:
                        break

    def _drawn(self, network: pb.GetNetworkResponse) -> Snapshots:
        """A controller that was started again with the same network goes on with its picture."""
        encoded = network.SerializeToString(deterministic=True)
        if self._snapshots is None or encoded != self._network:
            self._snapshots, self._network = Snapshots(network), encoded
            self._draw(self._snapshots.picture)
        return self._snapshots


@contextmanager
def _told(what: str) -> Iterator[None]:
    """A fault of this program is told, and does not end the thread."""
    try:
        yield
    except ControllerError:
        raise
    except Exception:
        LOG.exception("%s", what)


def _events_of(client: FcnClient) -> deque[pb.Event]:
    """Events from now on, to be taken away; the thread ends with the client."""
    events: deque[pb.Event] = deque(maxlen=PENDING)
    stream = client.events()

    def listen() -> None:
        # The other calls say why it ended, too.
        with suppress(ControllerError), _told("no more events are shown"):
            events.extend(stream)

    threading.Thread(target=listen, daemon=True).start()
    return events
