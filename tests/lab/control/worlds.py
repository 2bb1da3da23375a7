"""Worlds for the event loop: one that is empty, and one of engines without links between them."""

from collections.abc import Callable
from dataclasses import dataclass, field

from fcn.contract.targets import V1MODEL
from fcn.softswitch.api import Engine
from fcn.softswitch.engine import MemoryEngine, Program


@dataclass
class EmptyWorld:
    """Nothing happens in it but what is in `alarms`: (ns, what), in order."""

    now_ns: int = 0
    alarms: list[tuple[int, Callable[[], None]]] = field(default_factory=list)

    def run_until(self, time_ns: int) -> int:
        if self.alarms and self.alarms[0][0] <= time_ns:
            self.now_ns, happen = self.alarms.pop(0)
            happen()
        else:
            self.now_ns = time_ns
        return self.now_ns

    def next_due_ns(self) -> int | None:
        return self.alarms[0][0] if self.alarms else None


@dataclass
class Engines:
    """Switches by name, whose packets go nowhere."""

    now_ns: int = 0
    engines: dict[str, MemoryEngine] = field(default_factory=dict)

    def run_until(self, time_ns: int) -> int:
        """One step: until the first engine has something to do."""
        due = self.next_due_ns()
        self.now_ns = max(self.now_ns, time_ns if due is None else min(time_ns, due))
        for engine in self.engines.values():
            engine.advance(self.now_ns - engine.now_ns())
            engine.outputs()
        return self.now_ns

    def next_due_ns(self) -> int | None:
        due = (engine.next_due_ns() for engine in self.engines.values())
        return min((each for each in due if each is not None), default=None)


@dataclass(frozen=True)
class Box:
    """One of the switches."""

    name: str
    world: Engines

    def open(self, program: Program) -> Engine:
        ports = V1MODEL.ports
        assert ports.drop is not None
        engine = MemoryEngine(program, cpu_port=ports.cpu, drop_port=ports.drop)
        engine.advance(self.world.now_ns)
        return engine

    def start(self, engine: Engine) -> None:
        assert isinstance(engine, MemoryEngine)
        self.world.engines[self.name] = engine

    def close(self, engine: Engine) -> None:
        if self.world.engines.get(self.name) is engine:
            del self.world.engines[self.name]
        engine.close()
