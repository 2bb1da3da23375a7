"""A PE on the way of others' tunnels does what a P does: tests of a P, on a PE (SRF-5 to SRF-8)."""

from fcn.ptf_tests.lib.transit_pe import OnAPe
from fcn.ptf_tests.tests import arn_format, arn_holds, flow_control_hostile, held_flows


class EveryTunnelIsHeld(OnAPe, held_flows.EveryTunnelIsHeld):
    """SRF-7."""


class FlowIsNamed(OnAPe, held_flows.FlowIsNamed):
    """SRF-5, SRF-6."""


class HiddenFlowsAreNotNamed(OnAPe, held_flows.HiddenFlowsAreNotNamed):
    """SRF-6."""


class PriorityIsNamed(OnAPe, arn_format.PriorityIsNamed):
    """SRF-6."""


class OneArnPerServiceAndInterval(OnAPe, arn_format.OneArnPerServiceAndInterval):
    """FCN-15."""


class NodeBudgetOfArns(OnAPe, arn_format.NodeBudgetOfArns):
    """FCN-15."""


class EliminatedOnce(OnAPe, arn_format.EliminatedOnce):
    """SRF-7."""


class LostArnEndsWithTheTime(OnAPe, arn_holds.LostArnEndsWithTheTime):
    """SRF-7."""


class TimeIsClamped(OnAPe, arn_holds.TimeIsClamped):
    """SRF-7."""


class PriorityIsHeld(OnAPe, arn_holds.PriorityIsHeld):
    """SRF-6."""


class ForeignArnIsRefused(OnAPe, arn_holds.ForeignArnIsRefused):
    """SRF-5, SRF-7."""


class MalformedArnIsRefused(OnAPe, arn_holds.MalformedArnIsRefused):
    """SRF-5."""


class ArnOfAnotherModeIsRefused(OnAPe, arn_holds.ArnOfAnotherModeIsRefused):
    """SRF-6."""


class FloodOfHoldsIsBounded(OnAPe, arn_holds.FloodOfHoldsIsBounded):
    """SRF-7."""


class BudgetBoundsWhatWaits(OnAPe, arn_holds.BudgetBoundsWhatWaits):
    """SRF-7."""


class FullBudgetIsPassedUpstream(OnAPe, arn_holds.FullBudgetIsPassedUpstream):
    """SRF-7."""


class RenewalsAreBounded(OnAPe, flow_control_hostile.RenewalsAreBounded):
    """SRF-7."""


class HoldsOfOthersStay(OnAPe, flow_control_hostile.HoldsOfOthersStay):
    """SRF-7."""
