"""The embedded target: this project's own softswitch."""

import sys

import grpc

from fcn.contract.proto import trafficmanager_pb2 as pb
from fcn.contract.rpc import Stub
from fcn.ptf_tests.targets.base import Target


class Softswitch(Target):
    """fcn-softswitch, run by this interpreter."""

    name = "softswitch"

    def program(self) -> list[str]:
        """The switch, run as a module, so that no installed script is needed."""
        coverage = () if self.coverage is None else ("--coverage", str(self.coverage))
        return [sys.executable, "-m", "fcn.softswitch", *coverage]

    @classmethod
    def set_queue(
        cls, grpc_address: str, port: int, rate_pps: int, depth: int | None = None
    ) -> None:
        """Over the traffic manager service of the switch."""
        queue = pb.PortQueue(rate_pps=rate_pps, depth=depth)
        with grpc.insecure_channel(grpc_address) as channel:
            stub = Stub(channel, pb.DESCRIPTOR.services_by_name["TrafficManager"])
            stub.SetPortQueue(pb.SetPortQueueRequest(port=port, queue=queue))
