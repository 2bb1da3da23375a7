"""Structured mutations of a program's JSON: hostile values, and parts of the program out of place.

As a script: `python engine_mutations.py COUNT SEED [--asan]` mutates programs COUNT times, runs
what is accepted under ASan, and prints what became of them, with the time and memory it took.
"""

import copy
import hashlib
import json
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine_asan import Asan

from fcn.softswitch.engine import ProgramError
from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.codegen.unit import generate
from fcn.softswitch.engine.loader import build_model

Json = dict[str, Any]
Path_ = tuple[int | str, ...]

COMPILED = Path(__file__).parents[3] / "p4src" / "compiled"
SMALL = Path(__file__).parents[1] / "p4"
MEMORY_MIB = 512
"""Of the process that checks and generates, at most."""
LONG = 60_000
"""Characters of C; PE and P are longer."""
LONG_ONE_IN = 32
MARK = "INJECTED"
"""In every string that is put in: it must not get into C."""
STRINGS = (
    f'x", 0}}; void {MARK}(void) {{ system("id"); }} /*',
    f"*/ {MARK} /*", f"\\\n#include <{MARK}>", f"{MARK}", f"{MARK}_0", f"{MARK}\u2028\u202e", "",
    "\x00", "$valid$", "default", "NoAction", "__HIT__", "0x" + "f" * 4096, "0x1" + "0" * 900,
    "-0x1", "0x", "%s%n", "../../etc/passwd", MARK * 1000,
)  # fmt: skip
NUMBERS = (
    0, 1, -1, 2, 7, 63, 64, 65, 127, 128, 129, 255, 256, 2047, 2048, 2049, 65535, 65536,
    (1 << 31) - 1, 1 << 31, -(1 << 31), 1 << 32, 1 << 63, 1 << 64, 1 << 4096,
)  # fmt: skip
OTHERS: tuple[Any, ...] = (None, True, False, 1.5, float("nan"), float("inf"), [], {}, [[]], [None])


def stripped(root: Any) -> Any:  # noqa: ANN401 (JSON)
    """The JSON without positions in the source."""
    if isinstance(root, dict):
        return {k: stripped(v) for k, v in root.items() if k != "source_info"}
    return [stripped(v) for v in root] if isinstance(root, list) else root


class Mutator:
    """Mutations of one program."""

    def __init__(self, root: Json, rng: random.Random) -> None:
        self._root = root
        self._rng = rng
        self._paths: list[Path_] = []
        self._list((), root)

    def _list(self, path: Path_, value: object) -> None:
        if path:
            self._paths.append(path)
        if isinstance(value, dict):
            for key, inner in value.items():
                self._list((*path, key), inner)
        elif isinstance(value, list):
            for i, inner in enumerate(value):
                self._list((*path, i), inner)

    def mutated(self) -> Json:
        """The program with one to three mutations; the parts untouched are shared with it."""
        root = self._root
        for _ in range(self._rng.choice((1, 1, 1, 2, 3))):
            root = self._mutate(root)
        return root

    def _mutate(self, root: Json) -> Json:
        """One mutation; its path may be gone after an earlier one."""
        path = self._rng.choice(self._paths)
        try:
            value = self._at(root, path)
            return self._replaced(root, path, value)
        except (KeyError, IndexError, TypeError):
            return root

    @staticmethod
    def _at(root: Any, path: Path_) -> Any:  # noqa: ANN401 (JSON)
        for step in path:
            root = root[step]
        return root

    def _replaced(self, root: Json, path: Path_, value: object) -> Json:
        """A copy in which only the containers on the path are new."""
        out = copy.copy(root)
        at: Any = out
        for step in path[:-1]:
            at[step] = copy.copy(at[step])
            at = at[step]
        last = path[-1]
        match self._rng.randrange(8):
            case 0:
                del at[last]
            case 1 if isinstance(at, list):
                at.insert(int(last), copy.deepcopy(value))
            case 2 if isinstance(at, list):
                other = self._rng.randrange(len(at))
                index = int(last)
                at[index], at[other] = at[other], at[index]
            case 3:
                at[last] = self._nested(value)
            case 4 | 5:
                at[last] = self._similar(path, value)
            case _:
                at[last] = self._hostile(value)
        return out

    def _nested(self, value: object) -> object:
        """A value deep within itself, as operands of operations."""
        op = self._rng.choice(("+", "<<", "sat_cast", "?", "and", "not", "*", "expression"))
        depth = self._rng.choice((1, 3, 6, 20, 60))
        one = {"type": "hexstr", "value": "0x01"}
        for _ in range(depth):
            if op == "expression":
                value = {"type": "expression", "value": value}
            else:
                value = {
                    "op": op, "left": value, "right": value if depth <= 6 else one,
                    "cond": {"type": "bool", "value": True},
                }  # fmt: skip
        return value

    def _similar(self, path: Path_, value: object) -> object:
        """The value at another place whose path ends alike, else of the same type."""
        others = [self._rng.choice(self._paths) for _ in range(30)]
        alike = [o for o in others if o[-1] == path[-1]]
        for other in alike or others:
            found = self._at(self._root, other)
            if type(found) is type(value):
                return copy.deepcopy(found)
        return value

    def _hostile(self, value: object) -> object:
        kinds: Sequence[Any] = self._rng.choice((STRINGS, NUMBERS, OTHERS))
        if isinstance(value, bool) or value is None:
            kinds = self._rng.choice((OTHERS, NUMBERS))
        elif isinstance(value, str):
            kinds = self._rng.choice((STRINGS, STRINGS, kinds))
        elif isinstance(value, int):
            kinds = self._rng.choice((NUMBERS, NUMBERS, kinds))
        elif isinstance(value, list) and self._rng.randrange(2):
            return value * self._rng.choice((2, 3, 100))
        return self._rng.choice(kinds)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of a program: "accepted", or the error's name; and its model and C."""

    kind: str
    code: str = ""
    model: m.Model | None = None


def outcome(root: Json) -> Outcome:
    """What becomes of a program: any exception but ProgramError is a defect."""
    try:
        model = build_model(root)
        code = generate(model)
    except ProgramError as error:
        message = str(error)
        assert message
        assert len(message) < 4000, "a message must not repeat the program"
        return Outcome(type(error).__name__)
    assert MARK not in code
    return Outcome("accepted", code, model)


def programs(*paths: Path) -> list[Json]:
    """Programs to mutate."""
    return [stripped(json.loads(path.read_bytes())) for path in paths]


@dataclass
class Run:
    """Mutations of all programs: P a fifth, PE a twentieth, those of single features the rest.

    With `asan`, every C that was not seen before is run, except that of long programs, of which one
    in LONG_ONE_IN is.
    """

    seed: int
    asan: Asan | None = None
    kinds: Counter[str] = field(default_factory=Counter)
    sanitized: int = 0
    slowest: float = 0.0
    seen: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)
        paths = [COMPILED / "p.json", COMPILED / "pe.json", *sorted(SMALL.glob("*.json"))]
        self._mutators = [
            (path.stem, Mutator(root, self._rng))
            for path, root in zip(paths, programs(*paths), strict=True)
        ]

    def mutate(self, count: int) -> None:
        """Mutate, and run, `count` programs; the first of a defect is kept in a file."""
        p, pe, *small = self._mutators
        for i in range(count):
            name, mutator = pe if i % 20 == 0 else p if i % 5 == 1 else self._rng.choice(small)
            root = mutator.mutated()
            before = time.process_time()
            try:
                found = outcome(root)
                self.slowest = max(self.slowest, time.process_time() - before)
                kind = found.kind
                self._sanitize(name, found)
            except Exception as error:
                kind = f"DEFECT {type(error).__name__} {error}"[:2000]
                if self.kinds[kind] == 0:
                    Path(f"defect-{self.seed}-{i}.json").write_text(json.dumps(root))
            self.kinds[kind] += 1

    def _sanitize(self, name: str, found: Outcome) -> None:
        if self.asan is None or found.model is None:
            return
        digest = hashlib.sha256(found.code.encode()).digest()
        long = len(found.code) > LONG and digest[0] >= 256 // LONG_ONE_IN
        if digest in self.seen or long:
            return
        self.seen.add(digest)
        self.asan.run(name, found.model, found.code, self._rng)
        self.sanitized += 1

    @property
    def defects(self) -> list[str]:
        """Whatever is neither accepted nor refused with a reason."""
        return [kind for kind in self.kinds if kind.startswith("DEFECT")]


def _main(count: int, seed: int, sanitize: bool) -> None:
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        run = Run(seed, Asan(Path(folder)) if sanitize else None)
        done, peak = 0, 0.0
        while done < count:
            run.mutate(step := min(500, count - done))
            done += step
            spent = time.process_time() - start
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{done} programs, seed {seed}: {spent:.0f} s of processor time, slowest "
                f"{run.slowest:.2f} s, {peak:.0f} MiB; {run.sanitized} run under ASan; "
                + ", ".join(f"{number} {kind}" for kind, number in run.kinds.most_common()),
                flush=True,
            )
    sys.exit(bool(run.defects) or peak > MEMORY_MIB)


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]), "--asan" in sys.argv)
