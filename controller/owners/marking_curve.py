"""MarkingCurve: steps of marking probability (p4src/two_threshold/marking_curve.p4)."""

from collections.abc import Mapping

from fcn.contract.ecn import Ecn
from fcn.contract.marking import MarkingCurves
from fcn.controller.owners.owner import Owner, entry


class MarkingCurve(Owner):
    """The marking curves of queues, compiled to entries (PEC-1)."""

    def set_curves(
        self, curves: Mapping[tuple[int, int], MarkingCurves], inner: frozenset[int]
    ) -> None:
        """Set the curves of exactly these queues, by (port, queue).

        inner: ports whose packets have no outer header. There, light congestion marks nothing: the
        customer's ECN field means what RFC 3168 says.
        """
        entries = [
            entry(
                "marking_curve",
                {"egress_port": port, "queue_id": queue, "queue_depth": (step.low, step.high)},
                "set_curve",
                1,
                set_codepoint=step.codepoint,
                set_probability=step.threshold,
            )
            for (port, queue), curve in curves.items()
            for step in curve.steps(self._target.depth.maximum)
            if step.codepoint is Ecn.CE or port not in inner
        ]
        self._intent.replace_table("marking_curve", entries)
