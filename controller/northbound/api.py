"""The gRPC service behind the `fcn` command (controller/proto/fcn.proto)."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from itertools import chain
from pathlib import Path

import grpc

from fcn.contract.depth import Depth, DepthUnit
from fcn.contract.ports import QUEUES
from fcn.contract.version import fcn_version
from fcn.controller.config import ConfigError
from fcn.controller.config.document import listed
from fcn.controller.config.features import ROLE_FEATURES, feature_names, parse_features
from fcn.controller.config.queue_depths import level_problem
from fcn.controller.config.tls import Tls
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.provenance import Origin
from fcn.controller.flows.regions import OutboxFullError
from fcn.controller.flows.senders import Sender
from fcn.controller.flows.service import FlowError
from fcn.controller.node.agent import NodeAgent
from fcn.controller.node.counters import FlowCounts
from fcn.controller.northbound.access import RefusedError
from fcn.controller.northbound.differences import change_message, problem_messages
from fcn.controller.northbound.flows import PAGE, flow_message, flow_pages, selector
from fcn.controller.northbound.following import SIGN_OF_LIFE
from fcn.controller.northbound.network import Network
from fcn.controller.northbound.paths import link_messages, links_down, policy_messages
from fcn.controller.northbound.regions import pages
from fcn.controller.owners.addresses import address_of
from fcn.controller.pace import Pace
from fcn.controller.proto import fcn_pb2 as pb
from fcn.controller.provision.fast_cnp import level_policies

FOLLOW = 0.25
"""Seconds at least between two states that a controller which waits is told."""


class FcnService:
    """Implements the service of the proto file; errors of `Guarded` (access.py) end calls. Where a
    stream has None, whoever asked is told that it has begun."""

    def __init__(self, network: Network) -> None:
        self._network = network

    async def GetNetwork(self, request: pb.GetNetworkRequest) -> pb.GetNetworkResponse:
        config = self._network.config
        return pb.GetNetworkResponse(
            nodes=[
                pb.NetworkNode(
                    name=name,
                    role=node.role,
                    ports=[
                        pb.NetworkPort(
                            number=port.number,
                            name=port.label,
                            role=port.role,
                            vrf=port.vrf,
                            rate=port.rate,
                        )
                        for port in node.ports
                    ],
                )
                for name, node in config.nodes.items()
            ],
            links=[
                pb.NetworkLink(node=node, port=port, peer=peer, peer_port=peer_port)
                for (node, port), (peer, peer_port) in config.link_ends()
            ],
        )

    async def GetStatus(self, request: pb.GetStatusRequest) -> pb.GetStatusResponse:
        network = self._network
        return pb.GetStatusResponse(
            version=fcn_version(),
            started=network.started,
            labels_in_use=len(network.flows.labels),
            labels_resting=network.flows.labels.resting,
            notification=network.config.notification.value,
            others=[
                pb.RegionController(region=region, name=name, heard=not reason, detail=reason)
                for (region, name), reason in network.flows.regions.silent.items()
            ],
            nodes=[
                pb.NodeStatus(
                    name=name,
                    role=agent.provision.node.role,
                    grpc=agent.provision.node.grpc,
                    device_id=agent.provision.node.device_id,
                    state=agent.status.state.value,
                    since=agent.status.since,
                    detail=agent.status.detail,
                    features=feature_names(agent.features),
                    entries=agent.entries,
                    pending=agent.intent.pending,
                    refused=agent.refused,
                    refusal=agent.refusal,
                    flows=len(network.flows.on_node(name)),
                    neighbors=len(network.neighbors[name]),
                    tls=_tls(network.config.tls_of(agent.provision.node)),
                )
                for name, agent in network.nodes.items()
            ],
        )

    async def ListFlows(self, request: pb.ListFlowsRequest) -> AsyncIterator[pb.ListFlowsResponse]:
        """Pages of labelled flows, and on request of known flows without a label."""
        if request.node:
            self._node(request.node)
        known = self._network.config.vrfs
        if request.vrf and request.vrf not in known:
            text = f"there is no VRF {request.vrf!r}; configured are: {listed(known)}"
            raise RefusedError(grpc.StatusCode.NOT_FOUND, text)
        with _arguments():
            selector(request)
        counted = self._counted if request.with_counters else None
        async for flows in flow_pages(self._network.flows, request, counted):
            if flows:
                yield pb.ListFlowsResponse(flows=flows)

    async def _counted(self, flows: Sequence[Flow]) -> dict[str, FlowCounts]:
        """Of nodes that are up, and flows that have their labels still."""
        by_node, counts = defaultdict[str, list[Flow]](list), dict[str, FlowCounts]()
        for flow in flows:
            now = self._network.flows.on_node(flow.node).get(flow.key)
            if now is not None and now.label == flow.label:
                by_node[flow.node].append(flow)
        for name, some in by_node.items():
            agent = self._network.nodes.get(name)
            if agent is not None and agent.is_up:
                counts[name] = await agent.counters.of_flows(some)
        return counts

    async def AddFlow(self, request: pb.AddFlowRequest) -> pb.AddFlowResponse:
        """Register a flow manually (FCN-3 a)."""
        key = _key(request.key)
        self._check_leads(self._network.flows.places(key))
        timeout = request.timeout if request.HasField("timeout") else None
        flow = self._network.flows.add(key, request.source_qp, timeout)
        written = await self._network.nodes[flow.node].settled()
        return pb.AddFlowResponse(
            flow=flow_message(flow), written=written, lasting=self._network.store.lasts
        )

    async def AddFlows(self, request: pb.AddFlowsRequest) -> pb.AddFlowsResponse:
        """Register many flows, in one write of the store."""
        response = pb.AddFlowsResponse(lasting=self._network.store.lasts)
        flows, pace, places = self._network.flows, Pace(), set[str]()
        checked: list[tuple[int, FlowKey, Sender]] = []
        for index, each in enumerate(request.flows):
            try:
                key = _key(each.key)
                flows.check(key, each.source_qp)
            except (RefusedError, FlowError) as error:
                response.refused.add(index=index, reason=str(error))
            else:
                self._check_leads(flows.places(key))
                timeout = each.timeout if each.HasField("timeout") else None
                checked.append((index, key, Sender(each.source_qp, Origin.MANUAL, timeout)))
            await pace.step()
        flows.register([(key, sender) for _, key, sender in checked])
        for index, key, sender in checked:
            try:
                places.add(flows.use(key, sender).node)
            except FlowError as error:
                response.refused.add(index=index, reason=str(error))
            await pace.step()
        for name in sorted(places):
            # Another configuration may be in force by now.
            if (agent := self._network.nodes.get(name)) is None or not await agent.settled():
                response.away.append(name)
        return response

    async def DeleteFlow(self, request: pb.DeleteFlowRequest) -> pb.DeleteFlowResponse:
        key = _key(request.key)
        self._check_leads(self._network.flows.places(key))
        try:
            self._network.flows.delete(key)
        except FlowError as error:
            raise RefusedError(grpc.StatusCode.NOT_FOUND, str(error)) from None
        for name in list(self._network.nodes):
            # Another configuration may be in force by now.
            if (agent := self._network.nodes.get(name)) is not None:
                await agent.settled()
        return pb.DeleteFlowResponse()

    async def SetFeatures(self, request: pb.SetFeaturesRequest) -> pb.SetFeaturesResponse:
        """Enable or disable features of a node (FCN-16)."""
        agent = self._node(request.node)
        role = agent.provision.node.role
        with _arguments():
            named = parse_features(request.features, role) or ROLE_FEATURES[role]
        self._check_leads([agent.name])
        before = agent.features
        agent.set_features(before | named if request.enabled else before - named)
        written = await agent.settled()
        return pb.SetFeaturesResponse(
            written=written,
            features=feature_names(agent.features),
            lasting=self._network.store.lasts,
        )

    async def GetThresholds(self, request: pb.GetThresholdsRequest) -> pb.GetThresholdsResponse:
        queues = [
            pb.QueueThresholds(
                node=agent.name,
                port=port,
                queue=queue,
                depths=[depth.amount for depth in depths],
                unit=depths[0].unit.name,
            )
            for agent in self._agents(request.node)
            for (port, queue), depths in sorted(agent.provision.thresholds.items())
        ]
        levels = [
            pb.LevelPolicy(
                level=level, mark=policy.mark, notify=policy.notify, interval=policy.interval
            )
            for level, policy in sorted(level_policies(self._network.config).items())
        ]
        mode = self._network.config.notification
        return pb.GetThresholdsResponse(queues=queues, levels=levels, notification=mode)

    async def SetThresholds(self, request: pb.SetThresholdsRequest) -> pb.SetThresholdsResponse:
        """Change the thresholds of one queue, until the file says something else."""
        wanted = request.queue
        agent = self._node(wanted.node)
        unit = DepthUnit[pb.DepthUnit.Name(wanted.unit)]
        depths = tuple(Depth(amount, unit) for amount in wanted.depths)
        numbers = {port.number for port in agent.provision.node.ports}
        with _arguments():
            if wanted.port not in numbers:
                known = listed(map(str, sorted(numbers)))
                raise ValueError(
                    f"{wanted.node} has no port {wanted.port}; choose one of its ports: {known}"
                )
            if wanted.queue not in QUEUES:
                raise ValueError(
                    f"there is no queue {wanted.queue}; queues are {QUEUES[0]} to {QUEUES[-1]}"
                )
            if problem := level_problem(self._network.config, len(depths)):
                raise ValueError(problem)
        self._check_leads([agent.name])
        target = agent.provision.pipeline.target.name
        with _arguments(f"{wanted.node} port {wanted.port} ({target}): "):
            agent.set_thresholds(wanted.port, wanted.queue, depths)
        written = await agent.settled()
        return pb.SetThresholdsResponse(written=written, lasting=self._network.store.lasts)

    async def GetCounters(self, request: pb.GetCountersRequest) -> pb.GetCountersResponse:
        """The switches' counters, read for this call or by the poller before."""
        response = pb.GetCountersResponse()
        for agent in self._agents(request.node):
            if not (request.node or request.last or agent.is_up):
                continue
            values = agent.counters.last if request.last else await agent.counters.read()
            if values:
                response.read[agent.name] = agent.counters.read_at
            response.counters.extend(
                pb.Counter(
                    node=agent.name, counter=counter, name=name, packets=packets, octets=octets
                )
                for counter, members in sorted(values.items())
                for name, (packets, octets) in members.items()
                if packets or not request.last
            )
        return response

    async def ListPaths(self, request: pb.ListPathsRequest) -> pb.ListPathsResponse:
        """Policies and the state of their paths (FAN-4)."""
        agents = self._agents(request.node)
        down = links_down(self._network.nodes.values())
        found = (policy_messages(agent, down) for agent in agents)
        return pb.ListPathsResponse(policies=chain.from_iterable(found))

    async def ListLinks(self, request: pb.ListLinksRequest) -> pb.ListLinksResponse:
        """Links and their state as both ends see it (FAN-4)."""
        agents = self._agents(request.node)
        return pb.ListLinksResponse(links=chain.from_iterable(map(link_messages, agents)))

    async def ListQueues(self, request: pb.ListQueuesRequest) -> pb.ListQueuesResponse:
        """What waits at the ports of switches that tell it."""
        agents = list(self._network.nodes.values())
        told = await asyncio.gather(*(agent.queues.read() for agent in agents))
        response = pb.ListQueuesResponse()
        for agent, queues in zip(agents, told, strict=True):
            if isinstance(queues, str):
                response.untold[agent.name] = queues
                continue
            for each in queues:
                response.queues.add(
                    node=agent.name,
                    port=each.port,
                    packets=each.packets,
                    level=each.level,
                    full=each.full,
                )
        return response

    async def ReportPath(self, request: pb.ReportPathRequest) -> pb.ReportPathResponse:
        """Tell a PE of a path, as a node that sees it would, or let it forget what was said (FAN-4,
        FAN-8)."""
        told = False
        for agent in self._network.nodes.values():
            if request.id in agent.paths.numbers:
                self._check_leads([agent.name])
            with _arguments():
                told = told or await agent.paths.report(request.id, request.report.upper())
        if not told:
            text = f"no policy has a path with ID {request.id:#x}; see `fcn paths`"
            raise RefusedError(grpc.StatusCode.NOT_FOUND, text)
        return pb.ReportPathResponse()

    async def WatchEvents(self, request: pb.WatchEventsRequest) -> AsyncIterator[pb.Event | None]:
        """Events emitted from now on."""
        with self._network.bus.watch() as events:
            yield None
            async for event in events:
                yield pb.Event(
                    time=event.time,
                    kind=event.kind.value,
                    node=event.node,
                    message=event.message,
                    fields=event.fields,
                )

    async def DiffConfig(self, request: pb.ConfigRequest) -> AsyncIterator[pb.DiffConfigResponse]:
        """What a configuration would change, in pages."""
        page: list[pb.EntryChange] = []
        try:
            async for change in self._network.plane.differences(request.text, request.file):
                page.append(change_message(*change))
                if len(page) == PAGE:
                    yield pb.DiffConfigResponse(changes=page)
                    page = []
        except ConfigError as error:
            yield pb.DiffConfigResponse(problems=problem_messages(error))
        if page:
            yield pb.DiffConfigResponse(changes=page)

    async def ApplyConfig(self, request: pb.ConfigRequest) -> pb.ApplyConfigResponse:
        """Put a configuration in force as a whole, or refuse it as a whole."""
        try:
            applied = await self._network.plane.apply(request.text, request.file)
        except ConfigError as error:
            return pb.ApplyConfigResponse(problems=problem_messages(error))
        return pb.ApplyConfigResponse(
            lasting=self._network.is_file(request.text),
            nodes=[
                pb.AppliedNode(
                    name=each.node,
                    added=each.added,
                    removed=each.removed,
                    changed=each.changed,
                    state=each.state,
                )
                for each in applied
            ],
        )

    async def FollowState(
        self, request: pb.FollowStateRequest
    ) -> AsyncIterator[pb.FollowStateResponse]:
        """The store as it is, and again whenever that has changed."""
        store = self._network.store
        while True:
            changed = store.changed_again()
            yield pb.FollowStateResponse(image=store.image())
            await asyncio.sleep(FOLLOW)
            while not changed.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), SIGN_OF_LIFE)
                if not changed.is_set():
                    yield pb.FollowStateResponse()

    async def FollowConnections(
        self, request: pb.FollowConnectionsRequest
    ) -> AsyncIterator[pb.FollowConnectionsResponse | None]:
        """What this region knows of connections to another one."""
        if request.region not in self._network.config.regions:
            text = f"there is no region {request.region!r} in the file of this controller"
            raise RefusedError(grpc.StatusCode.NOT_FOUND, text)
        yield None
        try:
            async with aclosing(pages(self._network.flows.regions, request.region)) as found:
                async for page in found:
                    yield page
        except OutboxFullError as error:
            raise RefusedError(grpc.StatusCode.RESOURCE_EXHAUSTED, str(error)) from None

    def _node(self, name: str) -> NodeAgent:
        agent = self._network.nodes.get(name)
        if agent is None and name in self._network.config.nodes:
            region = self._network.config.nodes[name].region
            text = f"{name} is of region {region}; ask a controller of that (`regions` of the file)"
            raise RefusedError(grpc.StatusCode.NOT_FOUND, text)
        if agent is None:
            text = f"there is no node {name!r}; the nodes are: {listed(self._network.nodes)}"
            raise RefusedError(grpc.StatusCode.NOT_FOUND, text)
        return agent

    def _agents(self, name: str) -> list[NodeAgent]:
        return [self._node(name)] if name else list(self._network.nodes.values())

    def _check_leads(self, names: Iterable[str]) -> None:
        """Refuse where another controller writes to one of these nodes: what this one says would
        wait for the end of that one, who may have said something else since."""
        for name in names:
            if leader := self._network.nodes[name].leader:
                raise RefusedError(
                    grpc.StatusCode.FAILED_PRECONDITION,
                    f"this controller is a backup at {name}, and changes nothing there: {leader}",
                )


@contextmanager
def _arguments(where: str = "") -> Iterator[None]:
    """A ValueError meanwhile is of what the request says."""
    try:
        yield
    except ValueError as error:
        raise RefusedError(grpc.StatusCode.INVALID_ARGUMENT, f"{where}{error}") from None


def _key(key: pb.FlowKey) -> FlowKey:
    with _arguments():
        return FlowKey(key.vrf, address_of(key.src), address_of(key.dst), key.dest_qp)


def _tls(tls: Tls | None) -> pb.SwitchTls | None:
    """The files by names that hold in any folder."""
    if tls is None:
        return None
    ca, certificate, key = (
        None if file is None else str(Path(file).absolute())
        for file in (tls.ca, tls.certificate, tls.key)
    )
    return pb.SwitchTls(ca=ca, certificate=certificate, key=key, name=tls.name)
