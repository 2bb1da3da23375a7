"""DCQCN as it is published or delivered: what a scenario gets where it names a profile.

sigcomm2015
    Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", sections 3 and 5: every CNP
    cuts and raises alpha, and the target is the rate before each cut. The paper does not say by how
    much hyper increase raises the target, nor the least rate: those are of its authors' simulator
    (https://github.com/bobzhuyb/ns3-rdma).
nic
    ConnectX-4 and later with the defaults of their firmware, as `mlxconfig` shows them: CNPs of
    each 4 us cut once, alpha rises or falls each microsecond, and a cut sets the target only after
    the timer has raised the rate. What a NIC does with these numbers is not published; the rules
    are those that HPCC's code calls Mellanox's, with the byte counter that the NIC has besides.
hpcc-ns3
    https://github.com/alibaba-edu/High-Precision-Congestion-Control, `simulation/run.py --cc dcqcn`
    at 100 Gb/s: the same without a byte counter, and a CNP for each marked packet. Increases are in
    proportion to the link there, 0.2 and 2 Mb/s for each Gb/s. Its rates are whole bits per second.

The first step of `fast_recovery_steps` that raises the target is the second one for a threshold of
1 in `nic` and `hpcc-ns3`, which count from 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

ProfileName = Literal["sigcomm2015", "nic", "hpcc-ns3"]


@dataclass(frozen=True, slots=True)
class Profile:
    """reaction_point: every key of `DcqcnSettings` but the line rate, as a file would say it.
    cnp_interval: that of the notification point."""

    reaction_point: dict[str, Any]
    cnp_interval: str


def profile_of(data: object) -> Profile | None:
    """The profile that the data of a `DcqcnSettings` names; None: no known one."""
    name = data.get("profile") if isinstance(data, dict) else None
    return next((profile for known, profile in PROFILES.items() if known == name), None)


PROFILES: Mapping[ProfileName, Profile] = {
    "sigcomm2015": Profile(
        {
            "min_rate": "100 Mb/s",
            "g": 1 / 256,
            "initial_alpha": 1.0,
            "additive_increase": "40 Mb/s",
            "hyper_increase": "200 Mb/s",
            "alpha_period": "55us",
            "increase_period": "55us",
            "byte_counter": "10MB",
            "fast_recovery_steps": 5,
            "cut_interval": "0us",
            "cut_period": "0us",
            "alpha_by_timer": False,
            "clamp_target": True,
        },
        "50us",
    ),
    "nic": Profile(
        {
            "min_rate": "1 Mb/s",
            "g": 1 - 1019 / 1024,
            "initial_alpha": 1023 / 1024,
            "additive_increase": "5 Mb/s",
            "hyper_increase": "50 Mb/s",
            "alpha_period": "1us",
            "increase_period": "300us",
            "byte_counter": "32767B",
            "fast_recovery_steps": 2,
            "cut_interval": "0us",
            "cut_period": "4us",
            "alpha_by_timer": True,
            "clamp_target": False,
        },
        "4us",
    ),
    "hpcc-ns3": Profile(
        {
            "min_rate": "1 Gb/s",
            "g": 1 / 256,
            "initial_alpha": 1.0,
            "additive_increase": "20 Mb/s",
            "hyper_increase": "200 Mb/s",
            "alpha_period": "1us",
            "increase_period": "300us",
            "byte_counter": "0B",
            "fast_recovery_steps": 2,
            "cut_interval": "0us",
            "cut_period": "4us",
            "alpha_by_timer": True,
            "clamp_target": False,
        },
        "0us",
    ),
}
