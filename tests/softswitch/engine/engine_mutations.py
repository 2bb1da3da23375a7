"""Structured mutations of a program's JSON: hostile values, and parts of the program out of place.

As a script: `python engine_mutations.py COUNT [SEED]` mutates programs COUNT times and prints what
became of them, with the time and memory it took.
"""

import copy
import json
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fcn.softswitch.engine import ProgramError
from fcn.softswitch.engine.bmv2json.program import check_program
from fcn.softswitch.engine.codegen.unit import generate
from fcn.softswitch.engine.loader import build_model

Json = dict[str, Any]
Path_ = tuple[int | str, ...]

COMPILED = Path(__file__).parents[3] / "p4src" / "compiled"
SMALL = Path(__file__).parents[1] / "p4"
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
                at[last], at[other] = at[other], at[last]
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


def outcome(root: Json) -> tuple[str, str]:
    """What becomes of a program, and its C: any exception but ProgramError is a defect."""
    try:
        check_program(root)
        return "accepted", generate(build_model(root))
    except ProgramError as error:
        message = str(error)
        assert message
        assert len(message) < 4000, "a message must not repeat the program"
        return type(error).__name__, ""


def programs(*paths: Path) -> list[Json]:
    """Programs to mutate."""
    return [stripped(json.loads(path.read_bytes())) for path in paths]


def _main(count: int, seed: int) -> None:
    rng = random.Random(seed)
    small = [Mutator(root, rng) for root in programs(*sorted(SMALL.glob("*.json")))]
    ours = [Mutator(root, rng) for root in programs(COMPILED / "p.json", COMPILED / "pe.json")]
    found: Counter[str] = Counter()
    slowest = 0.0
    start = time.process_time()
    for i in range(count):
        # P a fifth, PE a twentieth, the programs of single features the rest.
        mutator = ours[1] if i % 20 == 0 else ours[0] if i % 5 == 1 else rng.choice(small)
        root = mutator.mutated()
        before = time.process_time()
        try:
            kind, code = outcome(root)
            assert MARK not in code
        except Exception as error:
            kind = f"DEFECT {type(error).__name__} {error}"[:200]
            if found[kind] == 0:
                Path(f"defect-{seed}-{i}.json").write_text(json.dumps(root))
        slowest = max(slowest, time.process_time() - before)
        found[kind] += 1
    spent = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{count} programs, seed {seed}: {spent:.0f} s of processor time, ", end="")
    print(f"slowest {slowest:.2f} s, {peak:.0f} MiB")
    for kind, number in found.most_common():
        print(f"{number:8d} {kind}")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    _main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
