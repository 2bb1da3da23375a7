"""The entries of a PE's policies: which paths flows take, who may speak of them (FAN-4)."""

from collections.abc import Mapping, Sequence

from fcn.contract.pipeline import Pipeline
from fcn.controller.config.balancing import SETTLING_ROUNDS
from fcn.controller.config.model import Config, Node
from fcn.controller.config.paths import Plan, first_tunnels, policy_numbers
from fcn.controller.config.reporters import Reporter
from fcn.controller.config.watching import congestion_interval
from fcn.controller.owners.intent import Intent
from fcn.controller.owners.path_reporters import PathReporters
from fcn.controller.owners.path_selection import PathSelection


class PolicyProvision:
    """What a PE does with traffic whose routes name policies."""

    def __init__(
        self,
        config: Config,
        node: Node,
        intent: Intent,
        pipeline: Pipeline,
    ) -> None:
        self._config = config
        self._node = node
        self._intent = intent
        self._pipeline = pipeline

    def write(
        self,
        plans: Sequence[Plan],
        speakers: Mapping[int, Sequence[Reporter]],
        ports: Mapping[str, Sequence[int]],
    ) -> None:
        """Intend the entries. speakers: those who may speak of a path, by its ID; ports: those by
        which their messages come, by node."""
        selection = PathSelection(self._intent, self._pipeline.target)
        for plan in plans:
            selection.distribute(plan.cell, plan.shares)
            selection.name(plan.cell, [path.number for path in plan.paths])
        if plans:
            believed = PathReporters(self._intent)
            for number, found in speakers.items():
                believed.believe(number, found)
            for name, each in ports.items():
                believed.expect(self._config.nodes[name].underlay_address, each)
        by_name = {plan.policy: plan for plan in plans}
        cnp_interval = congestion_interval(self._config)
        numbers = policy_numbers(self._node)
        for pair, first in first_tunnels(self._node, plans).items():
            plan = by_name[pair[0]]
            balancing = self._config.load_balancing if plan.compared else None
            selection.use(
                numbers[pair],
                plan,
                first,
                balancing,
                settle=self._settling if balancing else 0,
                cnp_interval=cnp_interval,
            )

    @property
    def _settling(self) -> int:
        """How long loads take to show what has moved, in microseconds."""
        times = self._config.failure_detection
        return SETTLING_ROUNDS * times.interval if times else 0
