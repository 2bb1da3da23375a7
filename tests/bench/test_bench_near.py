"""Near traffic beside that of a WAN: what counts as a completion time."""

from fcn.bench.near.__main__ import COUNTED, SCENARIO, completion
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import load_scenario

MILLISECOND = 1_000_000
END = 6 * MILLISECOND


def test_a_message_that_is_not_done_counts_until_the_end() -> None:
    """Near ones are done by then; over 1000 km nothing is, within a round trip."""
    result = run_scenario(load_scenario(SCENARIO).using(mode="fcn", seed=1), until_ns=END)
    near, far = completion(result, near=True), completion(result, near=False)
    assert len(near) > 0
    assert near.min() < 1
    starts = result.messages[result.messages["host"].isin(("f1", "f2"))]["start_ns"]
    counted = starts[starts < COUNTED * END]
    assert sorted(far) == sorted((END - counted) / MILLISECOND)
