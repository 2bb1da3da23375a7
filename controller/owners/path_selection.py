"""The paths of policies: PolicyOfTunnel, PathOfBucket and PathById
(p4src/common/pe/path_selection.p4)."""

from collections.abc import Sequence

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.contract.paths import PATH_REPORTS, Share, distributions
from fcn.contract.targets import Target
from fcn.controller.owners.intent import Intent


def path_report(number: int, report: str) -> bytes:
    """What a packet-out to the CPU port says of the path with this ID: a member of PathReport."""
    return number.to_bytes(4, "big") + bytes([PATH_REPORTS[report]])


class PathSelection:
    """Which path a flow takes, whatever paths are to be avoided (FAN-4)."""

    def __init__(self, intent: Intent, target: Target) -> None:
        self._intent = intent
        self._target = target

    def distribute(self, policy: int, shares: Sequence[Share]) -> None:
        """Distribute the flows of a policy over its paths, which have slots in this order: an entry
        for each set of paths to avoid and each bucket, so that the switch needs nobody then."""
        for avoided, slots in distributions(shares):
            for bucket, slot in enumerate(slots):
                match = P4TableMatch(policy=policy, avoided=avoided, bucket=bucket)
                action = P4TableAction("take_path", path=slot)
                self._intent.put(P4TableEntry("path", match=match, action=action))

    def name(self, policy: int, numbers: Sequence[int]) -> None:
        """The IDs by which messages name the policy's paths, by slot."""
        everything = (1 << len(numbers)) - 1
        for slot, number in enumerate(numbers):
            action = P4TableAction(
                "set_path",
                number=policy,
                path_slot=slot,
                path_bit=1 << slot,
                policy_paths=everything,
            )
            match = P4TableMatch(path_id=number)
            self._intent.put(P4TableEntry("path_by_id", match=match, action=action))

    def use(self, number: int, policy: int, first_tunnel: int, hold_down: int) -> None:
        """Send packets of this number in the place of a tunnel's by the policy; the tunnels of its
        paths have numbers from `first_tunnel` on. hold_down: microseconds."""
        action = P4TableAction(
            "to_policy",
            number=policy,
            first=first_tunnel,
            hold=self._target.clock.ticks(hold_down),
        )
        match = P4TableMatch(tunnel=number)
        self._intent.put(P4TableEntry("policy", match=match, action=action))
