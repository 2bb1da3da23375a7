"""Onsets and first cuts, on results written by hand."""

from dataclasses import replace

import pandas as pd
import pytest
from lab_results import (
    ECN_BOUND_NS,
    FAST_CUT_NS,
    FCN_BOUND_NS,
    NETWORK,
    ONSET_NS,
    SLOW_CUT_NS,
    about,
    congested,
)

from fcn.lab.result.model import Result
from fcn.lab.result.reaction import BY_PE, BY_RECEIVER, caused, reactions
from fcn.lab.result.tables import frame


def with_notices(result: Result, *rows: tuple[object, ...]) -> Result:
    both = pd.concat([frame("notices", rows), result.notices]).sort_values("time_ns")
    return replace(result, notices=both)


def with_marks(result: Result, *rows: tuple[object, ...]) -> Result:
    more = frame("crossings", [(*row, 0) for row in rows])
    return replace(result, crossings=pd.concat([result.crossings, more]))


def test_with_fcn_the_cut_by_the_ingress_pe_comes_first() -> None:
    (row,) = reactions(congested("fcn")).to_dict("records")
    assert (row["node"], row["towards"], row["onset_ns"]) == ("p1", "pe2", ONSET_NS)
    assert (row["host"], row["by"], row["cut_ns"]) == ("l1", BY_PE, FAST_CUT_NS)
    assert (row["fcn_bound_ns"], row["ecn_bound_ns"]) == (FCN_BOUND_NS, ECN_BOUND_NS)
    assert row["reaction_ns"] == FCN_BOUND_NS + 700
    assert row["ratio"] == (FCN_BOUND_NS + 700) / FCN_BOUND_NS


def test_with_end_to_end_ecn_it_is_the_receivers() -> None:
    (row,) = reactions(congested("ecn")).to_dict("records")
    assert (row["host"], row["by"], row["cut_ns"]) == ("l2", BY_RECEIVER, SLOW_CUT_NS)
    assert row["ratio"] == (ECN_BOUND_NS + 2_100) / ECN_BOUND_NS


def test_a_cut_sooner_than_light_is_for_something_else() -> None:
    early = ONSET_NS + FCN_BOUND_NS - 1
    result = with_notices(
        congested("fcn"),
        (early, "l1", 0, "cnp", 0, "10.1.1.1", 1),
        (early, "l1", 0, "cut", 10**10, "10.1.1.1", 1),
    )
    assert reactions(result)["cut_ns"].tolist() == [FAST_CUT_NS]


def test_a_cut_of_a_sender_that_does_not_use_the_queue_is_not_for_it() -> None:
    result = congested("fcn")
    back = result.connections.assign(host="r1", remote="l1").head(1)
    result = replace(result, connections=pd.concat([result.connections, back]))
    at = FAST_CUT_NS - 1
    result = with_notices(
        result, (at, "r1", 0, "cnp", 0, "10.2.1.1", 1), (at, "r1", 0, "cut", 10**10, "10.1.1.1", 1)
    )
    assert reactions(result)["host"].tolist() == ["l1"]


def test_a_congestion_nobody_reacts_to_is_listed_without_a_cut() -> None:
    result = replace(congested("fcn"), notices=frame("notices"))
    (row,) = reactions(result).to_dict("records")
    assert (row["onset_ns"], row["host"], row["by"]) == (ONSET_NS, "", "")
    assert pd.isna(row["cut_ns"])
    assert pd.isna(row["ratio"])


def test_after_a_calm_marks_are_another_congestion() -> None:
    """The calm is as long as the round trip to the nearest sender, unless another is given."""
    calm = 2 * FCN_BOUND_NS
    last = ONSET_NS + 300 * 19
    result = congested("fcn")
    assert len(reactions(with_marks(result, (last + calm, "p1", "pe2", "ce")))) == 1
    assert len(reactions(with_marks(result, (last + calm + 1, "p1", "pe2", "ce")))) == 2
    later = 100 * 10**6
    twice = with_notices(
        with_marks(result, (later, "p1", "pe2", "ce")),
        (later + FCN_BOUND_NS, "l2", 0, "cnp", 0, "10.1.2.1", 1),
        (later + FCN_BOUND_NS, "l2", 0, "cut", 10**10, "10.1.1.1", 1),
    )
    assert reactions(twice)["host"].tolist() == ["l1", "l2"]
    assert reactions(twice)["ratio"].tolist()[1] == 1.0
    assert len(reactions(result, calm_ns=299)) == 20


def test_a_calm_is_not_shorter_than_notifications_are_held_back() -> None:
    """What is held back for a congestion would make the next one look slow."""
    result = congested("fcn")
    network = NETWORK.model_copy(update={"held_back_ns": 3 * FCN_BOUND_NS})
    held = replace(result, about=about(network=network))
    at = ONSET_NS + 300 * 19 + 3 * FCN_BOUND_NS
    assert len(reactions(with_marks(held, (at, "p1", "pe2", "ce")))) == 1
    assert len(reactions(with_marks(held, (at + 1, "p1", "pe2", "ce")))) == 2


def test_a_sender_may_be_told_and_not_cut() -> None:
    """Within DCQCN's interval between cuts, for instance."""
    result = congested("fcn")
    told = replace(result, notices=result.notices[result.notices["what"] != "cut"])
    (row,) = reactions(told).to_dict("records")
    assert row["told_ns"] == FAST_CUT_NS - ONSET_NS
    assert pd.isna(row["cut_ns"])


def test_marks_that_only_pass_through_begin_no_congestion() -> None:
    """pe2 forwards what p1 marked; where no node counts marks, both may have."""
    result = congested("fcn")
    assert reactions(result)["node"].tolist() == ["p1"]
    unknown = replace(result, counters=frame("counters"))
    assert reactions(unknown)["node"].tolist() == ["p1", "pe2"]


def test_a_congestion_in_the_warm_up_is_not_measured() -> None:
    result = replace(congested("fcn"), about=about(warm_up_ns=ONSET_NS + 1))
    assert reactions(result).empty


@pytest.mark.parametrize("result", [Result(about()), Result(about(mode="none", finished=False))])
def test_without_congestion_there_is_no_reaction(result: Result) -> None:
    found = reactions(result)
    assert found.empty
    assert str(found["reaction_ns"].dtype) == "Int64"
    assert caused(result, "cnp").empty
