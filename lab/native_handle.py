"""Owns the native simulation and converts its results."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from fcn.lab.errors import LabError
from fcn.softswitch.engine.build import CData

_REASONS = {
    -1: "is out of memory",
    -2: "has no such node or link",
    -3: "has no such port",
    -4: "cannot be at that time: it is past, or without end",
    -5: "has no queue pair number left at this host",
}


class NativeLab:
    """The native simulation; closing it is idempotent."""

    def __init__(self, ffi: CData, lib: CData, seed: int, fast_cnp_port: int) -> None:
        if not 0 <= seed < 1 << 64:
            raise LabError(f"the seed {seed} does not fit 64 bits without sign")
        if not 0 <= fast_cnp_port < 1 << 16:
            raise LabError(f"{fast_cnp_port} is no UDP port; those are 0 to 65535")
        self.ffi = ffi
        self.lib = lib
        self._new_octets = ffi.new_allocator(should_clear_after_alloc=False)
        self.starts = 0
        """How often a switch was given an engine."""
        self._lab: CData = lib.lab_new(seed, fast_cnp_port)
        if self._lab == ffi.NULL:
            raise LabError("the laboratory is out of memory")
        self._clock: CData = lib.lab_clock(self._lab)
        self._functions: dict[str, Callable[..., int | None]] = {}
        self._structs: dict[str, tuple[CData, list[str]]] = {}

    @property
    def handle(self) -> CData:
        """The native object. Raises LabError after close()."""
        if self._lab is None:
            raise LabError("the simulation is closed")
        return self._lab

    def close(self) -> None:
        """Free it; the engines are closed before."""
        lab, self._lab = self._lab, None
        self._functions.clear()
        if lab is not None:
            self.lib.lab_free(lab)

    @property
    def now_ns(self) -> int:
        """The virtual time. Raises LabError after close()."""
        if self._lab is None:
            raise LabError("the simulation is closed")
        now: int = self._clock[0]
        return now

    def call(self, function: str, *arguments: object) -> int:
        """The result of a function of lab_api.h, `lab_FUNCTION`, with this simulation. Raises
        LabError for an error."""
        call = self._functions.get(function)
        if call is None:
            call = partial(getattr(self.lib, f"lab_{function}"), self.handle)
            self._functions[function] = call
        result = call(*arguments)
        if result is not None and result < 0:
            raise LabError(f"the laboratory {_REASONS.get(result, result)}")
        return int(result or 0)

    def read(self, struct: str, function: str, *arguments: object) -> dict[str, Any]:
        """The fields of a native struct that a function fills in."""
        if struct not in self._structs:
            out = self.ffi.new(f"{struct} *")
            self._structs[struct] = out, [name for name, _ in self.ffi.typeof(out[0]).fields]
        out, names = self._structs[struct]
        self.call(function, *arguments, out)
        return {name: getattr(out, name) for name in names}

    def take(self, struct: str, records: str) -> CData:
        """Records since the last call, in order."""
        out = self.ffi.new(f"{struct}[]", self.call(records))
        self.call(f"take_{records}", out, len(out))
        return out

    def set_engine(self, node: int, pointers: tuple[CData, CData] | None) -> None:
        """Give a switch an engine (its native interface and itself), or none."""
        api = engine = self.ffi.NULL
        if pointers is not None:
            # The engine's library has declarations of its own.
            cast = self.ffi.cast
            api, engine = (
                cast(kind, int(cast("uintptr_t", pointer)))
                for kind, pointer in zip(("sw_sim_api *", "sw_engine *"), pointers, strict=True)
            )
        self.call("set_engine", node, api, engine)
        self.starts += 1

    def take_tapped(self) -> memoryview:
        """Copies of frames that taps made since the last call."""
        octets = self._new_octets("uint8_t[]", self.call("tapped_size"))
        got = self.call("tapped_take", octets, len(octets))
        return memoryview(self.ffi.buffer(octets, got))

    def frames(self, frames: Sequence[bytes]) -> tuple[int, CData, CData]:
        """Number, lengths and octets of frames, as native calls take them."""
        lengths = self.ffi.new("uint32_t[]", [len(frame) for frame in frames])
        return len(frames), lengths, self.ffi.from_buffer("uint8_t[]", b"".join(frames))
