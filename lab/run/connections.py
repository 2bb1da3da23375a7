"""The connections of a scenario's traffic at the hosts of a simulation."""

from dataclasses import dataclass

from fcn.controller.config.notation import Address
from fcn.lab.roce import ReceiverCounters, RoceHost, SenderCounters, State
from fcn.lab.scenario.traffic import Flow


@dataclass(frozen=True)
class Connection:
    """A connection that was opened: `number` counts those its sender opened."""

    flow: Flow
    sender: RoceHost
    receiver: RoceHost
    number: int

    @property
    def host(self) -> str:
        """The sending host."""
        return self.flow.source.name

    def counters(self) -> SenderCounters:
        """As the sender counts."""
        return self.sender.sender(self.number)

    @property
    def key(self) -> tuple[Address, Address, int]:
        """Source, destination and destination queue pair, by which the controller knows the flow
        in its VRF."""
        return self.sender.address, self.receiver.address, self.counters().remote_qp

    @property
    def is_up(self) -> bool:
        """Whether the connection manager has set it up."""
        return self.counters().state is State.CONNECTED

    @property
    def has_failed(self) -> bool:
        """Whether it was refused, or nobody answered."""
        return self.counters().state is State.FAILED

    def received(self, sent: SenderCounters) -> ReceiverCounters | None:
        """As the receiver counts; None when it has not accepted it. sent: counters() now."""
        if not sent.remote_qp:
            return None
        # Their queue pairs are numbered in the order in which the receiver accepted them.
        first = self.receiver.options.first_accepted_qp
        return self.receiver.receiver(sent.remote_qp - first)
