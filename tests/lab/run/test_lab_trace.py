"""Stories of packets of a run: it is the same run, and they are of the right packets."""

import pytest
from small import small

from fcn.lab.errors import LabError
from fcn.lab.run.runner import run_scenario
from fcn.lab.run.spy import Spy

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
