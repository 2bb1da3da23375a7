"""The dashboard for Grafana, as code: `python -m tools.dashboard` writes deploy/dashboard.json."""

from itertools import count
from pathlib import Path
from typing import NamedTuple

from grafana_foundation_sdk.builders.dashboard import (
    Dashboard,
    DatasourceVariable,
    QueryVariable,
    Row,
)
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.builders.timeseries import Panel
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import DataSourceRef

FILE = Path(__file__).parents[1] / "deploy" / "dashboard.json"

SOURCE = DataSourceRef(type_val="prometheus", uid="$source")

WIDTH, HEIGHT = 8, 7
"""Of a panel, of the 24 columns of a row."""


class Graph(NamedTuple):
    """A panel: what is asked of Prometheus, how a line is named, and its unit in Grafana."""

    title: str
    query: str
    legend: str
    unit: str = "short"


def quantile(metric: str, by: str) -> str:
    """The 99th percentile of a histogram."""
    rate = f"sum by ({by}, le) (rate({metric}_bucket[$__rate_interval]))"
    return f"histogram_quantile(0.99, {rate})"


def switch_rate(counter: str, what: str = "packets") -> str:
    """The rate of a counter of the switches."""
    chosen = f'fcn_switch_{what}_total{{counter="{counter}", node=~"$node"}}'
    return f"sum by (node, name) (rate({chosen}[$__rate_interval]))"


ROWS: dict[str, tuple[Graph, ...]] = {
    "State": (
        Graph("Switches as intended", 'fcn_node_up{node=~"$node"}', "{{node}}"),
        Graph("Links up", 'fcn_link_up{node=~"$node"}', "{{node}} to {{peer}}"),
        Graph("Entries not yet written", 'fcn_node_pending{node=~"$node"}', "{{node}}"),
    ),
    "Congestion": (
        Graph("Notifications sent", switch_rate("notifications_sent"), "{{node}} {{name}}", "pps"),
        Graph("Packets marked", switch_rate("ecn_marked"), "{{node}} {{name}}", "pps"),
        Graph(
            "Suppressed by a node's limit",
            switch_rate("node_rate_suppressed"),
            "{{node}} {{name}}",
            "pps",
        ),
        Graph(
            "Link utilization",
            'fcn_link_utilization{node=~"$node"}',
            "{{node}} to {{peer}}",
            "percentunit",
        ),
        Graph(
            "Sent by port", f"8 * {switch_rate('port_tx', 'octets')}", "{{node}} {{name}}", "bps"
        ),
        Graph("Dropped", switch_rate("drops"), "{{node}} {{name}}", "pps"),
    ),
    "Flows": (
        Graph("Labelled flows", "fcn_flows", "{{node}}, sender {{source_qp}}"),
        Graph("Labels", "fcn_labels", "{{state}}"),
        Graph(
            "Reports not used",
            "sum by (vrf, reason) (rate(fcn_learning_refused_total[$__rate_interval]))",
            "{{vrf}} {{reason}}",
            "cps",
        ),
    ),
    "Controller": (
        Graph(
            "From report to flow, p99",
            quantile("fcn_report_latency_seconds", "node"),
            "{{node}}",
            "s",
        ),
        Graph(
            "Write requests, p99", quantile("fcn_write_latency_seconds", "node"), "{{node}}", "s"
        ),
        Graph(
            "Event loop late, p99",
            quantile("fcn_loop_lag_seconds", "instance"),
            "{{instance}}",
            "s",
        ),
        Graph(
            "Lists of reports lost",
            "rate(fcn_node_lists_lost_total[$__rate_interval])",
            "{{node}}",
            "cps",
        ),
        Graph("Limits of VRFs", switch_rate("vrf_refused"), "{{node}} {{name}}", "pps"),
        Graph("Other regions heard", "fcn_region_heard", "{{region}}, {{controller}}"),
        Graph("Certificates expire in", "fcn_certificate_expires - time()", "{{file}}", "s"),
    ),
}


def panel(graph: Graph) -> Panel:
    query = Dataquery().expr(graph.query).legend_format(graph.legend).ref_id("A")
    made = Panel().title(graph.title).unit(graph.unit).datasource(SOURCE).with_target(query)
    return made.span(WIDTH).height(HEIGHT)


def dashboard() -> str:
    """JSON, the same each time."""
    made = Dashboard("fcn").uid("fcn").tags(["fcn"]).refresh("10s").time("now-1h", "now")
    made = made.with_variable(DatasourceVariable("source").type("prometheus"))
    nodes = QueryVariable("node").datasource(SOURCE).query("label_values(fcn_node_up, node)")
    made = made.with_variable(nodes.multi(True).include_all(True))
    number = count(1)
    for title, graphs in ROWS.items():
        made = made.with_row(Row(title).id(next(number)))
        for graph in graphs:
            made = made.with_panel(panel(graph).id(next(number)))
    return JSONEncoder(sort_keys=True, indent=1).encode(made.build()) + "\n"


if __name__ == "__main__":
    FILE.write_text(dashboard())
