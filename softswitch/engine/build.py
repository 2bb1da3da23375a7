"""Compiles generated C to a shared library, cached by content, and loads it."""

import contextlib
import fcntl
import hashlib
import itertools
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from fcn.contract.sanitizers import SANITIZERS
from fcn.softswitch.engine import control_ffi
from fcn.softswitch.engine.cache import MODE, check_cached, make_room, open_cache, unusable
from fcn.softswitch.engine.errors import BuildError

CData = Any
"""cffi objects, which have no static types."""

NATIVE = Path(__file__).parent / "native"
SOURCES = (
    "sw_hash.c", "sw_table.c", "sw_buffer.c", "sw_pkt.c", "sw_event.c", "sw_trace.c", "sw_pass.c",
    "sw_tm.c", "sw_extern.c", "sw_lock.c", "sw_xsk.c", "sw_qdisc.c", "sw_pcap.c", "sw_port.c",
    "sw_loop.c", "sw_ctl.c", "sw_ctl_pre.c", "sw_sim.c", "sw_engine.c",
)  # fmt: skip
# Warnings are errors in the tests only: other compilers may have other warnings.
_DIALECT = ("-std=gnu11", "-fno-strict-aliasing", "-D_GNU_SOURCE")
_WARNINGS = ("-Wall", "-Wextra", "-Werror")
COMPILER_SECONDS = 600
"""Processor time the compiler may take; PE takes a few seconds."""
COMPILER_OCTETS = 4 << 30
"""Memory the compiler may take."""
_SHARED = ("-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden")
_FAST = ("-O2", "-march=native", *_SHARED, "-pthread")
_SANITIZED = (*_WARNINGS, *SANITIZERS, "-pthread")


_LIMITED = (
    "/bin/sh",
    "-c",
    # Ctrl-C is for the command that needs the program: it ends in order, the compiler would fail.
    'trap "" INT && '
    f'ulimit -t {COMPILER_SECONDS} && ulimit -v {COMPILER_OCTETS >> 10} && exec "$@"',
    "sh",
)


@cache
def _compiler() -> tuple[tuple[str, ...], str]:
    """The C compiler ($CC or cc) and its version."""
    command = tuple(shlex.split(os.environ.get("CC", "cc")))
    if not command or shutil.which(command[0]) is None:
        raise BuildError(f"no C compiler: install gcc, or set CC (looked for {command!r})")
    version = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    return command, version.stdout


@cache
def _runtime() -> dict[str, str]:
    """Sources of the runtime by name; read once, at start a process may read more than later."""
    return {path.name: path.read_text() for path in sorted(NATIVE.glob("*.[ch]"))}


def prepare() -> None:
    """Read what later builds need from the package, before privileges are given up."""
    _runtime()


def _unit(code: str) -> str:
    """The program and the runtime as one translation unit, so that calls between them inline."""
    return code + "".join(f'\n#include "{name}"\n' for name in SOURCES)


@cache
def _cpu() -> str:
    """The processor that -march=native compiles for."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("flags", "Features")):
                return line
    return platform.processor()


def _key(unit: str, flags: Sequence[str]) -> str:
    h = hashlib.sha256(repr((*_compiler(), _cpu(), *_DIALECT, *flags)).encode())
    for text in (unit, *itertools.chain.from_iterable(_runtime().items())):
        octets = text.encode()
        h.update(b"%d:" % len(octets) + octets)
    return h.hexdigest()[:32]


def compile_c(code: str, target: Path, flags: Sequence[str]) -> None:
    """Compile one translation unit to target; raises BuildError with the compiler's output."""
    command, _ = _compiler()
    source = target.with_suffix(".c")
    source.write_text(code)
    for name, text in _runtime().items():
        (target.parent / name).write_text(text)
    result = subprocess.run(
        [*_LIMITED, *command, *_DIALECT, *flags, str(source), "-o", str(target)],
        capture_output=True, text=True, check=False,
        env={**os.environ, "TMPDIR": str(target.parent)},
    )  # fmt: skip
    if result.returncode:
        raise BuildError(f"{shlex.join(command)} failed on {source}:\n{result.stderr[:4000]}")


def build_library(code: str, *, sanitize: bool = False) -> Path:
    """Build the shared library of a generated program, or find it in the cache; `sanitize` builds
    it with ASan and UBSan. Of $CFLAGS comes what the compiler is told last.

    Raises BuildError.
    """
    own = shlex.split(os.environ.get("CFLAGS", ""))
    flags = (*_SANITIZED, *_SHARED) if sanitize else (*_FAST, *own)
    return _cached(_unit(code), ".so", flags)


def _cached(unit: str, suffix: str, flags: Sequence[str]) -> Path:
    """The file that a translation unit compiles to, from the cache where it is there."""
    directory = open_cache()
    file = directory / f"{_key(unit, flags)}{suffix}"
    try:
        # Switches that start together build a program once. Of one that is killed meanwhile the
        # kernel gives the lock back, and whoever builds the program next removes what it left.
        with file.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if check_cached(file):
                os.utime(file)
            else:
                _build(unit, file, flags)
                make_room(directory)
    except OSError as error:
        raise unusable(directory, error) from error
    return file


def _build(unit: str, file: Path, flags: Sequence[str]) -> None:
    # A compiler that outlives its killed switch goes on in the folder it was given.
    for left in file.parent.glob(f"{file.stem}-*.build"):
        shutil.rmtree(left, ignore_errors=True)
    scratch = Path(tempfile.mkdtemp(".build", f"{file.stem}-", file.parent))
    try:
        made = scratch / f"program{file.suffix}"
        compile_c(unit, made, flags)
        made.chmod(MODE)
        made.rename(file)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def build_harness(code: str, main: str, target: Path) -> None:
    """Build an executable of program, runtime and `main` (C) with ASan and UBSan.

    The program is one object, the runtime with `main` another; both are cached, so that only what
    differs between programs is compiled for each of them.
    """
    flags = (*_SANITIZED, "-c")
    runtime = _unit('#include "sw_core.h"\n') + main
    objects = [_cached(unit, ".o", flags) for unit in (code, runtime)]
    command, _ = _compiler()
    linked = subprocess.run(
        [*command, *_SANITIZED, *map(str, objects), "-o", str(target)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if linked.returncode:
        raise BuildError(f"{shlex.join(command)} cannot link {target}:\n{linked.stderr[:4000]}")


def ffi() -> CData:
    """cffi with the control interface of native/sw_ctl.h declared."""
    return control_ffi.ffi


@cache
def load_library(path: Path) -> CData:
    """Load a built program; every call to it releases the interpreter lock. Raises BuildError."""
    check_cached(path)
    try:
        return ffi().dlopen(str(path))
    except OSError as error:
        raise BuildError(
            f"cannot load the built program: {error}; delete {path}, and it is built anew"
        ) from error
