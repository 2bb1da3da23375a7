"""MarkingCurve: steps of marking probability (p4src/two_threshold/marking_curve.p4)."""

from collections.abc import Mapping

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.contract.ecn import Ecn
from fcn.contract.marking import MarkingCurves
from fcn.contract.targets import Target
from fcn.controller.owners.intent import Intent


class MarkingCurve:
    """The marking curves of queues, compiled to entries (PEC-1)."""

    def __init__(self, intent: Intent, target: Target) -> None:
        self._intent = intent
        self._target = target

    def set_curves(
        self, curves: Mapping[tuple[int, int], MarkingCurves], inner: frozenset[int]
    ) -> None:
        """Set the curves of exactly these queues, by (port, queue).

        inner: ports whose packets have no outer header. There, light congestion marks nothing: the
        customer's ECN field means what RFC 3168 says.
        """
        entries = [
            P4TableEntry(
                "marking_curve",
                match=P4TableMatch(
                    egress_port=port, queue_id=queue, queue_depth=(step.low, step.high)
                ),
                action=P4TableAction(
                    "set_curve", set_codepoint=step.codepoint, set_probability=step.threshold
                ),
                priority=1,
            )
            for (port, queue), curve in curves.items()
            for step in curve.steps(self._target.depth.maximum)
            if step.codepoint is Ecn.CE or port not in inner
        ]
        self._intent.replace_table("marking_curve", entries)
