"""Policies: several tunnels to one PE as paths of the same traffic (FAN-4)."""

from typing import Annotated

from pydantic import Field

from fcn.controller.config.base import Model
from fcn.controller.config.types import Duration, Items, within

MAX_PATHS = 4
"""Paths of a policy, and as many backups; together the slots of the PE program."""

MAX_WEIGHT = 16
"""A path of weight 1 beside three of this one has a bucket of flows still (contract/paths.py)."""

DERIVED_ID = 1 << 31
"""Set in the IDs of paths that are derived from names, so that given ones are never the same."""


class PolicyPath(Model):
    """A tunnel as a path. `weight`: its part of the flows among the paths in use. `id` names the
    path in notifications, in the whole domain; by default derived from names."""

    tunnel: str
    weight: Annotated[int, Field(ge=1, le=MAX_WEIGHT)] = 1
    id: Annotated[int, Field(ge=1, le=DERIVED_ID - 1)] | None = None


Paths = Annotated[Items[PolicyPath], Field(max_length=MAX_PATHS)]


class Policy(Model):
    """Paths to one PE.

    Flows are distributed over `paths`; over `backup` only while all of `paths` have failed. Without
    the key `backup` a disjoint one is computed where one failure could end all paths; `backup: []`
    wants none. `disjoint`: it is an error when one failure of a link or transit node can end all of
    paths and backups. `hold_down`: microseconds for which a path that is well again is left alone.
    """

    to: str
    paths: Annotated[Paths, Field(min_length=1)]
    backup: Paths | None = None
    disjoint: bool = False
    hold_down: Annotated[Duration, within("0us", "1h")] = 1_000_000
