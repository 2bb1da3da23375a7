"""How flows are distributed over paths: weights, and what moves when a path is avoided."""

from collections import Counter
from itertools import product

import pytest

from fcn.contract.constants import PATH_BUCKETS, PATH_SLOTS, POLICY_CELLS
from fcn.contract.names import LOAD_COUNTERS
from fcn.contract.paths import (
    PATH_REPORTS,
    PathShare,
    compared,
    distributions,
    entries_of,
    path_cell,
    paths_in_use,
    report_cell,
)
from fcn.contract.pipeline import load_pipeline

BACKUP = PathShare(1, is_backup=True)
POLICIES = [
    (PathShare(1),),
    (PathShare(1), PathShare(1)),
    (PathShare(16), PathShare(16), PathShare(16), PathShare(1)),
    (PathShare(3), PathShare(1), BACKUP),
    (PathShare(1), PathShare(2), PathShare(5), PathShare(7), BACKUP, PathShare(3, is_backup=True)),
]


@pytest.mark.parametrize("shares", POLICIES, ids=str)
def test_every_set_but_that_of_all_has_every_bucket(shares: tuple[PathShare, ...]) -> None:
    found = dict(distributions(shares))
    assert found.keys() == set(range((1 << len(shares)) - 1))
    assert {len(slots) for slots in found.values()} == {PATH_BUCKETS}
    assert sum(map(len, found.values())) == entries_of(len(shares))


@pytest.mark.parametrize("shares", POLICIES, ids=str)
def test_avoided_paths_take_nothing_and_backups_only_where_no_other_is_left(
    shares: tuple[PathShare, ...],
) -> None:
    for avoided, slots in distributions(shares):
        left = {slot for slot in range(len(shares)) if not avoided >> slot & 1}
        first = {slot for slot in left if not shares[slot].is_backup}
        assert set(slots) == (first or left), avoided


@pytest.mark.parametrize("shares", POLICIES, ids=str)
def test_parts_are_those_of_the_weights_to_a_bucket(shares: tuple[PathShare, ...]) -> None:
    for avoided, slots in distributions(shares):
        count = Counter(slots)
        total = sum(shares[slot].weight for slot in count)
        for slot, buckets in count.items():
            assert abs(buckets - PATH_BUCKETS * shares[slot].weight / total) <= 2, avoided


@pytest.mark.parametrize("shares", POLICIES, ids=str)
def test_only_flows_of_avoided_paths_move(shares: tuple[PathShare, ...]) -> None:
    found = dict(distributions(shares))
    whole = found[0]
    for avoided, slots in found.items():
        if all(avoided >> slot & 1 for slot in set(whole)):
            continue
        for before, after in zip(whole, slots, strict=True):
            assert after == before or avoided >> before & 1


@pytest.mark.parametrize("shares", POLICIES, ids=str)
def test_the_paths_in_use_are_those_that_have_buckets(shares: tuple[PathShare, ...]) -> None:
    for avoided, slots in distributions(shares):
        assert paths_in_use(shares, avoided) == sorted(set(slots)), avoided


@pytest.mark.parametrize("shares", POLICIES, ids=str)
def test_loads_are_compared_of_paths_that_are_in_use_together(
    shares: tuple[PathShare, ...],
) -> None:
    found = [paths_in_use(shares, avoided) for avoided, _ in distributions(shares)]
    together = {slot for paths in found if len(paths) > 1 for slot in paths}
    assert set(compared(shares)) == together


def test_cells_are_in_the_counters_and_differ() -> None:
    schema = load_pipeline("pe").schema
    sizes = {counter.alias: counter.size for counter in schema.counters}
    places = list(product(range(POLICY_CELLS), range(PATH_SLOTS)))
    assert {path_cell(*place) for place in places} == set(range(sizes["path_traffic"]))
    reports = {report_cell(*place, each) for place in places for each in PATH_REPORTS.values()}
    assert reports == set(range(sizes["path_reports"]))
    assert {sizes[counter] for counter in LOAD_COUNTERS} == {sizes["path_traffic"]}
