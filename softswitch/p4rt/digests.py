"""DigestEntry configuration and digest lists (P4Runtime 1.4, DigestEntry).

A list is sent when it has max_list_size distinct messages or its oldest has waited max_timeout_ns.
Messages of a list are remembered until the list is acknowledged or ack_timeout_ns has passed, and
are not sent again meanwhile. A list that nobody was there for, or that was not acknowledged in
time, is kept for who asks for the digest's configuration next: a controller that was started again.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile

from finsy.proto import p4r

from fcn.softswitch.p4rt.errors import already_exists, invalid_argument, not_found
from fcn.softswitch.p4rt.schema import Digest, Schema
from fcn.softswitch.p4rt.values import Form

Message = tuple[int, ...]
Send = Callable[[p4r.StreamMessageResponse], bool]

# Keeps a list below the 4 MiB a gRPC client accepts when the configuration sets no size.
_MAX_LIST = 4096
MAX_UNACKNOWLEDGED = 1 << 16
"""Messages of one digest that wait for acknowledgement; of more, the oldest lists are forgotten."""
KEPT, KEPT_FOR = 1 << 12, 60.0
"""The latest messages of one digest that nobody was there for, and for how many seconds."""
_NS = 1e-9


@dataclass(slots=True)
class DigestStats:
    """Counts of digest messages by outcome."""

    sent: int = 0
    suppressed: int = 0
    disabled: int = 0
    undelivered: int = 0


@dataclass(slots=True)
class _Learner:
    digest: Digest
    form: Form
    config: p4r.DigestEntry.Config
    buffer: dict[Message, None] = field(default_factory=dict)
    flush: asyncio.TimerHandle | None = None
    unacked: dict[Message, int] = field(default_factory=dict)
    lists: dict[int, tuple[tuple[Message, ...], asyncio.TimerHandle]] = field(default_factory=dict)
    next_list_id: int = 1
    kept: deque[tuple[float, int, Message]] = field(default_factory=lambda: deque(maxlen=KEPT))
    """Until when (of the event loop), when they were to be sent, and what."""


class DigestStore:
    """Digests of a pipeline; methods run on the event loop. `wall_clock` dates lists: ns since the
    epoch."""

    def __init__(self, schema: Schema, send: Send, wall_clock: Callable[[], int]) -> None:
        self._schema = schema
        self._send = send
        self._wall_clock = wall_clock
        self._learners: dict[str, _Learner] = {}
        self.stats = DigestStats()

    def write(self, kind: int, message: p4r.DigestEntry) -> None:
        """INSERT enables a digest, MODIFY changes its configuration, DELETE disables it."""
        digest = self._digest(message.digest_id)
        learner = self._learners.get(digest.name)
        if kind == p4r.Update.INSERT and learner is not None:
            raise already_exists(f"digest {digest.name} is enabled")
        if kind != p4r.Update.INSERT and learner is None:
            raise not_found(f"digest {digest.name} is not enabled")
        if kind == p4r.Update.DELETE:
            self._stop(self._learners.pop(digest.name))
            return
        config = message.config
        if min(config.max_timeout_ns, config.max_list_size, config.ack_timeout_ns) < 0:
            raise invalid_argument(f"digest {digest.name}: negative configuration value")
        kept = p4r.DigestEntry.Config()
        kept.CopyFrom(config)
        if learner is None:
            self._learners[digest.name] = _Learner(digest, Form(digest.type), kept)
        else:
            learner.config = kept
            self._drain(learner)

    def read(self, query: p4r.DigestEntry) -> Iterator[p4r.DigestEntry]:
        """Configurations of enabled digests; identifier 0 is all."""
        if query.digest_id:
            self._digest(query.digest_id)
        for learner in self._learners.values():
            if query.digest_id in (0, learner.digest.id):
                self._tell_kept(learner)
                yield p4r.DigestEntry(digest_id=learner.digest.id, config=learner.config)

    def learn(self, name: str, messages: Sequence[Message]) -> None:
        """Take messages from the data plane; fields in declaration order."""
        learner = self._learners.get(name)
        if learner is None:
            self.stats.disabled += len(messages)
            return
        for message in messages:
            if message in learner.unacked or message in learner.buffer:
                self.stats.suppressed += 1
                continue
            learner.buffer[message] = None
            if len(learner.buffer) >= self._list_size(learner):
                self._flush(learner)
        self._drain(learner)

    def acknowledge(self, ack: p4r.DigestListAck) -> None:
        """Forget the messages of a list; unknown lists, which may have timed out, are ignored."""
        learner = self._learners.get(self._digest(ack.digest_id).name)
        if learner is not None:
            self._forget(learner, ack.list_id)

    def close(self) -> None:
        """Cancel all timers."""
        for learner in self._learners.values():
            self._stop(learner)

    def _digest(self, digest_id: int) -> Digest:
        digest = self._schema.digests.get(digest_id)
        if digest is None:
            raise invalid_argument(f"there is no digest {digest_id:#x}")
        return digest

    def _list_size(self, learner: _Learner) -> int:
        return min(learner.config.max_list_size or _MAX_LIST, _MAX_LIST)

    def _drain(self, learner: _Learner) -> None:
        """Send what is due after new messages or a new configuration."""
        while len(learner.buffer) >= self._list_size(learner):
            self._flush(learner)
        if not learner.buffer:
            return
        if learner.config.max_timeout_ns == 0:
            self._flush(learner)
        elif learner.flush is None:
            delay = learner.config.max_timeout_ns * _NS
            learner.flush = asyncio.get_running_loop().call_later(delay, self._flush, learner)

    def _flush(self, learner: _Learner) -> None:
        if learner.flush is not None:
            learner.flush.cancel()
            learner.flush = None
        messages = tuple(learner.buffer)[: self._list_size(learner)]
        for message in messages:
            del learner.buffer[message]
        if not messages:
            return
        now = self._wall_clock()
        if not self._tell(learner, messages, now):
            self.stats.undelivered += len(messages)
            self._keep(learner, messages, now)

    def _keep(self, learner: _Learner, messages: Sequence[Message], moment: int) -> None:
        until = asyncio.get_running_loop().time() + KEPT_FOR
        learner.kept.extend((until, moment, message) for message in messages)

    def _tell_kept(self, learner: _Learner) -> None:
        """What nobody was there for, in lists with the times at which they were to be sent."""
        size = self._list_size(learner)
        while learner.kept:
            now = asyncio.get_running_loop().time()
            until, moment, _ = learner.kept[0]
            same = takewhile(lambda each: each[:2] == (until, moment), learner.kept)  # noqa: B023
            messages = tuple(message for *_, message in islice(same, size))
            if until > now and not self._tell(learner, messages, moment):
                return
            for _ in messages:
                learner.kept.popleft()

    def _tell(self, learner: _Learner, messages: Sequence[Message], moment: int) -> bool:
        """Send a list of this time; whether anybody was there."""
        list_id = learner.next_list_id
        learner.next_list_id += 1
        response = p4r.StreamMessageResponse(
            digest=p4r.DigestList(digest_id=learner.digest.id, list_id=list_id, timestamp=moment)
        )
        data = response.digest.data
        for message in messages:
            # This copies it.
            data.append(learner.form.fill(message))
        if not self._send(response):
            return False
        self.stats.sent += len(messages)
        if learner.config.ack_timeout_ns:
            timer = asyncio.get_running_loop().call_later(
                learner.config.ack_timeout_ns * _NS, self._expire, learner, list_id, moment
            )
            learner.lists[list_id] = (tuple(messages), timer)
            learner.unacked.update(dict.fromkeys(messages, list_id))
            while len(learner.unacked) > MAX_UNACKNOWLEDGED:
                self._forget(learner, next(iter(learner.lists)))
        return True

    def _expire(self, learner: _Learner, list_id: int, moment: int) -> None:
        self._keep(learner, learner.lists[list_id][0], moment)
        self._forget(learner, list_id)

    def _forget(self, learner: _Learner, list_id: int) -> None:
        messages, timer = learner.lists.pop(list_id, ((), None))
        if timer is not None:
            timer.cancel()
        for message in messages:
            # What was kept may have been reported anew meanwhile, and be in two.
            if learner.unacked.get(message) == list_id:
                del learner.unacked[message]

    def _stop(self, learner: _Learner) -> None:
        if learner.flush is not None:
            learner.flush.cancel()
        for _, timer in learner.lists.values():
            timer.cancel()
