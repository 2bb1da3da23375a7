"""Runs the other traffic of a scenario, and says what it saw."""

import signal
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from fcn.hosts.processes import Process
from fcn.topologies.demo.probe import READY, Arrival, count_of, read_arrivals, receiving, sending
from fcn.topologies.demo.scenario import OtherFlow, Scenario
from fcn.topologies.network import Network

READY_TIMEOUT_S = 60.0
END_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What became of the packets of one flow."""

    flow: OtherFlow
    sent: int
    arrivals: tuple[Arrival, ...]

    @property
    def received(self) -> int:
        return len(self.arrivals)


class OtherTraffic:
    """Context manager: receivers run inside; `send` starts the senders, `end` ends all."""

    def __init__(self, network: Network, scenario: Scenario, directory: Path) -> None:
        self._network = network
        self._scenario = scenario
        self._directory = directory
        self._stack = ExitStack()
        self._receivers: list[Process] = []
        self._senders: list[Process] = []

    def __enter__(self) -> "OtherTraffic":
        with ExitStack() as stack:
            for flow in self._scenario.others:
                address = self._scenario.ipv4(flow.receiver)
                command = receiving(address, self._log(flow))
                process = stack.enter_context(self._start(flow.receiver, command))
                self._receivers.append(process)
            for process in self._receivers:
                process.wait_ready(
                    lambda process=process: READY in process.log.read_text(),  # type: ignore[misc]
                    READY_TIMEOUT_S,
                )
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def send(self, start_ns: int) -> None:
        """Start the senders; they begin then (CLOCK_MONOTONIC), and send as long as the run is."""
        for flow in self._scenario.others:
            command = sending(
                self._scenario.ipv4(flow.sender),
                self._scenario.ipv4(flow.receiver),
                start_ns,
                flow.pps,
                self._scenario.seconds,
            )
            started = self._start(flow.sender, command, f"to-{flow.receiver}")
            self._senders.append(self._stack.enter_context(started))

    def wait_until_sent(self) -> None:
        """Wait for the senders' end. Raises ProcessError when one failed."""
        for process in self._senders:
            process.check_status(process.wait(END_TIMEOUT_S))

    def end(self) -> tuple[Seen, ...]:
        """End the receivers, when nothing is under way; what each flow saw. Raises ProcessError."""
        for process in self._receivers:
            process.check_status(process.stop(signal.SIGINT))
        return tuple(
            Seen(flow, count_of(flow.pps, self._scenario.seconds), read_arrivals(self._log(flow)))
            for flow in self._scenario.others
        )

    def _start(self, host: str, command: list[str], what: str = "other") -> Process:
        return self._network.run_in_host(host, command, self._directory / f"{host}-{what}.log")

    def _log(self, flow: OtherFlow) -> Path:
        return self._directory / f"arrivals-{flow.receiver}.json"
