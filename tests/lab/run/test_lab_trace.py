"""Stories of packets of a run: it is the same run, and they are of the right packets."""

import pytest
from small import small

from fcn.lab.errors import LabError
from fcn.lab.run.runner import run_scenario
from fcn.lab.run.spy import FrameSpy, Spy

UNTIL = 500_000
AT = 200_000


def test_a_run_that_is_told_of_is_the_same_run() -> None:
    spy = Spy("p1", AT, None, ["protocol=4"], 2)
    told = run_scenario(small(), until_ns=UNTIL, spy=spy)
    assert told.about.digest == run_scenario(small(), until_ns=UNTIL).about.digest
    assert len(spy.stories) == 2
    for story in spy.stories:
        assert (story.node, story.complete) == ("p1", True)
        steps = story.packet.steps
        assert [step.kind for step in steps if step.kind == "sent"]
        tables = [step for step in steps if step.lookup is not None]
        assert any(step.lookup is not None and step.lookup.hit for step in tables)
    first, second = (story.packet.time_ns for story in spy.stories)
    assert first is not None
    assert second is not None
    assert first <= second


def test_the_run_may_end_with_the_last_story() -> None:
    spy = Spy("p1", AT, None, [], 1)
    result = run_scenario(small(), stop=spy.is_done, spy=spy)
    assert len(spy.stories) == 1
    assert AT < result.about.reached_ns < result.about.duration_ns


@pytest.mark.parametrize(
    ("node", "match", "why"),
    [("p9", [], "there is no switch p9"), ("p1", ["x.y=1"], "no field x.y")],
)
def test_what_cannot_be_told_is_refused(node: str, match: list[str], why: str) -> None:
    spy = Spy(node, AT, None, match, 1)
    with pytest.raises(LabError, match=why):
        run_scenario(small(), until_ns=UNTIL, spy=spy)


def test_a_frame_by_its_number() -> None:
    watched = small(measure={"interval": "50us", "crossings": [["p2", "pe2"], ["pe2", "h3"]]})
    crossings = run_scenario(watched).crossings
    to_switch, to_host = (
        int(crossings[crossings["towards"] == name]["frame"].iloc[0]) for name in ("pe2", "h3")
    )
    spy = FrameSpy(to_switch)
    run_scenario(watched, stop=spy.is_done, spy=spy)
    (story,) = spy.stories
    assert (story.node, story.complete) == ("pe2", True)
    # The mark: traffic class of the outer IPv6 header.
    assert bytes.fromhex(story.packet.frame)[15] >> 4 & 3 == 3
    spy = FrameSpy(to_host)
    with pytest.raises(LabError, match="arrives at h3, which is no switch"):
        run_scenario(watched, stop=spy.is_done, spy=spy)


def test_a_frame_that_a_run_has_not() -> None:
    absent = FrameSpy(10**9)
    with pytest.raises(LabError, match="no frame 1000000000"):
        run_scenario(small(), until_ns=UNTIL, spy=absent)
