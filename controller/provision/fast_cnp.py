"""Congestion levels of queues, and what is told at them, and of what kind (FCN-9 to FCN-16)."""

from fcn.contract.constants import enum_members
from fcn.contract.ecn import CLASSIC_RULES, TWO_THRESHOLD_RULES, Ecn
from fcn.controller.config.features import Feature
from fcn.controller.config.model import Config, LevelPolicy
from fcn.controller.config.modes import Notification
from fcn.controller.owners.queue_level import QueueLevel, Thresholds
from fcn.controller.owners.tables import Tables
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
    set_mode(
        to.tables,
        sent if Feature.NOTIFICATION in told else "NONE",
        notice if Feature.TRANSLATION in told else "NONE",
    )


def set_mode(tables: Tables, sent: str = "NONE", translated: str = "NONE") -> None:
    """Set the kind of notification sent for a congested queue, and the kind that becomes a CNP when
    it is for this node; others are counted only. Members of NotificationKind (FCN-16)."""
    kinds = enum_members("NotificationKind")
    tables.set("domain_mode", "set_mode", congestion_kind=kinds[sent], translates=kinds[translated])


def describe_notifications(to: NodeIntent) -> None:
    """What notifications look like, and at which levels they are sent."""
    if to.is_pe:
        _describe_cnps(to)
    if to.tells_ingress_pes:
        profile = to.node.fast_cnp
        to.tables.set(
            "fast_cnp_profile",
            "set_fast_cnp_profile",
            src=to.node.underlay_address,
            udp_src_port=profile.udp_source_port,
            udp_dst_port=to.config.fast_cnp_port,
            traffic_class=profile.traffic_class,
            hop_limit=profile.hop_limit,
            copy_label=int(profile.copy_label),
        )
    levels = QueueLevel(to.intent)
    for level, policy in level_policies(to.config).items():
        levels.set_policy(
            level,
            mark=Ecn.CE if policy.mark else Ecn.NOT_ECT,
            notify=policy.notify,
            interval=policy.interval,
        )


def _describe_cnps(to: NodeIntent) -> None:
    """Header fields of CNPs, the minimum interval per flow (FCN-13, FCN-15), and what becomes of
    the ECN field of decapsulated packets (SRF-2)."""
    profile = to.node.cnp
    to.tables.set(
        "cnp_profile",
        "set_cnp_profile",
        traffic_class=profile.traffic_class,
        ttl=profile.ttl,
        udp_src_port=profile.udp_source_port,
        ipv4_id=profile.ipv4_id,
        min_interval=to.tables.ticks(profile.min_interval),
    )
    for rule in TWO_THRESHOLD_RULES if to.two_thresholds else CLASSIC_RULES:
        match = {"inner_ecn": rule.inner, "outer_ecn": rule.outer}
        to.tables.put("decap_ecn", match, rule.verdict, **rule.parameters)


def set_thresholds(to: NodeIntent, thresholds: Thresholds) -> None:
    """Set the queue depths at which levels begin, in the two-threshold mode T1, T2 and maximum.
    Raises DepthError, and changes nothing, when the target cannot represent a depth."""
    if to.two_thresholds:
        set_curves(to, thresholds)
    else:
        size = to.config.congestion.packet_size
        QueueLevel(to.intent).set_thresholds(thresholds, size)
