"""Senders notified by END.CON, in virtual time: as fast as by Fast CNPs, without one (SRF-4)."""

import pytest
from small import small

from fcn.lab.result.model import Result
from fcn.lab.result.reaction import BY_PE, caused, reactions
from fcn.lab.run.runner import run_scenario

OWN = {"fcn": "FAST_CNP", "end-con": "END_CON_CNP"}


@pytest.fixture(scope="module", params=[4, 6], ids=["IPv4", "IPv6"])
def runs(request: pytest.FixtureRequest) -> dict[str, Result]:
    """The same scenario in both modes in which switches notify."""
    hosts = {"mtu": 4096, "ip": request.param}
    return {mode: run_scenario(small(mode=mode, hosts=hosts)) for mode in OWN}


def test_senders_cut_after_the_way_by_the_pe(runs: dict[str, Result]) -> None:
    """10 and 20 km of fibre back from the queue: 150 us, and the queues of its ports."""
    first = {}
    for mode, result in runs.items():
        found = reactions(result)
        assert set(found["by"]) == {BY_PE}
        first[mode] = int(found["reaction_ns"].iloc[0])
        assert found["ratio"].iloc[0] < 1.05
        cut = caused(result, "cut")
        assert cut.loc[cut["by"] == BY_PE, "host"].nunique() == 2
    # A CNP to END.CON is longer than a Fast CNP.
    assert 0 <= first["end-con"] - first["fcn"] < 1_000


def test_no_mode_sends_what_is_the_other_s(runs: dict[str, Result]) -> None:
    for mode, result in runs.items():
        (other,) = set(OWN.values()) - {OWN[mode]}
        names = set(result.counters["name"])
        assert {f"{OWN[mode]}_{what}" for what in ("TRIGGERED", "SENT", "RECEIVED")} <= names
        assert not {name for name in names if name.startswith(other)}
        assert not {"INNER_OPAQUE", "LABEL_UNKNOWN", "NOTIFICATION_MALFORMED"} & names
        crossed = set(result.crossings["what"])
        assert OWN[mode].lower() in crossed
        assert other.lower() not in crossed


def test_taps_see_every_notice(runs: dict[str, Result]) -> None:
    """As many on the link to the ingress PE as the bottleneck has sent, but for those under way."""
    result = runs["end-con"]
    counted = result.counters[result.counters["name"] == "END_CON_CNP_SENT"]
    assert set(counted["node"]) == {"p2"}
    crossings = result.crossings[result.crossings["what"] == "end_con_cnp"]
    to_pe = crossings[(crossings["node"] == "p2") & (crossings["towards"] == "p1")]
    assert len(to_pe) == counted["value"].max()
