"""The demo's page: what it begins with, what it concludes, and what it folds away."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from demo_record import record, scenario

from fcn.topologies.demo.checks import Check, check_run
from fcn.topologies.demo.conclusion import conclusion, fairness_notes, numbers
from fcn.topologies.demo.drawing import drawing
from fcn.topologies.demo.measure import Cuts, Measurement, measure
from fcn.topologies.demo.page import html_page
from fcn.topologies.demo.plots import Chart
from fcn.topologies.demo.scenario import demo_scenario

WIDEST = 600
"""Of the drawing: a phone shows 390, so letters are half as large at most."""


def results(**changes: object) -> dict[str, Measurement]:
    """Of both modes; changes are of the mode fcn."""
    found = {name: measure(scenario(), record(name)) for name in ("ecn", "fcn")}
    return found | {"fcn": replace(found["fcn"], **changes)}  # type: ignore[arg-type]


def page(charts: list[Chart] | None = None, checks: Mapping[str, list[Check]] | None = None) -> str:
    records = {name: record(name) for name in ("ecn", "fcn")}
    checks = checks or {name: check_run(scenario(), run) for name, run in records.items()}
    return html_page(scenario(), "softswitch", results(), records, checks, charts or [])


def test_the_page_begins_with_the_network_the_conclusion_and_three_numbers() -> None:
    body = page().partition("<body>")[2]
    order = [body.index(each) for each in ("<svg", 'class="conclusion"', "<section>", "<table")]
    assert order == sorted(order)
    assert body.count("<section>") == 3


def test_the_drawing_is_of_the_description() -> None:
    demo = demo_scenario(8.0)
    text = drawing(demo)
    root = ElementTree.fromstring(text)
    words = [each.text for each in root.iter("text")]
    topology = demo.topology
    assert {node.name.upper() for node in topology.nodes} <= set(words)
    assert {host.name for host in topology.hosts} <= set(words)
    assert [each for each in words if each and re.fullmatch(r"[\d.]+ ms", each)] == [
        f"{link.delay_ms:g} ms" for link in topology.links
    ]
    assert words[-2:] == ["a switch tells the sender: 3 ms", "the receiver tells the sender: 13 ms"]
    longer = replace(
        topology, links=tuple(replace(link, delay_ns=2 * link.delay_ns) for link in topology.links)
    )
    assert "tells the sender: 26 ms" in drawing(replace(demo, topology=longer))


def test_nothing_of_the_drawing_is_outside_or_over_something_else() -> None:
    root = ElementTree.fromstring(drawing(demo_scenario(8.0)))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    assert width <= WIDEST
    boxes = [each for each in root.iter("rect") if "rx" in each.attrib]
    places = {(float(each.attrib["x"]), float(each.attrib["y"])) for each in boxes}
    assert len(places) == len(boxes)
    assert all(0 <= x < width and 0 <= y < height for x, y in places)


def test_comparisons_that_agree_are_folded_away_and_others_are_not() -> None:
    text = page()
    table = text.index("link pe1 to p1")
    assert text.rfind("<details>", 0, table) > text.rfind("</details>", 0, table)
    checks = {name: check_run(scenario(), record(name)) for name in ("ecn", "fcn")}
    checks["fcn"][0] = replace(checks["fcn"][0], name="broken", left_count=10**6)
    text = page(checks=checks)
    broken = text.index("broken")
    assert text.rfind("<details>", 0, broken) < text.rfind("</details>", 0, broken)


def test_empty_charts_are_folded_away(tmp_path: Path) -> None:
    picture = tmp_path / "full.png"
    picture.write_bytes(b"picture")
    text = page([Chart("full one", picture), Chart("packets dropped", None)])
    assert text.count("<img") == 1
    assert "Charts with nothing in them (1)" in text
    assert "<li>packets dropped</li>" in text


def test_a_phone_shows_the_page_at_its_width() -> None:
    text = page()
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in text
    assert text.count("<table") == text.count('<div class="scroll"><table')


def test_the_conclusion_is_what_was_measured() -> None:
    assert conclusion(results(above_ms=(5.0,), round_above_ms=(9.0,))) == (
        "FCN beside ECN only: a sender slows down after 3.0 ms instead of 13.5 ms and the queue is "
        "above level 1 for 5 ms per onset instead of 5997 ms (one onset)."
    )


def test_the_conclusion_says_what_is_worse() -> None:
    worse = {"h1": (1e3, 1e3), "h2": (4e4, 1e4, 1e4, 1e4)}
    text = conclusion(results(above_ms=(7e3,), goodputs_bps=worse, fairness=0.5))
    assert "; but the queue is above level 1 for 7000 ms per onset instead of 5997 ms, " in text
    assert "goodput is 56 % lower and queue pairs share less fairly" in text
    text = conclusion(results(above_ms=(5.0,), round_above_ms=(7e3,)))
    assert (
        "; but until the end of the round, in later congestions too, it is so for 7000 ms" in text
    )
    late = results()["fcn"].onsets[0]
    assert late.answer is not None
    late = replace(late, answer=replace(late.answer, cut_ms=late.onset_ms + 20))
    text = conclusion(results(onsets=(late,), above_ms=(7e3,)))
    assert "not better here" in text


def test_what_is_equal_as_shown_is_neither_better_nor_worse() -> None:
    ecn = results()["ecn"]
    same = {"ecn": ecn, "fcn": replace(ecn, mode=results()["fcn"].mode)}
    assert conclusion(same) == "FCN beside ECN only: no difference here (one onset)."
    same = results(above_ms=(4.6,), round_above_ms=(4.6,))
    same["ecn"] = replace(ecn, above_ms=(5.4,), round_above_ms=(4.0,))
    assert "5 ms per onset" not in conclusion(same)


def test_the_conclusion_says_how_many_onsets_its_medians_are_of() -> None:
    onset = results()["fcn"].onsets[0]
    onsets = (onset, *[replace(onset, answer=None)] * 2)
    some = results(onsets=onsets, above_ms=(5.0,) * 3, round_above_ms=(9.0,) * 3)
    assert conclusion(some).endswith(
        "(medians of 3 onsets, 1 with ECN only; FCN: a rate cut for 1 of 3)."
    )


def test_senders_that_pause_or_never_cut_are_not_said_to_do_worse_than_such() -> None:
    onset = replace(results()["fcn"].onsets[0], answer=None)
    none = results(onsets=(onset,), above_ms=(5.0,), round_above_ms=(9.0,))
    assert "; but no sender cuts its rate for an onset (" in conclusion(none)
    paused = {"ecn": none["ecn"], "fcn": replace(none["fcn"], pauses_ms=(2.0,))}
    assert "a sender is paused after 2.0 ms instead of slowing down after 13.5 ms and" in (
        conclusion(paused)
    )
    neither = {"ecn": replace(none["ecn"], onsets=(onset,)), "fcn": none["fcn"]}
    assert "sender" not in conclusion(neither)


def test_goodput_of_nothing_has_no_ratio() -> None:
    nothing = results()["ecn"]
    nothing = replace(nothing, goodputs_bps=dict.fromkeys(nothing.goodputs_bps, (0.0,)))
    assert "goodput" not in conclusion({"ecn": nothing, "fcn": results()["fcn"]})


def test_one_mode_is_concluded_alone() -> None:
    (one,) = [{"fcn": results()["fcn"]}]
    assert conclusion(one).startswith("With FCN a sender slows down 3.0 ms after an onset")
    assert numbers(one)[0].values == ("3.0 ms",)


def slowed(*slowing: float) -> dict[str, tuple[Cuts, ...]]:
    """Ten cuts of each queue pair; of so much in all."""
    cuts = [Cuts(10, each) for each in slowing]
    return {"h1": tuple(cuts[:2]), "h2": tuple(cuts[2:])}


def test_worse_fairness_is_explained_by_how_much_queue_pairs_were_slowed() -> None:
    assert fairness_notes(results()) == []
    got = {"h1": (2e6, 4e6), "h2": (1e6, 2e6, 2e6, 2e6)}
    some = results(fairness=0.8, goodputs_bps=got, cuts=slowed(2, 1, 3, 2, 2, 2))
    some["ecn"] = replace(some["ecn"], cuts=slowed(2, 2, 2.2, 2, 2, 2))
    (note,) = fairness_notes(some)
    assert "0.800 with FCN and 0.889 with ECN only" in note
    assert "with least got 1.00 Mb/s after 10 cuts of 25.9 %, the one with most 4.00 Mb/s" in note
    assert "slowed by 200 % more than the least, with ECN only by 10 %: a switch tells" in note
    even = {"ecn": replace(some["ecn"], cuts=slowed(2, 0.5, 3, 2, 2, 2))}
    assert fairness_notes(some | even)[0].endswith("who was slowed more got less.")
    other = {"fcn": replace(some["fcn"], cuts=slowed(1, 1, 1, 1, 1, 1))}
    assert fairness_notes(some | other)[0].endswith("cuts are not what makes the difference.")
    none = {"fcn": replace(some["fcn"], cuts=slowed(2, 1, 3, 0, 2, 2))}
    assert "more than" not in fairness_notes(some | none)[0]
