"""Flow labels of RoCE flows: random, locally unique, quarantined before reuse (FCN-2).

The low 16 bits of a label index the per-flow rate gates of every node, so the pool avoids labels
in use that are equal in these bits as long as possible.
"""

import random
from collections import deque
from collections.abc import Callable

from fcn.contract.constants import FCN_LABEL_BIT, FLOW_GATE_SIZE

LABEL_COUNT = FCN_LABEL_BIT
"""How many labels have FCN_LABEL_BIT, the top bit, set."""

LABEL_BITS = LABEL_COUNT.bit_length() - 1
"""Bits below it, which are drawn."""

GATE_MASK = FLOW_GATE_SIZE - 1
"""The bits of a label that index the rate gates of a node."""

_GATE_DRAWS = 64


class LabelsExhaustedError(Exception):
    """Every label is in use or in quarantine, or too many of a VRF's are."""


class LabelPool:
    """Labels of one network.

    `quarantine` is in seconds; `clock` is monotonic, in seconds; `rng` must not be predictable in
    production, because labels could be guessed otherwise.
    """

    def __init__(
        self,
        quarantine: float,
        clock: Callable[[], float],
        rng: random.Random,
    ) -> None:
        self._quarantine = quarantine
        self._clock = clock
        self._rng = rng
        self._used: set[int] = set()
        self._gates: dict[int, int] = {}
        self._resting: dict[int, float] = {}
        self._wakeups: deque[tuple[float, int, str]] = deque()
        self._resting_of: dict[str, int] = {}

    def __len__(self) -> int:
        """Labels in use."""
        return len(self._used)

    @property
    def resting(self) -> int:
        """Labels in quarantine."""
        self._wake()
        return len(self._resting)

    def check(self, vrf: str) -> None:
        """Whether a flow of this VRF may have a label. Raises LabelsExhaustedError.

        A VRF may have as many labels in quarantine as are free: a tenant that starts and ends flows
        all the time leaves labels to the others (dynamic threshold of Choudhury and Hahne, 1998).
        """
        self._wake()
        free = LABEL_COUNT - len(self._used) - len(self._resting)
        if not free:
            raise LabelsExhaustedError(
                f"all {LABEL_COUNT} flow labels are in use or in quarantine; "
                "shorten flows.timeout or flows.label_quarantine"
            )
        if self._resting_of.get(vrf, 0) > free:
            raise LabelsExhaustedError(
                f"{self._resting_of[vrf]} flow labels of VRF {vrf} are in quarantine, more than "
                "are free: its flows come and go too fast"
            )

    def take(self) -> int:
        """A free 20-bit label, of which `check` said that there is one."""
        label = self._draw()
        self._use(label)
        return label

    def claim(self, label: int) -> bool:
        """Mark a label found on a switch as used; False when it is used already or no FCN label."""
        if not FCN_LABEL_BIT <= label < 2 * LABEL_COUNT or label in self._used:
            return False
        self._resting.pop(label, None)
        self._use(label)
        return True

    def release(self, label: int, vrf: str) -> None:
        """Put the label of a flow of this VRF into quarantine."""
        self._used.remove(label)
        gate = label & GATE_MASK
        self._gates[gate] -= 1
        if not self._gates[gate]:
            del self._gates[gate]
        wakeup = self._clock() + self._quarantine
        self._resting[label] = wakeup
        self._resting_of[vrf] = self._resting_of.get(vrf, 0) + 1
        self._wakeups.append((wakeup, label, vrf))

    def _use(self, label: int) -> None:
        self._used.add(label)
        gate = label & GATE_MASK
        self._gates[gate] = self._gates.get(gate, 0) + 1

    def _free(self, label: int) -> bool:
        return label not in self._used and label not in self._resting

    def _draw(self) -> int:
        for _ in range(_GATE_DRAWS):
            label = FCN_LABEL_BIT | self._rng.getrandbits(LABEL_BITS)
            if self._free(label) and label & GATE_MASK not in self._gates:
                return label
        start = self._rng.randrange(LABEL_COUNT)
        return next(
            label
            for offset in range(LABEL_COUNT)
            if self._free(label := FCN_LABEL_BIT | (start + offset) % LABEL_COUNT)
        )

    def _wake(self) -> None:
        now = self._clock()
        while self._wakeups and self._wakeups[0][0] <= now:
            wakeup, label, vrf = self._wakeups.popleft()
            self._resting_of[vrf] -= 1
            if not self._resting_of[vrf]:
                del self._resting_of[vrf]
            if self._resting.get(label) == wakeup:
                del self._resting[label]
