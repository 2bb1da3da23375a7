"""A native engine: its handle, and the conversion of its error codes."""

import os
import threading
from collections.abc import Sequence
from typing import NoReturn

from fcn.softswitch.api import EngineError, TableFullError
from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.build import CData, ffi, load_library
from fcn.softswitch.engine.program import Program

_EXISTS, _FULL, _NOT_FOUND, _ACTION, _MEMORY, _INDEX, _SYSTEM = -1, -2, -3, -4, -5, -6, -7


class NativeEngine:
    """Owns a native engine and the eventfd it signals; closing it is idempotent."""

    def __init__(
        self, program: Program, *, cpu_port: int, drop_port: int, queues: int, memory: bool
    ) -> None:
        self.program = program
        self.cpu_port = cpu_port
        self.drop_port = drop_port
        self._ffi = ffi()
        self._lib = load_library(program.library)
        self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._engine: CData = self._lib.sw_engine_new(cpu_port, drop_port, queues, memory, self._fd)
        if self._engine == self._ffi.NULL:
            os.close(self._fd)
            raise EngineError("out of memory for the engine")
        self._mutex = threading.RLock()

    @property
    def _handle(self) -> CData:
        if self._engine is None:
            raise EngineError("the engine is closed")
        return self._engine

    def _call(self, what: str, function: str, *arguments: object) -> int:
        """The result of `sw_ctl_FUNCTION` (native/sw_ctl.h) of this engine. Raises EngineError,
        which says that of `what`."""
        result = getattr(self._lib, f"sw_ctl_{function}")(self._handle, *arguments)
        if result is not None and result < 0:
            self._fail(result, what)
        return int(result or 0)

    def _fields(self, struct: str, what: str, function: str, *arguments: object) -> dict[str, int]:
        """The fields of a native struct that a function fills in."""
        out = self._ffi.new(f"{struct} *")
        self._call(what, function, *arguments, out)
        return {name: getattr(out, name) for name, _ in self._ffi.typeof(out[0]).fields}

    def _fail(self, code: int, what: str) -> NoReturn:
        if code == _FULL:
            raise TableFullError(f"{what} is full")
        reasons = {
            _EXISTS: "exists already",
            _NOT_FOUND: "does not exist",
            _ACTION: "does not have that action or number of arguments",
            _MEMORY: "is out of memory",
            _INDEX: "has no such index",
            _SYSTEM: os.strerror(self._ffi.errno),
        }
        raise EngineError(f"{what or 'engine'}: {reasons.get(code, code)}")

    @staticmethod
    def _number(arrays: dict[str, int], what: str, name: str) -> int:
        if name not in arrays:
            raise EngineError(f"the program has no {what} {name!r}")
        return arrays[name]

    @staticmethod
    def _arguments(action: m.Action, args: Sequence[int]) -> bytes:
        if len(args) != len(action.params):
            raise EngineError(
                f"{action.name} takes {len(action.params)} arguments, {len(args)} are given"
            )
        out = b""
        for p, x in zip(action.params, args, strict=True):
            if not 0 <= x < 1 << p.width:
                raise EngineError(f"{action.name}: {p.name}={x} does not fit {p.width} bits")
            out += x.to_bytes((p.width + 7) >> 3)
        return out

    def statistics(self) -> dict[str, int]:
        """Drops and failures of the engine itself, not of the program, by reason."""
        return self._fields("sw_engine_stats", "", "stats")

    def balance(self) -> dict[str, int]:
        """Packets since the start: `received` and `copied` (clones, replicas) together are the sum
        of all others, which say what became of them; `held` are those inside now, `refused` (not
        in the sum) those that were not taken in."""
        return self._fields("sw_balance", "", "balance")

    def now_ns(self) -> int:
        """Nanoseconds since the engine was made."""
        return self._call("", "now")

    def close(self) -> None:
        """Stop the data plane and release ports."""
        engine, self._engine = self._engine, None
        if engine is not None:
            self._lib.sw_engine_free(engine)
            os.close(self._fd)
