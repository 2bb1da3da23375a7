"""The control plane: all nodes, the flows between them, and the services around."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import finsy as fy

from fcn.contract.pipeline import Pipeline, load_pipeline
from fcn.controller.config import Config
from fcn.controller.config.model import Node
from fcn.controller.events import EventBus
from fcn.controller.flows.service import FlowService
from fcn.controller.hostagent.reports import HostReports
from fcn.controller.hostagent.service import HostAgentService, serving_agents
from fcn.controller.neighbors.service import NeighborService
from fcn.controller.node.agent import NodeAgent
from fcn.controller.northbound.metrics import serve_metrics
from fcn.controller.northbound.notifications import NotificationWatch

LOG = logging.getLogger("fcn")

HOUSEKEEPING = 5.0
"""Seconds between looks at what may have expired."""

INFERENCE = 0.25
"""Seconds between conclusions from the reverse path."""


Job = Callable[[], Coroutine[Any, Any, None]]


def _program(node: Node) -> Pipeline:
    return load_pipeline(node.role, node.program_folder)


class ControlPlane:
    """Everything `fcn run` runs. Needs a running event loop. Raises PipelineError."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.started = time.time()
        self.agents_address = ""
        self.bus = EventBus()
        self.nodes: dict[str, NodeAgent] = {
            name: NodeAgent(config, name, _program(node), self.bus)
            for name, node in config.nodes.items()
        }
        self.flows = FlowService(config, self.nodes, self.bus)
        self.neighbors: dict[str, NeighborService] = {}
        for name, agent in self.nodes.items():
            service = NeighborService(
                config.neighbors, agent.provision, agent.send_packet, self.bus
            )
            self.neighbors[name] = service
            agent.flows = self.flows
            agent.on_packet = service.handle
            agent.on_ready = service.adopt
        self.reports = HostReports(config.host_agents.hosts if config.host_agents else {})
        self._notifications = NotificationWatch(self.nodes, self.bus)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Connect to the switches and keep them as intended until the context ends."""
        handler = _FailureHandler(self.nodes)
        finsy_log = logging.getLogger("finsy")
        finsy_log.addHandler(handler)
        async with AsyncExitStack() as stack:
            stack.callback(finsy_log.removeHandler, handler)
            if self.config.metrics:
                stop_metrics, _ = serve_metrics(self, self.config.metrics)
                stack.callback(stop_metrics)
            if self.config.host_agents:
                agents = HostAgentService(self.reports, self.flows, self.bus)
                self.agents_address = await stack.enter_async_context(
                    serving_agents(self.config.host_agents, agents)
                )
            controller = fy.Controller(agent.switch for agent in self.nodes.values())
            await stack.enter_async_context(controller)
            stack.callback(self._close)
            jobs: list[Job] = [
                self._expire_senders,
                self._check_idle,
                self._inference,
                self._notifications.run,
            ]
            jobs += [service.run for service in self.neighbors.values()]
            await stack.enter_async_context(_background(jobs))
            yield

    def _close(self) -> None:
        for agent in self.nodes.values():
            agent.closing = True

    async def _expire_senders(self) -> None:
        while True:
            await asyncio.sleep(HOUSEKEEPING)
            self.flows.expire()

    async def _check_idle(self) -> None:
        """Reading whole flow tables takes time, and only makes up for lost notifications."""
        while True:
            await asyncio.sleep(max(HOUSEKEEPING, self.config.flows.timeout / 1e6))
            for agent in self.nodes.values():
                await agent.check_idle()

    async def _inference(self) -> None:
        while True:
            await asyncio.sleep(INFERENCE)
            self.flows.infer()


@asynccontextmanager
async def _background(jobs: list[Job]) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(_supervised(job)) for job in jobs]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _supervised(job: Job) -> None:
    """A job that fails is a defect to log, and no reason to stop serving the network."""
    while True:
        try:
            await job()
        except Exception:
            LOG.exception("a background job failed; starting it again")
            await asyncio.sleep(HOUSEKEEPING)


class _FailureHandler(logging.Handler):
    """finsy only logs why a switch's connection broke; the node's status should say it too."""

    def __init__(self, nodes: Mapping[str, NodeAgent]) -> None:
        super().__init__(logging.CRITICAL)
        self._nodes = nodes

    def emit(self, record: logging.LogRecord) -> None:
        """`record.args` is the name of the task, `fy:NODE|…`, as finsy/switch.py writes it."""
        if not record.exc_info or not record.exc_info[1] or not isinstance(record.args, tuple):
            return
        node = str(record.args[0]).removeprefix("fy:").partition("|")[0] if record.args else ""
        if node in self._nodes:
            self._nodes[node].failed(record.exc_info[1])
