"""Plots: what is in their axes, and that nothing breaks where nothing is to be drawn."""

import io
from dataclasses import replace

import numpy as np
import pytest
from lab_results import ACCESS_NS, FCN_BOUND_NS, about, congested, link_failed
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from fcn.lab.report import plots
from fcn.lab.result.model import EventInfo, Result
from fcn.lab.result.tables import frame
from fcn.topologies.demo.modes import MODES


def axes_of(figure: Figure | None) -> list[Axes]:
    assert figure is not None
    return list(figure.axes)


def labels(axes: Axes) -> list[str]:
    return [str(label) for label in axes.get_legend_handles_labels()[1]]


def test_every_plot_is_an_image_and_every_axis_says_what_it_is() -> None:
    made = plots.plots(congested("fcn"))
    assert len({plot.title for plot in made}) == len(made) == 4
    for plot in made:
        with Image.open(io.BytesIO(plot.png)) as image:
            assert image.format == "PNG"
            assert min(image.size) > 300
    for draw in (plots.draw_overview, plots.draw_reaction, plots.draw_load):
        axes = axes_of(draw(congested("fcn")))
        assert all(each.get_ylabel() for each in axes)
        assert axes[-1].get_xlabel()


def test_the_overview_has_rates_queues_and_notifications() -> None:
    rates, queue, notifications = axes_of(plots.draw_overview(congested("fcn")))
    assert labels(rates) == ["l1", "l2"]
    assert "p1 to pe2" in labels(queue)
    assert "level 1 begins" in labels(queue)
    assert set(labels(notifications)) == {
        "CNPs of the ingress PE (1)",
        "CNPs of the receiver (1)",
        "notices for the ingress PE on the link p1 to pe1 (1)",
    }
    (line, *_) = queue.get_lines()
    assert np.max(line.get_ydata()) == 120


def test_of_many_connections_the_spread_is_drawn() -> None:
    result = congested("fcn")
    many = [(t, "l1", n, 1e9 * n, 0, 0) for t in range(0, 10_000, 1000) for n in range(20)]
    messages = [("l1", n, n, 1000, 0, None) for n in range(20)]
    many_flows = replace(result, rates=frame("rates", many), messages=frame("messages", messages))
    rates = axes_of(plots.draw_overview(many_flows))[0]
    assert labels(rates) == ["80 % of 20 connections", "median"]


def test_the_reaction_is_drawn_from_the_onset() -> None:
    axes = axes_of(plots.draw_reaction(congested("fcn")))[0]
    vertical = {
        str(line.get_label()): line.get_xdata()[0]  # type: ignore[index]
        for line in axes.get_lines()
        if str(line.get_label()).startswith(("propagation", "first cut", "onset"))
    }
    assert vertical["onset: first CE mark"] == 0
    assert vertical["propagation by the ingress PE"] == pytest.approx(FCN_BOUND_NS / 1e6)
    assert vertical["first cut: l1, CNP of the ingress PE"] == pytest.approx(
        (FCN_BOUND_NS + 700) / 1e6
    )
    assert ACCESS_NS < FCN_BOUND_NS


def test_completion_says_how_many_are_missing() -> None:
    (axes,) = axes_of(plots.draw_completion({"a": congested("fcn")}))
    assert labels(axes) == ["a (2 of 3 completed)"]
    (line,) = axes.get_lines()
    assert list(line.get_ydata()) == pytest.approx([100 / 3, 200 / 3])  # type: ignore[arg-type]


def test_runs_are_drawn_over_each_other() -> None:
    runs = {"slow": congested("ecn"), "fast": congested("fantel")}
    rates, queue = axes_of(plots.draw_overlaid(runs))
    assert labels(rates) == ["slow", "fast"]
    assert labels(queue) == ["slow: p1 to pe2", "fast: p1 to pe2"]
    colours = {line.get_color() for line in rates.get_lines()}
    assert colours == {MODES["ecn"].colour, MODES["fantel"].colour}
    assert len(plots.overlaid(runs)) == 2


def test_events_of_the_scenario_are_marked_once_in_the_legend() -> None:
    events = tuple(EventInfo(time_ns=at, text="link down") for at in (10**6, 2 * 10**6))
    result = replace(congested("fcn"), about=about(events=events))
    rates = axes_of(plots.draw_overview(result))[0]
    assert labels(rates).count("event of the scenario") == 1


@pytest.mark.parametrize(
    "result", [Result(about()), Result(about(mode="none", finished=False, reached_ns=0))]
)
def test_where_nothing_happened_nothing_is_drawn(result: Result) -> None:
    assert plots.plots(result) == []
    assert plots.overlaid({"a": result, "b": result}) == []


def test_queues_that_were_always_empty_and_unanswered_congestion() -> None:
    result = congested("fcn")
    idle = replace(result, queues=frame("queues", [(t, "p1", "pe2", 0, 0) for t in (0, 1000)]))
    assert axes_of(plots.draw_overview(idle))
    unanswered = replace(result, notices=frame("notices"))
    assert plots.draw_reaction(unanswered) is None
    unsampled = replace(result, queues=frame("queues"), rates=frame("rates"))
    assert axes_of(plots.draw_reaction(unsampled))


def test_a_failure_has_paths_and_arrivals() -> None:
    sent, arrived = axes_of(plots.draw_failover(link_failed()))
    assert labels(sent) == [
        "to-pe2: a", "to-pe2: b", "p1-pe2 fails", "p1 knows", "and propagation",
        "first packet on another path",
    ]  # fmt: skip
    assert arrived.get_ylabel() == "arrived (packets/s)"
    assert plots.draw_failover(congested("fcn")) is None
