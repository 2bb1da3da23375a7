"""The demo's judgement of a run: reaction times, contradictions between counters, the report."""

import re
from dataclasses import replace
from pathlib import Path

import demo_record
import pytest
from demo_record import LOST, ONSET_MS, PACKETS, record, scenario, with_counter
from PIL import Image

from fcn.topologies.demo import __main__ as demo
from fcn.topologies.demo.__main__ import evaluate
from fcn.topologies.demo.checks import check_run
from fcn.topologies.demo.measure import MeasureError, measure
from fcn.topologies.demo.modes import DEFAULT_MODES, MODES
from fcn.topologies.demo.page import html_page
from fcn.topologies.demo.report import comparison
from fcn.topologies.demo.scenario import MTU
from fcn.topologies.demo.traffic import RunRecord


def unmarked() -> RunRecord:
    """The run in mode `none`: the queue grows, nobody is told."""
    run = record("ecn")
    quiet = {
        host: replace(log, events=tuple(e for e in log.events if e.name not in ("cnp", "ce")))
        for host, log in {**run.senders, **run.receivers}.items()
    }
    return replace(
        run,
        mode=MODES["none"],
        ce_ns=(),
        senders={host: quiet[host] for host in run.senders},
        receivers={host: quiet[host] for host in run.receivers},
    )


def three_runs() -> dict[str, RunRecord]:
    return {"none": unmarked(), "ecn": record("ecn"), "fcn": record("fcn")}


def onset_ms(run: RunRecord) -> float:
    (onset,) = measure(scenario(), run).onsets
    return onset.onset_ms


def failures(run: object) -> list[str]:
    assert isinstance(run, type(record("fcn")))
    return [check.name for check in check_run(scenario(), run) if not check.passed]


def test_reaction_with_fcn() -> None:
    result = measure(scenario(), record("fcn"))
    (first,) = result.answers
    assert [each.onset_ms for each in result.onsets] == [first.onset_ms]
    assert first.onset_ms == pytest.approx(ONSET_MS)
    assert result.reactions_ms == [pytest.approx(3.0)]
    assert first.bound_ms == pytest.approx(3.0)
    assert first.by_pe
    assert (result.sent, result.lost, result.ce_seen) == (2 * PACKETS, LOST, 1)
    assert (len(result.cnps_from_pe), len(result.cnps_from_receiver)) == (1, 1)


def test_reaction_with_ecn_only() -> None:
    result = measure(scenario(), record("ecn"))
    assert result.reaction_ms == pytest.approx(13.5)
    (first,) = result.answers
    assert first.bound_ms == pytest.approx(5.0 + 8.0)
    assert not first.by_pe
    assert result.notices == ()


def test_cnps_of_switches_are_told_by_their_port_where_they_have_the_address_of_the_receiver() -> (
    None
):
    run = record("fcn")
    h1 = run.senders["h1"]
    events = tuple(
        replace(e, members={**e.members, "src": "10.2.1.10"}) if e.name == "cnp" else e
        for e in h1.events
    )
    run = replace(run, senders={**run.senders, "h1": replace(h1, events=events)})
    result = measure(scenario(), run)
    assert (len(result.cnps_from_pe), len(result.cnps_from_receiver)) == (1, 1)
    assert failures(run) == []


def test_onset_is_the_earliest_evidence() -> None:
    run = record("ecn")
    late = replace(run, ce_ns=(demo_record.at(ONSET_MS + 4),))
    # The sample above level 1 is seen 1 ms after the onset, the marked packet 0.1 ms late.
    assert onset_ms(late) == pytest.approx(ONSET_MS + 0.1)
    blind = replace(late, receivers={**run.receivers, "h3": run.receivers["h4"]})
    assert onset_ms(blind) == pytest.approx(ONSET_MS + 1)


def test_marks_before_the_overload_are_not_the_onset() -> None:
    run = record("fcn")
    early = replace(run, ce_ns=(demo_record.at(50), *run.ce_ns))
    assert onset_ms(early) == pytest.approx(ONSET_MS)


def test_every_congestion_after_a_calm_counts() -> None:
    run = record("ecn")
    gap_ms = 500.0
    line = scenario().dcqcn(scenario().flows[0]).rate_bps
    later = [
        demo_record.event(ONSET_MS + gap_ms * (n + 1) + reaction, "cnp", {
            **demo_record.cnp("10.2.1.10", line), "cut": cut,
        })
        for n, (reaction, cut) in enumerate([(20.0, True), (15.0, False), (14.0, True)])
    ]  # fmt: skip
    h1 = run.senders["h1"]
    *events, summary = h1.events
    several = replace(
        run,
        ce_ns=tuple(
            demo_record.at(ONSET_MS + gap_ms * n + inside) for n in range(4) for inside in (0, 50)
        ),
        senders={**run.senders, "h1": replace(h1, events=(*events, *later, summary))},
    )
    result = measure(scenario(), several)
    # The third is met with a CNP that cut nothing: no reaction to it was seen.
    assert [each.reaction_ms for each in result.congestions] == [
        pytest.approx(n) for n in (13.5, 20.0, 14.0)
    ]
    # Modes are compared by the first one, before which senders are in the same state.
    assert result.reactions_ms == [pytest.approx(13.5)]


def test_queue_is_counted_on_the_wire_without_a_traffic_manager() -> None:
    result = measure(scenario(), replace(record("fcn"), queue=(), queue_drops=None))
    assert result.queue_source == "packets in and out"
    assert 2 <= result.peak_queue <= 3 + LOST


def test_what_comes_to_a_full_queue_is_not_counted_in_it() -> None:
    room = scenario().bottleneck_depth
    run = replace(
        record("none"),
        queue=(),
        queue_drops=None,
        arrivals_ns=(demo_record.at(ONSET_MS),) * (3 * room),
        departures_ns=tuple(demo_record.at(ONSET_MS + 1 + n) for n in range(room)),
    )
    result = measure(scenario(), run)
    assert (result.peak_queue, result.queue.values[-1]) == (room, 0)


def test_runs_without_congestion_or_reaction_are_refused() -> None:
    run = record("fcn")
    with pytest.raises(MeasureError, match="no packet was marked"):
        measure(scenario(), replace(run, ce_ns=()))
    silent = replace(run, senders={**run.senders, "h1": run.senders["h2"]})
    with pytest.raises(MeasureError, match="no sender cut"):
        measure(scenario(), silent)


@pytest.mark.parametrize("mode", DEFAULT_MODES)
def test_consistent_counters_pass(mode: str) -> None:
    assert failures(record(mode)) == []


@pytest.mark.parametrize(
    ("node", "kind", "key", "change", "named"),
    [
        ("p2", "events", "FAST_CNP_SENT", 1, "notifications of p2"),
        ("p2", "events", "FAST_CNP_TRIGGERED", -1, "notifications of p2"),
        ("pe1", "events", "FAST_CNP_RECEIVED", -1, "Fast CNPs"),
        ("pe1", "events", "CNP_SENT", -1, "CNPs of PEs"),
        ("pe1", "events", "OWN_CONGESTION", 1, "translation at pe1"),
        ("p2", "events", "CE_MARKED", 1, "CE marks"),
        ("p1", "events", "CE_MARKED", 1, "CE marks"),
        ("p1", "port_rx", 1, -1, "link pe1 to p1"),
        ("pe2", "port_rx", 4, -2, "link p2 to pe2"),
        ("p2", "port_rx", 1, 5, "data lost"),
        ("pe1", "drops", "NOTIFICATION_UNTRUSTED", 1, "Fast CNPs"),
        ("pe1", "drops", "LABEL_UNKNOWN", 1, "translation at pe1"),
    ],
)
def test_every_changed_counter_is_noticed(
    node: str, kind: str, key: str | int, change: int, named: str
) -> None:
    assert named in failures(with_counter(record("fcn"), node, kind, key, change))


def test_a_lost_cnp_is_noticed_per_queue_pair() -> None:
    run = record("fcn")
    events = tuple(
        event
        for event in run.senders["h1"].events
        if not (event.name == "cnp" and event["src"] == demo_record.PE_GATEWAY)
    )
    log = replace(run.senders["h1"], events=events)
    found = failures(replace(run, senders={**run.senders, "h1": log}))
    assert "CNPs of PEs" in found
    assert "CNPs for QP 17 of 10.1.1.10" in found


def test_a_cnp_of_the_receiver_that_did_not_arrive_is_noticed() -> None:
    run = record("ecn")
    events = tuple(event for event in run.senders["h1"].events if event.name != "cnp")
    log = replace(run.senders["h1"], events=events)
    found = failures(replace(run, senders={**run.senders, "h1": log}))
    assert found == ["CNPs of h3 for QP 17 of h1"]


def test_notifications_while_disabled_are_noticed() -> None:
    assert "modes do not mix" in failures(replace(record("fcn"), mode=MODES["ecn"]))


def test_marks_in_a_mode_without_are_noticed() -> None:
    assert "marking is disabled" in failures(replace(record("ecn"), mode=MODES["none"]))


def test_goodput_of_senders_and_fairness_while_all_send() -> None:
    """Two queue pairs took 30 packets each, four 15 each; what was before does not count."""
    found = measure(scenario(), record("fcn"))
    packet = MTU * 8 / (demo_record.SECONDS * 3 / 4)
    assert found.sender_goodputs_bps == {
        "h1": pytest.approx(60 * packet),
        "h2": pytest.approx(60 * packet),
    }
    assert found.fairness == pytest.approx(120**2 / (6 * (2 * 30**2 + 4 * 15**2)))


def test_a_queue_pair_that_takes_nothing_is_unfair() -> None:
    run = record("fcn")
    h4 = run.receivers["h4"]
    starved = tuple(e for e in h4.events if not (e.name == "rate" and e["qp"] == demo_record.QP))
    found = measure(
        scenario(), replace(run, receivers={**run.receivers, "h4": replace(h4, events=starved)})
    )
    assert found.fairness == pytest.approx(105**2 / (6 * (2 * 30**2 + 3 * 15**2)))


def test_what_other_traffic_saw() -> None:
    """Packets sent before the congestion are left out: the first of 50; 49 wait 0.1 to 4.9 ms."""
    queued, beside = measure(scenario(), record("fcn")).others
    assert queued.delay_ms == pytest.approx(4.9)
    assert beside.delay_ms == pytest.approx(0)
    assert (queued.sent, queued.lost) == (demo_record.OTHERS, 0)


def test_lost_packets_of_other_traffic_are_losses_of_the_queue() -> None:
    run = record("fcn")
    queued, beside = run.others
    fewer = replace(queued, arrivals=queued.arrivals[:-2])
    run = replace(run, others=(fewer, beside))
    assert measure(scenario(), run).others[0].lost == 2
    assert failures(run) == ["data lost"]


def test_a_mode_without_marks_has_no_reaction_but_all_else() -> None:
    run = unmarked()
    result = measure(scenario(), run)
    # The first sample above level 1.
    assert onset_ms(run) == pytest.approx(ONSET_MS + 1)
    assert result.reaction_ms is None
    assert result.answers == []
    assert (result.peak_queue, result.lost) == (30, LOST)
    unseen = replace(run, queue=(), queue_drops=None)
    assert onset_ms(unseen) == demo_record.SECONDS / 4 * 1000


def test_the_comparison_has_a_column_for_each_mode() -> None:
    runs = {name: measure(scenario(), run) for name, run in three_runs().items()}
    rows = {row.name: row.values for row in comparison(runs)}
    assert rows["onset to first rate cut, median"] == ("-", "13.50 ms", "3.00 ms")
    assert rows["packets dropped"] == ("3", "3", "3")
    assert rows["goodput of h2"] == ("0.08 Mb/s",) * 3
    assert rows["other traffic, same queue: delay, p99"] == ("4.90 ms",) * 3
    assert rows["other traffic, same ports: delay, p99"] == ("0.00 us",) * 3


def test_invalid_packets_at_a_host_are_noticed() -> None:
    run = record("fcn")
    *events, summary = run.senders["h2"].events
    broken = replace(summary, members={**summary.members, "bad_icrc": 1})
    log = replace(run.senders["h2"], events=(*events, broken))
    assert failures(replace(run, senders={**run.senders, "h2": log})) == ["packets at h2"]


def test_evaluation_writes_plots_and_a_self_contained_page(tmp_path: Path) -> None:
    records = {mode: record(mode) for mode in DEFAULT_MODES}
    assert evaluate(scenario(), "softswitch", records, tmp_path) == []
    page = (tmp_path / "index.html").read_text()
    assert "a sender slows down after 3.0 ms instead of 13.5 ms" in page
    assert "The counters of all hops agree." in page
    assert not re.findall(r"""(?:src|href)=["'](?!data:)""", page)
    assert "http" not in re.sub(r"base64,[^\"]*", "", page)
    plots = [*tmp_path.glob("*.png")]
    assert page.count("data:image/png;base64,") == len(plots) == 11
    for path in plots:
        with Image.open(path) as image:
            assert image.width > 700
            colours = image.convert("RGB").getcolors(maxcolors=1 << 20)
        assert colours is not None
        assert len(colours) > 50


def test_evaluation_names_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FCN that is not faster, and counters that contradict each other."""
    monkeypatch.setattr(demo, "draw_charts", lambda *_: [])
    slow = replace(record("ecn"), mode=MODES["fcn"])
    slow = with_counter(slow, "pe1", "events", "FAST_CNP_RECEIVED", -1)
    problems = evaluate(scenario(), "bmv2", {"ecn": record("ecn"), "fcn": slow}, tmp_path)
    for words in (
        "FCN is not faster than ECN only",
        "not caused by the ingress PE",
        "but received or refused by PEs",
    ):
        assert any(words in problem for problem in problems), words
    assert "contradict each other" in (tmp_path / "index.html").read_text()


def test_text_is_escaped_in_the_page() -> None:
    records = {mode: record(mode) for mode in DEFAULT_MODES}
    results = {mode: measure(scenario(), run) for mode, run in records.items()}
    checks = {mode: check_run(scenario(), run) for mode, run in records.items()}
    checks["ecn"] = [replace(checks["ecn"][0], name="<script>")]
    page = html_page(scenario(), "softswitch", results, records, checks, [])
    assert "<script>" not in page
