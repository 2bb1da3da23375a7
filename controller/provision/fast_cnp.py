"""Congestion levels of queues, and what is told at them, and of what kind (FCN-9 to FCN-16)."""

from fcn.contract.ecn import CLASSIC_RULES, TWO_THRESHOLD_RULES, Ecn
from fcn.controller.config.features import Feature
from fcn.controller.config.model import Config, LevelPolicy
from fcn.controller.config.modes import Notification
from fcn.controller.owners.cnp_profile import CnpProfile
from fcn.controller.owners.domain_mode import DomainMode
from fcn.controller.owners.ecn_decap import EcnDecap
from fcn.controller.owners.fast_cnp_profile import FastCnpProfile
from fcn.controller.owners.queue_level import QueueLevel, Thresholds
from fcn.controller.provision.node_intent import NodeIntent
from fcn.controller.provision.two_threshold import set_curves, two_level_policies

NOTICES = {Notification.END_CON: "END_CON_CNP", Notification.FANTEL: "FANTEL"}
"""What a congested node sends, member of NotificationKind; in other modes Fast CNPs."""


def level_policies(config: Config) -> dict[int, LevelPolicy]:
    """What is done at each level in the domain's mode."""
    if config.notification is Notification.TWO_THRESHOLD:
        return two_level_policies(config)
    return dict(config.congestion.levels)


def say_mode(to: NodeIntent, features: frozenset[Feature]) -> None:
    """What the node sends and translates, with these features enabled."""
    told = features if to.config.notification is not Notification.NONE else frozenset()
    notice = NOTICES.get(to.config.notification, "FAST_CNP")
    sent = notice
    if to.is_pe and (notice == "FANTEL" or not to.tells_ingress_pes):
        # Its own senders alone. FANTEL is about paths, and all of them end at a PE's port.
        sent = "CNP"
    DomainMode(to.intent).set(
        congestion_kind=sent if Feature.NOTIFICATION in told else "NONE",
        translates=notice if Feature.TRANSLATION in told else "NONE",
    )


def describe_notifications(to: NodeIntent) -> None:
    """What notifications look like, and at which levels they are sent."""
    if to.is_pe:
        CnpProfile(to.intent).set(to.node.cnp)
        rules = TWO_THRESHOLD_RULES if to.two_thresholds else CLASSIC_RULES
        EcnDecap(to.intent).set_rules(rules)
    if to.tells_ingress_pes:
        FastCnpProfile(to.intent).set(
            to.node.underlay_address, to.config.fast_cnp_port, to.node.fast_cnp
        )
    levels = QueueLevel(to.intent)
    for level, policy in level_policies(to.config).items():
        levels.set_policy(
            level,
            mark=Ecn.CE if policy.mark else Ecn.NOT_ECT,
            notify=policy.notify,
            interval=policy.interval,
        )


def set_thresholds(to: NodeIntent, thresholds: Thresholds) -> None:
    """Set the queue depths at which levels begin, in the two-threshold mode T1, T2 and maximum.
    Raises DepthError, and changes nothing, when the target cannot represent a depth."""
    if to.two_thresholds:
        set_curves(to, thresholds)
    else:
        size = to.config.congestion.packet_size
        QueueLevel(to.intent).set_thresholds(thresholds, size)
