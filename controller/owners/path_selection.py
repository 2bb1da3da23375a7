"""The paths of policies: PolicyOfTunnel, PathOfBucket and PathById
(p4src/fantel/paths/policy_of_tunnel.p4)."""

from collections.abc import Sequence

from fcn.contract.paths import PathShare, distributions, paths_in_use
from fcn.controller.config.balancing import LoadBalancing
from fcn.controller.config.paths import Plan
from fcn.controller.owners.owner import Owner

MARGIN_UNIT = 8
"""Permille: the PE compares loads in this unit, and moves flows at a difference of more units."""


class PathSelection(Owner):
    """Which path a flow takes, whatever paths are to be avoided (FAN-4)."""

    def distribute(self, policy: int, shares: Sequence[PathShare]) -> None:
        """Distribute the flows of a policy over its paths, which have slots in this order: an entry
        for each set of paths to avoid and each bucket, so that the switch needs nobody then."""
        for avoided, slots in distributions(shares):
            used = sum(1 << slot for slot in paths_in_use(shares, avoided))
            for bucket, slot in enumerate(slots):
                self._put(
                    "path",
                    {"policy": policy, "avoided": avoided, "bucket": bucket},
                    "take_path",
                    path=slot,
                    in_use=used,
                )

    def name(self, policy: int, numbers: Sequence[int]) -> None:
        """The IDs by which messages name the policy's paths, by slot."""
        everything = (1 << len(numbers)) - 1
        for slot, number in enumerate(numbers):
            self._put(
                "path_by_id",
                {"path_id": number},
                "set_path",
                number=policy,
                path_slot=slot,
                path_bit=1 << slot,
                policy_paths=everything,
            )

    def use(
        self,
        number: int,
        plan: Plan,
        first_tunnel: int,
        balancing: LoadBalancing | None = None,
        settle: int = 0,
        cnp_interval: int | None = None,
    ) -> None:
        """Send packets of this number in the place of a tunnel's by the policy; the tunnels of its
        paths have numbers from `first_tunnel` on. balancing: how flows are moved because of load;
        None where they are not. settle: how long loads take to show what has moved, in
        microseconds. cnp_interval: how often the sender of a flow on a congested path gets a CNP,
        in microseconds; None: never (FAN-6)."""
        self._put(
            "policy",
            {"tunnel": number},
            "to_policy",
            number=plan.cell,
            first=first_tunnel,
            hold=self._ticks(plan.hold_down),
            flowlet_gap=self._ticks(balancing.flowlet) if balancing else 0,
            margin=balancing.margin // MARGIN_UNIT if balancing else 0,
            settle=self._ticks(settle),
            cnp_interval=0 if cnp_interval is None else max(1, self._ticks(cnp_interval)),
            paths=(1 << len(plan.paths)) - 1,
        )
