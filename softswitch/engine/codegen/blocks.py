"""Functions of bounded length from blocks of C that jump to each other.

A compiler's time for a function grows faster than the function. What would be one of more than
WHOLE characters becomes several of about PART: a jump to a block of another one returns the
block's number, and the caller goes on in the function that has it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fcn.softswitch.engine.codegen.codec import indent

WHOLE = 192 << 10
"""Characters of C of a function that is not divided (PE's ingress: 151 Ki)."""
PART = 8 << 10
"""Characters of C after which another part begins."""

_GOTO = re.compile(r"\bgoto (\w+);")


@dataclass(frozen=True)
class Block:
    """Statements that end in a jump to the label of a block, or to `end`."""

    label: str
    lines: list[str]


@dataclass(frozen=True)
class Frame:
    """What parts of a function share: parameters, the arguments they are given, and statements
    at the beginning and before the return of each."""

    parameters: str
    arguments: str
    enter: Sequence[str]
    leave: Sequence[str] = ()


def divide(name: str, frame: Frame, first: str, blocks: Sequence[Block]) -> tuple[str, list[str]]:
    """C of the functions `name`_0, …, and the statements that run them from block `first` on."""
    number = {block.label: i for i, block in enumerate(blocks)}
    texts = ["\n".join([f"{block.label}:", *indent(block.lines)]) for block in blocks]
    parts = _parts([len(text) for text in texts])
    inside = [{blocks[i].label for i in part} for part in parts]
    aims = [{x for i in part for x in _GOTO.findall(texts[i]) if x in number} for part in parts]
    elsewhere = [sorted(to - own) for to, own in zip(aims, inside, strict=True)]
    entries = {first}.union(*elsewhere)
    kind = "static" if len(parts) == 1 else "SW_OWN"
    functions: list[str] = []
    run = [f"uint32_t at = {number.get(first, 'SW_END')};", "while (at != SW_END)"]
    run.append("    switch (at) {")
    for i, part in enumerate(parts):
        functions += [
            f"{kind} uint32_t {name}_{i}({frame.parameters}, uint32_t at)",
            "{",
            *indent(frame.enter),
            "    switch (at) {",
            *(f"    case {number[x]}: goto {x};" for x in sorted(inside[i] & entries)),
            "    default: goto end;",
            "    }",
            *(texts[j] for j in part),
            *(f"{x}: at = {number[x]}; goto leave;" for x in elsewhere[i]),
            "end: at = SW_END; goto leave;",
            "leave:",
            *indent(frame.leave),
            "    return at;",
            "}",
        ]
        run += [
            f"    case {part[0]} ... {part[-1]}:",
            f"        at = {name}_{i}({frame.arguments}, at);",
            "        break;",
        ]
    return "\n".join(functions) + "\n", [*run, "    default: at = SW_END;", "    }"]


def _parts(sizes: list[int]) -> list[range]:
    """Numbers of the blocks of each part."""
    parts: list[range] = []
    size = 0
    for i, more in enumerate(sizes):
        if parts and (size + more <= PART or sum(sizes) <= WHOLE):
            parts[-1] = range(parts[-1].start, i + 1)
        else:
            parts.append(range(i, i + 1))
            size = 0
        size += more
    return parts
