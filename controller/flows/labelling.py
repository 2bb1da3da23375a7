"""Flow labels, and the flows that have one at each PE.

Labels are random, locally unique, and in quarantine before they are used again (FCN-2). Their low
16 bits index the per-flow rate gates of every node, so labels in use that are equal in these bits
are as few as can be. PEs' tables and labels are shared fairly (shares.py).
"""

import random
import sys
from array import array
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping

from fcn.contract.constants import FCN_LABEL_BIT, FLOW_GATE_SIZE
from fcn.controller.flows.flow import Edge, Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.provenance import Origin
from fcn.controller.flows.shares import FlowShares, Host, NoRoomError, Tallies, host_of
from fcn.controller.store import Store

LABEL_COUNT = FCN_LABEL_BIT
"""How many labels have FCN_LABEL_BIT, the top bit, set."""

GATE_MASK = FLOW_GATE_SIZE - 1
"""The bits of a label that index the rate gates of a node."""

_GATE_BITS = GATE_MASK.bit_length()

PER_GATE = LABEL_COUNT // FLOW_GATE_SIZE

_NONE_FREE = PER_GATE
"""The class of gates none of whose labels is free; that of others is their labels in use."""

MOST_LABELS = 512_000
"""Labels in use at most: the others are for quarantine, so that a label can change hands."""


class NoLabelError(Exception):
    """A flow cannot have a label; `why` makes the message, when somebody asks for it."""

    def __init__(self, why: Callable[[], str]) -> None:
        super().__init__()
        self.why = why

    def __str__(self) -> str:
        return self.why()


_GATES = array("H", range(FLOW_GATE_SIZE))


class FreeLabels:
    """Which labels are free, and one of them at random: in constant time, also when few are left.
    It is of a gate that has fewest labels in use.

    All labels are free at first. `rng` must not be predictable in production, because labels
    could be guessed otherwise."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._used = bytearray(FLOW_GATE_SIZE)
        """Of each gate a bit for each label."""
        self._resting = bytearray(FLOW_GATE_SIZE)
        self._class = bytearray(FLOW_GATE_SIZE)
        self._place = _GATES[:]
        """Of each gate in the list of its class."""
        self._gates = [_GATES[:], *(array("H") for _ in range(PER_GATE))]
        self._unsorted = set[int]()
        """Gates whose class may be another by now."""
        self.used = 0

    def draw(self) -> int:
        """A free label, of which there must be one."""
        for gate in self._unsorted:
            self._sort(gate)
        self._unsorted.clear()
        gates = next(gates for gates in self._gates[:_NONE_FREE] if gates)
        gate = gates[self._rng.randrange(len(gates))]
        taken = self._used[gate] | self._resting[gate]
        free = [number for number in range(PER_GATE) if not taken >> number & 1]
        number = free[self._rng.randrange(len(free))]
        return FCN_LABEL_BIT | number << _GATE_BITS | gate

    def is_used(self, label: int) -> bool:
        gate, bit = _cell(label)
        return bool(self._used[gate] & bit)

    def use(self, label: int) -> None:
        """It is in use from now on, and was not."""
        gate, bit = _cell(label)
        self._used[gate] |= bit
        self._resting[gate] &= ~bit
        self.used += 1
        self._unsorted.add(gate)

    def rest(self, label: int) -> None:
        """It is neither in use nor free."""
        gate, bit = _cell(label)
        self.used -= bool(self._used[gate] & bit)
        self._used[gate] &= ~bit
        self._resting[gate] |= bit
        self._unsorted.add(gate)

    def wake(self, label: int) -> None:
        """It rests no longer."""
        gate, bit = _cell(label)
        self._resting[gate] &= ~bit
        self._unsorted.add(gate)

    def _sort(self, gate: int) -> None:
        used = self._used[gate]
        full = used | self._resting[gate] == (1 << PER_GATE) - 1
        before, now = self._class[gate], _NONE_FREE if full else used.bit_count()
        if now == before:
            return
        left, place = self._gates[before], self._place[gate]
        last = left.pop()
        if last != gate:
            left[place] = last
            self._place[last] = place
        self._class[gate] = now
        self._place[gate] = len(self._gates[now])
        self._gates[now].append(gate)


def _cell(label: int) -> tuple[int, int]:
    return label & GATE_MASK, 1 << (label >> _GATE_BITS) % PER_GATE


class LabelPool:
    """Labels of one network.

    `quarantine` is in seconds; `clock` is monotonic, in seconds; `rng` must not be predictable in
    production, because labels could be guessed otherwise. What rests is in `store`, too.
    """

    def __init__(
        self,
        quarantine: float,
        clock: Callable[[], float],
        rng: random.Random,
        store: Store | None = None,
    ) -> None:
        self._quarantine = quarantine
        self._store = store or Store()
        self._clock = clock
        self._labels = FreeLabels(rng)
        self._resting: dict[int, float] = {}
        self._wakeups: deque[tuple[float, int, str]] = deque()
        self._resting_of: dict[str, int] = {}
        self.recall()

    def recall(self) -> None:
        """The labels that rest are those of the store, in which there may be others."""
        for label in self._resting:
            self._labels.wake(label)
        self._resting.clear()
        self._wakeups.clear()
        self._resting_of.clear()
        now = self._clock()
        for label, vrf, left in self._store.resting(self._quarantine):
            if not self._labels.is_used(label):
                self._rest(label, vrf, now + left)

    def rest_for(self, quarantine: float) -> None:
        """Labels that are released from now on rest for so many seconds."""
        self._quarantine = quarantine

    def __len__(self) -> int:
        return self._labels.used

    @property
    def resting(self) -> int:
        """Labels in quarantine."""
        self._wake()
        return len(self._resting)

    def check(self, vrf: str) -> None:
        """Whether a flow of this VRF may have a label. Raises NoLabelError.

        A VRF may have as many labels in quarantine as are free: a tenant that starts and ends flows
        all the time leaves labels to the others (dynamic threshold of Choudhury and Hahne, 1998).
        """
        self._wake()
        free = LABEL_COUNT - len(self) - len(self._resting)
        if not free:
            raise NoLabelError(
                lambda: (
                    f"all {LABEL_COUNT} flow labels are in use or in quarantine; "
                    "shorten flows.timeout or flows.label_quarantine"
                )
            )
        resting = self._resting_of.get(vrf, 0)
        if resting > free:
            raise NoLabelError(
                lambda: (
                    f"{resting} flow labels of VRF {vrf} are in quarantine, more than are free: "
                    "its flows come and go too fast"
                )
            )

    def take(self) -> int:
        """A free 20-bit label, of which `check` said that there is one."""
        label = self._labels.draw()
        self._labels.use(label)
        return label

    def claim(self, label: int) -> bool:
        """Mark a label found on a switch as used; False when it is used already or no FCN label."""
        if not FCN_LABEL_BIT <= label < 2 * FCN_LABEL_BIT or self._labels.is_used(label):
            return False
        if self._resting.pop(label, None) is not None:
            self._store.wake(label)
        self._labels.use(label)
        return True

    def release(self, label: int, vrf: str) -> None:
        """Put the label of a flow of this VRF into quarantine."""
        self._rest(label, vrf, self._clock() + self._quarantine)
        self._store.rest(label, vrf, self._quarantine)

    def _rest(self, label: int, vrf: str, wakeup: float) -> None:
        self._labels.rest(label)
        self._resting[label] = wakeup
        self._resting_of[vrf] = self._resting_of.get(vrf, 0) + 1
        self._wakeups.append((wakeup, label, vrf))

    def _wake(self) -> None:
        now = self._clock()
        while self._wakeups and self._wakeups[0][0] <= now:
            wakeup, label, vrf = self._wakeups.popleft()
            self._resting_of[vrf] -= 1
            if not self._resting_of[vrf]:
                del self._resting_of[vrf]
            if self._resting.get(label) == wakeup:
                del self._resting[label]
                self._labels.wake(label)
                self._store.wake(label)


class Labelling:
    """Flows with a label, by ingress PE; `edges` are all PEs.

    A PE's tables, and `most` labels of the network, are shared fairly between hosts; what a person
    registered is not displaced.
    """

    def __init__(
        self, edges: Mapping[str, Edge], labels: LabelPool, most: int = MOST_LABELS
    ) -> None:
        self._edges = edges
        self._labels = labels
        self._most = most
        self._holders = Tallies()
        """Of the flows of all PEs that hold a label, but for those a person registered."""
        self._flows: dict[str, dict[FlowKey, Flow]] = {name: {} for name in edges}
        self._known = Counter[str]()
        """Flows of a PE whose sender is known."""
        self._places: dict[FlowKey, tuple[str, ...]] = {}
        """The PEs of each flow, in their order."""
        self._at = {name: (name,) for name in edges}
        """One object for all flows of a PE."""
        self._count: dict[tuple[str, int], int] = {}
        self._shares: defaultdict[tuple[str, int], FlowShares] = defaultdict(FlowShares)

    def move_to(self, edges: Mapping[str, Edge]) -> None:
        """These are the PEs from now on. Of those that are no more no flow may have a label."""
        self._edges = edges
        self._flows = {name: self._flows.get(name, {}) for name in edges}
        self._known = Counter({name: self._known[name] for name in edges})
        self._at = {name: (name,) for name in edges}

    def all(self) -> list[Flow]:
        return [flow for flows in self._flows.values() for flow in flows.values()]

    def on_node(self, node: str) -> Mapping[FlowKey, Flow]:
        """Labelled flows of a node; a P node has none."""
        return self._flows.get(node, {})

    def known_on(self, node: str) -> int:
        """Of how many labelled flows of a node the sender is known."""
        return self._known[node]

    def of_host(self, host: Host) -> list[Flow]:
        """Flows that a host sends, on every PE, but for those a person registered."""
        return [
            self._flows[node][key]
            for (node, version), shares in self._shares.items()
            if version == host.address.version
            for key in shares.of(host)
        ]

    def get(self, node: str, key: FlowKey) -> Flow | None:
        """The flow on this PE, if it has a label there."""
        return self._flows[node].get(key)

    def of(self, key: FlowKey) -> list[Flow]:
        """The flow on every PE where it has a label."""
        return [self._flows[node][key] for node in self._places.get(key, ())]

    def allocate(self, node: str, key: FlowKey, *, known: bool) -> tuple[int, list[Flow]]:
        """A label for a new flow of a PE, and the flows that must give way; where its sender is
        known, one of its own host whose sender is not.

        The caller removes these before it adds the new one. Raises NoLabelError.
        """
        table = (node, key.src.version)
        capacity = self._edges[node].capacity(key.src.version)
        shares = self._shares[table]
        pinned = self._count.get(table, 0) - len(shares)
        host = host_of(key.vrf, key.src)
        self._labels.check(key.vrf)
        own = shares.unknown(host) if known else None
        try:
            here = shares.loser(host, capacity - pinned)
        except NoRoomError:
            if own is None:
                raise NoLabelError(
                    lambda: (
                        f"{node} holds {capacity} flows already, and no host has more than "
                        f"{key.src}"
                    )
                ) from None
            here = own
        losers = [] if here is None else [(node, here)]
        try:
            # A flow that gives way in the table leaves its label, too.
            elsewhere = None if losers else self._holders.loser(host, self._room())
        except NoRoomError:
            if own is None:
                raise NoLabelError(
                    lambda: f"{self._most} labels are in use, and no host has more than {key.src}"
                ) from None
            elsewhere, losers = None, [(node, own)]
        if isinstance(elsewhere, Host):
            losers.append(self._newest(elsewhere))
        for name, other in losers:
            self._give_up(name, other)
        shares.add(host, key, sys.maxsize)
        self._holders.change(host, 1)
        return self._labels.take(), [self._flows[name][other] for name, other in losers]

    def _newest(self, host: Host) -> tuple[str, FlowKey]:
        """The last flow of a host, on any PE, and the PE; one whose sender is not known if there is
        one."""
        found = [
            self._flows[node][key]
            for (node, _), shares in self._shares.items()
            if (key := shares.newest(host)) is not None
        ]
        newest = max(found, key=lambda flow: (flow.source_qp is None, flow.since))
        return newest.node, newest.key

    def _give_up(self, node: str, key: FlowKey) -> None:
        """The flow has no share any more."""
        if self._shares[node, key.src.version].remove(key):
            self._holders.change(host_of(key.vrf, key.src), -1)

    def _room(self) -> int:
        """Labels for flows that nobody registered."""
        return self._most - (len(self._labels) - len(self._holders))

    def add(self, flow: Flow) -> None:
        """Install a flow that was not labelled on its PE before."""
        table = (flow.node, flow.key.src.version)
        self._flows[flow.node][flow.key] = flow
        self._known[flow.node] += flow.source_qp is not None
        others = self._places.get(flow.key)
        alone = self._at[flow.node]
        self._places[flow.key] = alone if others is None else self._in_order({*others, *alone})
        self._count[table] = self._count.get(table, 0) + 1
        if flow.origin is not Origin.MANUAL and flow.key not in (shares := self._shares[table]):
            # Read back from a switch, which has room for it.
            host = host_of(flow.key.vrf, flow.key.src)
            shares.add(host, flow.key, sys.maxsize)
            self._holders.change(host, 1)
        self._tell(flow)
        self._install(flow)

    def update(self, flow: Flow) -> None:
        """Replace a flow's attributes; its label does not change."""
        self._install(flow, self.restate(flow))

    def restate(self, flow: Flow) -> Flow:
        """The same, of a PE that hears of it when its switch is read; returns what it was."""
        flows = self._flows[flow.node]
        before, flows[flow.key] = flows[flow.key], flow
        if changed := (flow.source_qp is not None) - (before.source_qp is not None):
            self._known[flow.node] += changed
            self._tell(flow)
        return before

    def remove(self, flow: Flow, successor: str | None = None) -> None:
        """Remove a flow and release its label; `successor`: the VRF of the flow that gets its
        place."""
        table = (flow.node, flow.key.src.version)
        gone = self._flows[flow.node].pop(flow.key)
        self._known[flow.node] -= gone.source_qp is not None
        others = self._places.pop(flow.key)
        if len(others) > 1:
            self._places[flow.key] = self._in_order({*others} - {flow.node})
        self._count[table] -= 1
        self._give_up(flow.node, flow.key)
        # That it rests is written before its entries are removed.
        self._labels.release(flow.label, flow.key.vrf)
        self._edges[flow.node].remove(flow, successor)

    def _tell(self, flow: Flow) -> None:
        if flow.origin is not Origin.MANUAL:
            known = flow.source_qp is not None
            self._shares[flow.node, flow.key.src.version].tell(flow.key, known=known)

    def _in_order(self, nodes: set[str]) -> tuple[str, ...]:
        return tuple(name for name in self._edges if name in nodes)

    def _install(self, flow: Flow, before: Flow | None = None) -> None:
        if flow.origin is Origin.MANUAL:
            self._give_up(flow.node, flow.key)
        self._edges[flow.node].install(flow, before)
