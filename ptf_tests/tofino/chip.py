"""The model of a chip, in this process: a shared library with a C interface (common/rmt.h).

The model has one chip in a process, and its threads. One lock keeps calls apart: the model is not
made for several callers. Callbacks come from its threads, while a call may be under way.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cffi

from fcn.ptf_tests.tofino.image import MemoryWrite, RegisterWrite, Write, writes
from fcn.ptf_tests.tofino.layout import Layout
from fcn.ptf_tests.tofino.tofino1 import TOFINO1
from fcn.ptf_tests.tofino.tofino2 import TOFINO2

_FCS = 4
"""Octets behind every frame of the model."""
_PICOSECONDS = 1000
"""In a nanosecond."""
_LAYOUTS = (TOFINO1, TOFINO2)

_DECLARATIONS = """
void rmt_init(int chips, const char *log);
bool rmt_create_package(uint8_t asic, uint8_t type, int number);
void rmt_set_continue_on_config_errors(bool);
void rmt_0bad_mode_set(int);
void rmt_meter_sweep_init(bool disabled);
void rmt_pcie_veth_init(bool);
void rmt_start_packet_processing(void);
void rmt_stop_packet_processing(void);
void rmt_packet_receive(uint8_t asic, uint16_t port, uint8_t *data, int size);
void rmt_transmit_register(void (*)(int, int, uint8_t *, int));
void rmt_install_dru_callbacks(
    void (*learn)(int, uint8_t *, int, int), void (*diagnosis)(int, uint8_t *, int),
    void (*idle)(int, uint8_t *, int), void (*evicted)(int, uint8_t *, int),
    void (*received)(int, uint8_t *, int, int));
unsigned int model_reg_read(unsigned int asic, unsigned int address);
void model_reg_write(unsigned int asic, unsigned int address, unsigned int value);
void model_ind_read(int asic, uint64_t address, uint64_t *low, uint64_t *high);
void model_ind_write(int asic, uint64_t address, uint64_t low, uint64_t high);
void rmt_time_set(uint64_t picoseconds);
void rmt_set_log_fn(int (*)(int, int, const char *));
void rmt_set_model_log_fn(int (*)(int, int, const char *));
void rmt_set_p4_name_lookup(int chip, int pipe, const char *file);
void rmt_update_log_flags(
    int, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
"""

Sink = Callable[[int, bytes], None]


class ModelError(Exception):
    """The library is not the model, or does not start; the message says what to do."""


class Chip:
    """The chip of this process; make one only.

    Frames that leave are given to `on_frame` (port, frame), learned quanta to `on_learn` (pipe,
    octets): from threads of the model, which must not wait for a caller of this.
    """

    def __init__(self, library: Path) -> None:
        self._ffi: Any = cffi.FFI()
        self._ffi.cdef(_DECLARATIONS)
        try:
            self._lib: Any = self._ffi.dlopen(str(library))
            self._lib.rmt_init  # noqa: B018 - looked up here, so that another library is told
        except (OSError, AttributeError) as error:
            raise ModelError(f"{library} is not the model of the chip: {error}") from error
        self.on_frame: Sink = _ignore
        self.on_learn: Sink = _ignore
        self._lock = threading.Lock()
        self._loaded = False
        self._image: tuple[bytes, tuple[Write, ...]] = b"", ()
        self._low, self._high = self._ffi.new("uint64_t *"), self._ffi.new("uint64_t *")
        self._started = time.monotonic_ns()
        self._callbacks = self._make_callbacks()
        with self._lock:
            self._lib.rmt_init(1, self._ffi.NULL)
            self._lib.rmt_meter_sweep_init(True)
            # Packets of the CPU come by its port, also where that is PCIe.
            self._lib.rmt_pcie_veth_init(True)
            self.layout = self._create(library)
            self._lib.rmt_set_continue_on_config_errors(True)
            self._lib.rmt_0bad_mode_set(1)

    def load(self, binary: bytes) -> None:
        """Forget the program before, and load this one. Raises ImageError before it does."""
        if self._image[0] != binary:
            self._image = binary, tuple(writes(binary, self.layout))
        with self._lock:
            if self._loaded:
                self._lib.rmt_stop_packet_processing()
            self._loaded = True
            address, bit = self.layout.reset
            self._lib.model_reg_write(0, address, bit)
            self._lib.model_reg_write(0, address, 0)
            # Calls other than of registers wait until the chip is out of reset.
            self._register()
            self._lib.rmt_stop_packet_processing()
            for setting in self.layout.before:
                self._lib.model_reg_write(0, setting.address, setting.value)
            for write in self._image[1]:
                self._apply(write)

    def start(self) -> None:
        """Process packets."""
        with self._lock:
            self._lib.rmt_start_packet_processing()

    def stop(self) -> None:
        """Process no packets until start()."""
        with self._lock:
            self._lib.rmt_stop_packet_processing()

    def read(self, address: int) -> int:
        """A register of 32 bits."""
        with self._lock:
            return int(self._lib.model_reg_read(0, address))

    def write(self, address: int, value: int) -> None:
        """Write a register of 32 bits."""
        with self._lock:
            self._lib.model_reg_write(0, address, value)

    def read_memory(self, address: int) -> int:
        """A word of 128 bits."""
        with self._lock:
            self._lib.model_ind_read(0, address, self._low, self._high)
            return int(self._low[0]) | int(self._high[0]) << 64

    def write_memory(self, address: int, word: int) -> None:
        """Write a word of 128 bits."""
        with self._lock:
            self._apply(MemoryWrite(address, word & (1 << 64) - 1, word >> 64))

    def fill_memory(self, address: int, count: int, word: int) -> None:
        """Write the same word to so many addresses."""
        write, low, high = self._lib.model_ind_write, word & (1 << 64) - 1, word >> 64
        with self._lock:
            for each in range(address, address + count):
                write(0, each, low, high)

    def receive(self, port: int, frame: bytes) -> None:
        """A frame arrives on a port."""
        data = frame + bytes(_FCS)
        with self._lock:
            self._set_time()
            octets = self._ffi.from_buffer("uint8_t[]", data)
            self._lib.rmt_packet_receive(0, port, octets, len(data))

    def tick(self) -> None:
        """Let the chip's clock go on."""
        with self._lock:
            self._set_time()

    def log(self, path: Path, context: bytes) -> None:
        """Have the model say what it does, with the names of the program, for whoever debugs."""
        names = path.with_suffix(".context.json")
        names.write_bytes(context)
        file = path.open("a", encoding="utf-8", errors="replace")

        def line(_chip: int, _pipe: int, text: object) -> int:
            file.write(self._ffi.string(text).decode(errors="replace"))
            file.flush()
            return 0

        callback = self._ffi.callback("int(int, int, const char *)", line)
        self._callbacks += (callback,)
        everything = (1 << 64) - 1
        with self._lock:
            self._lib.rmt_set_log_fn(callback)
            self._lib.rmt_set_model_log_fn(callback)
            self._lib.rmt_set_p4_name_lookup(0, 0, str(names).encode())
            self._lib.rmt_update_log_flags(0, *[everything] * 7)

    def say_nothing(self) -> None:
        """Have the model not print what it does; a program is loaded."""
        everything = (1 << 64) - 1
        with self._lock:
            self._lib.rmt_update_log_flags(0, *[everything] * 5, 0, 0)

    def _create(self, library: Path) -> Layout:
        """The chip that the library is the model of."""
        for layout in _LAYOUTS:
            if self._lib.rmt_create_package(0, layout.package, 1):
                return layout
        names = " or ".join(layout.name for layout in _LAYOUTS)
        raise ModelError(f"{library} is not the model of {names}")

    def _apply(self, write: Write) -> None:
        if isinstance(write, RegisterWrite):
            self._lib.model_reg_write(0, write.address, write.value)
        else:
            self._lib.model_ind_write(0, write.address, write.low, write.high)

    def _set_time(self) -> None:
        # The model's time must not go back, so it is read while the lock is held.
        passed = time.monotonic_ns() - self._started
        self._lib.rmt_time_set(passed * _PICOSECONDS)

    def _register(self) -> None:
        transmit, learn, events, received = self._callbacks[:4]
        self._lib.rmt_transmit_register(transmit)
        self._lib.rmt_install_dru_callbacks(learn, events, events, events, received)

    def _make_callbacks(self) -> tuple[Any, ...]:
        """Kept as long as the chip: the model has nothing but their addresses."""
        octets = self._ffi.buffer

        def transmit(_asic: int, port: int, data: object, size: int) -> None:
            self.on_frame(port, bytes(octets(data, size))[:-_FCS])

        def learn(_asic: int, data: object, size: int, pipe: int) -> None:
            self.on_learn(pipe, bytes(octets(data, size)))

        def event(_asic: int, _data: object, _size: int) -> None:
            pass

        def received(_asic: int, _data: object, _size: int, _class: int) -> None:
            pass

        make = self._ffi.callback
        return (
            make("void(int, int, uint8_t *, int)", transmit),
            make("void(int, uint8_t *, int, int)", learn),
            make("void(int, uint8_t *, int)", event),
            make("void(int, uint8_t *, int, int)", received),
        )


def _ignore(_number: int, _data: bytes) -> None:
    """Nobody listens."""
