"""Owns the native simulation and converts its results."""

from collections.abc import Sequence
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
        self.starts = 0
        """How often a switch was given an engine."""
        self._lab: CData = lib.lab_new(seed, fast_cnp_port)
        if self._lab == ffi.NULL:
            raise LabError("the laboratory is out of memory")

    @property
    def handle(self) -> CData:
        """The native object. Raises LabError after close()."""
        if self._lab is None:
            raise LabError("the simulation is closed")
        return self._lab

    def close(self) -> None:
        """Free it; the engines are closed before."""
        lab, self._lab = self._lab, None
        if lab is not None:
            self.lib.lab_free(lab)

    def done(self, result: int) -> int:
        """The result of a native call. Raises LabError for an error."""
        if result < 0:
            raise LabError(f"the laboratory {_REASONS.get(result, result)}")
        return int(result)

    def fields(self, struct: CData) -> dict[str, Any]:
        """The fields of a native struct."""
        return {name: getattr(struct, name) for name, _ in self.ffi.typeof(struct[0]).fields}

    def _engine(self, api: CData, engine: CData) -> tuple[CData, CData]:
        # The engine's library has declarations of its own.
        cast = self.ffi.cast
        address = int(cast("uintptr_t", api)), int(cast("uintptr_t", engine))
        return cast("sw_sim_api *", address[0]), cast("sw_engine *", address[1])

    def add_switch(self) -> int:
        """The number of a new switch, which is off."""
        return self.done(self.lib.lab_add_switch(self.handle))

    def set_engine(self, node: int, pointers: tuple[CData, CData] | None) -> None:
        """Give a switch an engine (its native interface and itself), or none."""
        null = self.ffi.NULL
        api, engine = (null, null) if pointers is None else self._engine(*pointers)
        self.done(self.lib.lab_set_engine(self.handle, node, api, engine))
        self.starts += 1

    def listen(self, node: int, listens: bool) -> None:
        """Whether a switch's events stop a run."""
        self.done(self.lib.lab_listen(self.handle, node, listens))

    def has_event(self, node: int) -> bool:
        """Whether an event of a switch waits."""
        return bool(self.lib.lab_has_event(self.handle, node))

    def unlinked(self, node: int) -> int:
        """Frames a switch sent on ports without a link."""
        return int(self.lib.lab_switch_unlinked(self.handle, node))

    def off_drops(self, node: int) -> int:
        """Frames that arrived at a switch while it was off."""
        return int(self.lib.lab_switch_off_drops(self.handle, node))

    def connect(self, a: int, a_port: int, b: int, b_port: int, delay_ns: int) -> int:
        """The number of a new link."""
        return self.done(self.lib.lab_connect(self.handle, a, a_port, b, b_port, delay_ns))

    def set_link(self, link: int, up: bool) -> None:
        """Cut or mend a link."""
        self.done(self.lib.lab_set_link(self.handle, link, up))

    def link_stats(self, direction: int) -> dict[str, int]:
        """Counters of a direction."""
        out = self.ffi.new("lab_link_stats *")
        self.done(self.lib.lab_link_stats_of(self.handle, direction, out))
        return self.fields(out)

    def tap(self, direction: int, kinds: int, snap: int, octets: int) -> None:
        """Copy what a direction delivers: frames of these kinds (0: all), their first octets."""
        self.done(self.lib.lab_tap(self.handle, direction, kinds, snap, octets))

    def take_tapped(self) -> bytes:
        """The copies."""
        size = self.lib.lab_tapped_size(self.handle)
        buffer = self.ffi.new("uint8_t[]", size)
        got = self.lib.lab_tapped_take(self.handle, buffer, size)
        return bytes(self.ffi.buffer(buffer, got))

    def tapped_lost(self) -> int:
        """Frames that found no room, since the start."""
        return int(self.lib.lab_tapped_lost(self.handle))

    def run(self, until: int) -> int:
        """Run; the time reached."""
        return int(self.lib.lab_run(self.handle, until))

    def stopped(self) -> bool:
        """Whether the last run ended for an event."""
        return bool(self.lib.lab_stopped(self.handle))

    def now(self) -> int:
        """The virtual time."""
        return int(self.lib.lab_now(self.handle))

    def next_due(self) -> int:
        """When something happens next."""
        return int(self.lib.lab_next_due(self.handle))

    def hops(self) -> int:
        """Frames delivered by links."""
        return int(self.lib.lab_hops(self.handle))

    def frames_in_use(self) -> int:
        """Frames taken from the pool."""
        return int(self.lib.lab_frames_in_use(self.handle))

    def keep_digest(self, keep: bool) -> None:
        """Whether the digest is kept."""
        self.lib.lab_keep_digest(self.handle, keep)

    def digest(self) -> int:
        """The digest."""
        return int(self.lib.lab_digest(self.handle))

    def frames(self, frames: Sequence[bytes]) -> tuple[int, CData, CData]:
        """Number, lengths and octets of frames, as native calls take them."""
        lengths = self.ffi.new("uint32_t[]", [len(frame) for frame in frames])
        return len(frames), lengths, self.ffi.from_buffer("uint8_t[]", b"".join(frames))
