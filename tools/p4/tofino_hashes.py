"""The hash matrix of an assembled program, read from the assembly and the assembler's log.

A hash of the chip is linear: a constant, and for every input bit the result bits it inverts. The
assembly (.bfa) contains the hash group of an action's result, the hash tables and the constant
(seed) of the group, and the metadata field of the result; the log written by `bfas --log-hashes`
contains the matrix of every hash table.
"""

import re
from dataclasses import dataclass

# Hash distribution unit n provides 16 bits of its group, from bit 16 * (n % 3) on.
UNIT_BITS = 16
UNITS_PER_GROUP = 3

STAGE = re.compile(r"^stage (\d+) ingress:", re.MULTILINE)
NEXT_TABLE = re.compile(r"\n  \w+ \S+ \d+:\n|\nstage ")
UNIT = re.compile(r"\n      (\d): \{ hash: (\d), mask: 0xffff, shift: 0 \}")
GROUP = re.compile(r"hash group (\d+):\s+table: \[([\d, ]+)\]\s+seed: (0x[0-9a-f]+)")
SET = re.compile(r"- set (\w+)\((\d+)\.\.\d+\), hash_dist\((\d+)(?:, (\d+))?, (\d+)\.\.(\d+)\)")
LOG_STAGE = re.compile(r"\n\s+Stage (\d+)\n")
LOG_TABLE = re.compile(r"exact hashtable (\d+)\n")
LOG_ROW = re.compile(r"result\[(\d+)\] = (.*)")
INPUT_BIT = re.compile(r"([a-z_0-9.]+)\[(\d+)\]")
# Arguments of the top-level controls, and the corresponding parameters of the sub-controls.
PREFIXES = {"hdr.pe.": "hdr.", "md.meta.": "meta."}

Bit = tuple[str, int]


class HashLogError(Exception):
    """The assembler's output is not as expected; the message says what is missing."""


@dataclass(frozen=True)
class HashMatrix:
    """seed: the hash of zeros. columns: per field and bit, the result bits it inverts; bit 0 is the
    least significant one everywhere."""

    seed: int
    columns: dict[str, list[int]]


def hash_matrix(assembly: str, log: str, table: str, result: str) -> HashMatrix:
    """The matrix of the hash that the compiler's ingress table `table` writes to `result`.

    assembly: text of the .bfa file; log: text of mau.hashes.log. Raises HashLogError.
    """
    begin = assembly.find(f"hash_action {table} ")
    if begin < 0:
        raise HashLogError(f"the assembly has no hash action {table}")
    stage = STAGE.findall(assembly[:begin])[-1]
    end = NEXT_TABLE.search(assembly, begin + 1)
    text = assembly[begin : end.start() if end else None]
    rows = _rows(log, stage)
    groups: dict[int, set[str]] = {}
    seeds: dict[int, int] = {}
    for group, tables, seed in GROUP.findall(text):
        groups.setdefault(int(group), set()).update(tables.split(", "))
        seeds[int(group)] = seeds.get(int(group), 0) | int(seed, 16)
    total = 0
    columns: dict[Bit, int] = {}
    for result_bit, (group, hash_bit) in _sources(assembly, text, result).items():
        total |= (seeds[group] >> hash_bit & 1) << result_bit
        for hash_table in groups[group]:
            for bit in rows.get((hash_table, hash_bit), ()):
                columns[bit] = columns.get(bit, 0) ^ 1 << result_bit
    fields = sorted({field for field, _ in columns})
    return HashMatrix(
        total,
        {
            field: [
                columns.get((field, bit), 0)
                for bit in range(1 + max(bit for name, bit in columns if name == field))
            ]
            for field in fields
        },
    )


def _sources(assembly: str, action: str, result: str) -> dict[int, tuple[int, int]]:
    """Hash group and hash bit from which each bit of `result` is set."""
    container: dict[tuple[str, int], int] = {}
    placed = re.compile(
        rf"^  {result}(?:\.(\d+)-\d+)?: \{{  stage [\d.]+: (\w+)(?:\((\d+)\.\.(\d+)\))? \}}",
        re.MULTILINE,
    )
    for first, name, low, high in placed.findall(assembly):
        width = int(high) - int(low) + 1 if high else 32
        for bit in range(width):
            container[name, int(low or 0) + bit] = int(first or 0) + bit
    group_of = {int(unit): int(group) for unit, group in UNIT.findall(action)}
    sources: dict[int, tuple[int, int]] = {}
    for name, first, lower, upper, low, high in SET.findall(action):
        units = [int(lower), *([int(upper)] if upper else [])]
        for bit in range(int(low), int(high) + 1):
            unit = units[bit // UNIT_BITS]
            hash_bit = UNIT_BITS * (unit % UNITS_PER_GROUP) + bit % UNIT_BITS
            result_bit = container.get((name, int(first) + bit - int(low)))
            if result_bit is not None:
                sources[result_bit] = (group_of[unit], hash_bit)
    if not sources:
        raise HashLogError(f"the assembly has no source of {result}")
    return sources


def _rows(log: str, stage: str) -> dict[tuple[str, int], list[Bit]]:
    """Input bits of every hash table and hash bit of a stage. The log repeats the list of a table
    for each user."""
    sections = LOG_STAGE.split(log)
    stages = dict(zip(sections[1::2], sections[2::2], strict=True))
    if stage not in stages:
        raise HashLogError(f"the log of the hashes has no stage {stage}")
    parts = LOG_TABLE.split(stages[stage])
    return {
        (table, int(row)): [(_name(field), int(bit)) for field, bit in INPUT_BIT.findall(terms)]
        for table, text in zip(parts[1::2], parts[2::2], strict=True)
        for row, terms in LOG_ROW.findall(text)
    }


def _name(field: str) -> str:
    for prefix, ours in PREFIXES.items():
        if field.startswith(prefix):
            return ours + field.removeprefix(prefix)
    return field
