"""Turns a node's part of the configuration into its intent: a short list of the parts."""

from typing import Self

from fcn.contract.pipeline import Pipeline
from fcn.controller.config.features import Feature
from fcn.controller.config.model import Config
from fcn.controller.config.paths import Plan, numbered_tunnels
from fcn.controller.config.queue_depths import queue_depths
from fcn.controller.config.reporters import Reporter, reporters
from fcn.controller.config.watching import Watching
from fcn.controller.owners.flow_learning import FlowLearning
from fcn.controller.owners.flow_tables import FlowByLabel, FlowTable
from fcn.controller.owners.intent import Intent
from fcn.controller.owners.queue_level import Thresholds
from fcn.controller.owners.rate_limits import MeterCell
from fcn.controller.owners.tables import Tables
from fcn.controller.owners.underlay import Adjacency, Underlay
from fcn.controller.owners.vrf_routing import VrfRouting
from fcn.controller.provision.customers import answer_for_gateways, room_of_hosts, route_customers
from fcn.controller.provision.fast_cnp import describe_notifications, say_mode, set_thresholds
from fcn.controller.provision.flow_control import hold
from fcn.controller.provision.limits import own_meter_cells, recirculate_and_limit
from fcn.controller.provision.links import LinkProvision
from fcn.controller.provision.node_intent import NodeIntent
from fcn.controller.provision.policies import select_paths
from fcn.controller.provision.ports import admit_ports
from fcn.controller.provision.recognition import recognise_notifications
from fcn.controller.provision.tunnels import begin_tunnel, end_tunnels
from fcn.controller.provision.two_threshold import treat_light_congestion
from fcn.controller.provision.underlay import own_addresses, route_underlay, trust_sources


class Provision:
    """The intent of one node as configured, with the parts that can be changed at run time.

    watching: what the nodes of the configuration watch, where there are several provisions of it.
    """

    def __init__(
        self, config: Config, name: str, pipeline: Pipeline, watching: Watching | None = None
    ) -> None:
        self.config, self.name, self.pipeline = config, name, pipeline
        self.intent = Intent(pipeline.schema)
        self._to = NodeIntent(config, name, pipeline, Tables(self.intent))
        self.node, self.is_pe = self._to.node, self._to.is_pe
        self.features = self.node.features
        self.thresholds: Thresholds = {}
        watching = watching or Watching(config)
        self.plans: tuple[Plan, ...] = watching.planner.plans(name) if self.node.policies else ()
        self.watched = LinkProvision(self._to, watching)
        self.reporters: dict[int, list[Reporter]] = reporters(config, name, self.plans)
        self.routing = VrfRouting(self.intent)
        self.underlay = Underlay(self.intent)
        self.flow_table = FlowTable(pipeline.schema)
        self.flow_by_label = FlowByLabel(pipeline.schema)
        self._learning = FlowLearning(self.intent)
        self._build()
        self.host_room = room_of_hosts(self._to)
        self._configured = self.intent.digest()

    def is_like(self, other: Self) -> bool:
        """Whether another configuration asks the same of this node."""
        own, others = (
            (
                each.node,
                each.config.model_copy(update={"nodes": {}, "links": ()}),
                each.plans,
                each.reporters,
                each.watched.links,
                each._configured,
            )
            for each in (self, other)
        )
        return own == others

    def _build(self) -> None:
        to = self._to
        recirculate_and_limit(to)
        own_addresses(to)
        recognise_notifications(to)
        if self.is_pe:
            trust_sources(to)
            end_tunnels(to)
            self._begin_tunnels()
            self._learning.report_digests()
            answer_for_gateways(to)
        route_underlay(to, self.underlay)
        describe_notifications(to)
        hold(to)
        self.watched.write()
        self.set_thresholds(queue_depths(self.config, self.node))
        self.set_features(self.features)
        admit_ports(to)

    def _begin_tunnels(self) -> None:
        tunnels = tuple(numbered_tunnels(self.node, self.plans))
        # Of a tunnel that is a path of several policies, any.
        numbers = {(each.name, each.vrf): each.number for each in tunnels}
        for each in tunnels:
            begin_tunnel(self._to, each)
        select_paths(self._to, self.plans, self.reporters)
        treat_light_congestion(self._to, tunnels, numbers)
        route_customers(self._to, self.routing, numbers)

    def set_features(self, features: frozenset[Feature]) -> None:
        """Enable exactly these features (FCN-16)."""
        self.features = features
        say_mode(self._to, features)
        if self.is_pe and Feature.LEARNING in features:
            self._learning.enable(self.config.flows.learning_window)
        elif self.is_pe:
            self._learning.disable()

    def set_thresholds(self, thresholds: Thresholds) -> None:
        """Set the queue depths at which levels begin, in the two-threshold mode T1, T2 and maximum;
        queues not named have no levels.

        Raises DepthError, and changes nothing, when the target cannot represent a depth.
        """
        set_thresholds(self._to, thresholds)
        self.thresholds = {queue: tuple(depths) for queue, depths in thresholds.items()}

    @property
    def meter_cells(self) -> list[MeterCell]:
        """Cells of the program's meters that the controller sets."""
        return own_meter_cells(self._to)

    def vrf_id(self, name: str) -> int:
        return self._to.vrf_id(name)

    def adjacency(self, number: int, mac: int) -> Adjacency:
        return self._to.adjacency(number, mac)
