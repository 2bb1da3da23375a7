"""Mutated programs run under AddressSanitizer: every action on valid, mutated and random frames."""

import os
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

from engine_scenarios import SCENARIOS

from fcn.contract.sanitizers import SANITIZERS
from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.build import SOURCES, compile_c
from fcn.softswitch.engine.codegen.layout import nbytes

HARNESS = (Path(__file__).parent / "harness.c").read_text()
FLAGS = (*SANITIZERS, "-fno-sanitize=undefined", "-w", "-pthread")
MEMORY_MIB = 1024
"""Of one program, ASan's own included."""
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": f"detect_leaks=1:hard_rss_limit_mb={MEMORY_MIB}"}
FRAMES = 6
RANDOM_FRAMES = (0, 13, 14, 60, 1514, 10240)
SECONDS = 120


class SanitizerError(AssertionError):
    """The sanitizer reported something, or the program did not end."""


class Asan:
    """Programs built with ASan in a folder; the runtime is compiled once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runtime = folder / "runtime.o"
        text = "".join(f'#include "{name}"\n' for name in ("sw_core.h", *SOURCES))
        compile_c(text + HARNESS, self._runtime, (*FLAGS, "-c"))
        self._frames = {
            s.path.stem: [data for _, data in s.packets(seed=3, count=FRAMES)] for s in SCENARIOS
        }

    def run(self, name: str, model: m.Model, code: str, rng: random.Random, *frames: bytes) -> None:
        """Build and run a mutation of the program `name`, with these frames, else with some of its
        scenario. Raises SanitizerError."""
        program = self._folder / "program.o"
        compile_c(code, program, (*FLAGS, "-c"))
        harness = self._folder / "harness"
        parts = [str(program), str(self._runtime)]
        subprocess.run(["cc", *FLAGS, *parts, "-o", str(harness)], check=True)
        commands = "\n".join(self._commands(frames or self._frames.get(name, ()), model, rng))
        try:
            done = subprocess.run(
                [str(harness)], input=commands, capture_output=True, text=True, check=False,
                env=ENVIRONMENT, timeout=SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise SanitizerError(f"a mutation of {name} runs for {SECONDS} s") from error
        if done.returncode != 0:
            raise SanitizerError(f"a mutation of {name}: {done.stderr[:4000]}")

    def _commands(self, frames: Sequence[bytes], model: m.Model, rng: random.Random) -> list[str]:
        """Clone sessions, multicast groups, and every action as its table's default."""
        out = [f"S {number} 2 1 2 0 1 0 64" for number in (1, 5, 7, 8, 100)]
        out += [f"G {number} 3 1 2 3 0 0 1" for number in (1, 2)]
        out += ["Q 2 3 0 1000000000 700"]
        frames = [*frames, *map(rng.randbytes, RANDOM_FRAMES)]
        frames += [_changed(frame, rng) for frame in frames[:FRAMES]]
        traffic = [f"P {rng.choice((1, 2, 510, 600))} {len(f)} {f.hex()}" for f in frames]
        out += [*traffic, "A 1000000"]
        tables = list(model.tables())
        deepest = max((len(t.action_ids) for t in tables if t.profile is None), default=0)
        for turn in range(deepest):
            for index, table in enumerate(tables):
                if table.profile is None and table.action_ids:
                    action = model.actions[table.action_ids[turn % len(table.action_ids)]]
                    data = rng.randbytes(sum(nbytes(p.width) for p in action.params))
                    out.append(f"d {index} 1 0 {action.id} 0 {len(data)} {data.hex()}")
            out += [*traffic, "A 1000000"]
        return [*out, "A 1000000000"]


def _changed(frame: bytes, rng: random.Random) -> bytes:
    changed = bytearray(frame)
    for _ in range(min(3, len(changed))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed[: rng.randrange(len(changed) + 1)])
