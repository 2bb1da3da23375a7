"""Numbers and indices that are hashes of names: what is added to the file leaves most as they are,
and a switch keeps what it knows when the file changes."""

import hashlib
from collections.abc import Hashable, Iterable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def hashed(*names: object) -> int:
    """A number of 32 bits: the first octets of SHA-256 of the names, with slashes between them."""
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    return int.from_bytes(digest[:4], "big")


def spread(wanted: Iterable[tuple[K, int]], size: int) -> dict[K, int]:
    """An index below `size` for each: its hash modulo `size`, or the next that none before it has.
    There are at most `size` of them."""
    taken: dict[int, K] = {}
    for key, number in wanted:
        cell = number % size
        while cell in taken:
            cell = (cell + 1) % size
        taken[cell] = key
    return {key: cell for cell, key in taken.items()}
