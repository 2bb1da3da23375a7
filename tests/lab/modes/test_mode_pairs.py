"""Every pair of modes is accepted and run, or refused with its reason (ALL-3)."""

import pytest
from mode_pairs import PAIRS, TABLE_FILE, Pair, committed_runs, page, pairs_of, reason, refusals

RULES = [
    ("treatment", "notification", "belongs to notification: two-threshold"),
    ("ecn", "notification", "packets are Not-ECT in the domain"),
    ("ecn", "treatment", "packets are Not-ECT in the domain"),
    ("cnp_source", "notification", "needs cnp.source: peer"),
    ("failure_detection", "notification", "fantel needs failure_detection"),
    ("way", "notification", "nobody would hear of congestion on this tunnel"),
    ("load_balancing", "failure_detection", "it needs failure_detection"),
    ("heed_pause", "flow_control", "what data centres pause is asked of neighbours"),
]
"""Two keys between which there are refusals, and the reason."""


def test_refusals_have_the_reason_of_their_pair() -> None:
    """docs/modes.md has them word for word."""
    for pair, why in refusals().items():
        keys = {mode for mode, _ in pair}
        (expected,) = (text for one, other, text in RULES if keys == {one, other})
        assert expected in why, pair


def test_what_is_refused_is_what_should_be() -> None:
    expected: set[Pair] = set()
    for pair in PAIRS:
        modes = dict(pair)
        notification = modes.get("notification")
        treated = "treatment" in modes
        told = treated or notification not in (None, "none")
        if (
            (treated and notification not in (None, "two-threshold"))
            or (modes.get("ecn") == "compatibility" and told)
            or (notification == "end-con" and modes.get("cnp_source") == "pe")
            or (notification == "fantel" and modes.get("failure_detection") == "off")
            or (notification == "fantel" and modes.get("way") == "tunnel")
            or (modes.get("load_balancing") == "on" and modes.get("failure_detection") == "off")
            or (modes.get("heed_pause") == "on" and modes.get("flow_control") == "off")
        ):  # fmt: skip
            expected.add(pair)
    assert set(refusals()) == expected


@pytest.mark.parametrize("number", range(len(committed_runs())))
def test_runs_are_accepted(number: int) -> None:
    assert reason(committed_runs()[number]) is None


def test_every_accepted_pair_is_run() -> None:
    """Otherwise run tests/lab/modes/mode_pairs.py."""
    shown = {pair for run in committed_runs() for pair in pairs_of(run)}
    assert set(PAIRS) - set(refusals()) == shown


def test_the_page_is_true() -> None:
    """Otherwise run tests/lab/modes/mode_pairs.py."""
    assert TABLE_FILE.read_text() == page()
