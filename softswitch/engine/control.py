"""The control-plane half shared by both engines: softswitch.api.Engine on a native engine."""

from softswitch.engine.program import Program


class EngineBase:
    """Common part of MemoryEngine and RealEngine; see softswitch.api.Engine."""

    def __init__(self, program: Program, *, cpu_port: int, drop_port: int, queues: int) -> None:
        self.program = program
        self.cpu_port = cpu_port
        self.drop_port = drop_port
        self.queues = queues
