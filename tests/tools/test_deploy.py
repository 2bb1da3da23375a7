"""What deploy/ has: alarms and dashboard of metrics that there are, units that systemd takes."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from fcn.contract.names import COUNTERS, PORT_COUNTERS, VRF_COUNTERS
from fcn.controller.config import parse_config
from fcn.controller.config.check_unused import unused_notes
from fcn.controller.config.transport import expiry_notes
from fcn.controller.northbound.snapshot import FAMILIES, OF_SWITCHES
from fcn.controller.pki.folder import make, parse_holder
from tools import dashboard

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
ALERTS = DEPLOY / "alerts.yaml"
RUNBOOK = ROOT / "docs" / "runbook.md"

METRIC = re.compile(r"\bfcn_[a-z_]+")
SELECTOR = re.compile(r'counter="([a-z_]+)"')


def alerts() -> list[dict[str, str]]:
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    found: list[dict[str, str]] = group["rules"]
    return found


def queries() -> list[str]:
    panels = [graph.query for graphs in dashboard.ROWS.values() for graph in graphs]
    return [*panels, *(rule["expr"] for rule in alerts())]


def known_metrics() -> set[str]:
    """Their names as Prometheus has them."""
    endings = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
    return {
        f"{name}{ending}"
        for kind, name, text, labels in FAMILIES
        for ending in endings[kind(name, text, labels=labels).type]
    } | {f"{name}_total" for name in OF_SWITCHES}


@pytest.mark.parametrize("query", queries())
def test_what_is_asked_for_exists(query: str) -> None:
    assert set(METRIC.findall(query)) <= known_metrics()
    assert set(SELECTOR.findall(query)) <= {*COUNTERS, *PORT_COUNTERS, *VRF_COUNTERS}


def test_the_dashboard_is_that_of_the_code() -> None:
    made = dashboard.dashboard()
    assert dashboard.FILE.read_text() == made, "run `python -m tools.dashboard`"
    panels = [each for each in json.loads(made)["panels"] if each["type"] != "row"]
    assert len(panels) == sum(map(len, dashboard.ROWS.values()))
    assert len({each["id"] for each in panels}) == len(panels)
    assert len({(each["gridPos"]["x"], each["gridPos"]["y"]) for each in panels}) == len(panels)


def test_each_alarm_is_in_the_runbook() -> None:
    told = re.findall(r"^## (Fcn\w+)$", RUNBOOK.read_text(), re.MULTILINE)
    assert told == [rule["alert"] for rule in alerts()]


def test_the_network_of_the_first_hour_is_valid(tmp_path: Path) -> None:
    """With the certificates that its command makes."""
    guide = (ROOT / "docs" / "operations.md").read_text()
    (command,) = re.findall(r"`fcn pki init /root/pki ([^`]+)`", guide)
    pki = tmp_path / "pki"
    make(pki, [parse_holder(name) for name in command.split()])
    text = (DEPLOY / "network.yaml").read_text()
    for folder in ("state", "log"):
        (tmp_path / folder).mkdir()
    text = text.replace("/etc/fcn/controller", str(pki / "controller"))
    text = text.replace("/var/lib/fcn", str(tmp_path / "state"))
    text = text.replace("/var/log/fcn", str(tmp_path / "log"))
    config = parse_config(text)
    assert not list(unused_notes(config))
    assert not expiry_notes(config)
    assert config.listener_tls("metrics") is None
    assert config.tls_of(config.nodes["pe1"]) is not None


@pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed (Debian: prometheus)"
)
def test_prometheus_takes_the_alarms() -> None:
    done = subprocess.run(
        ["promtool", "check", "rules", str(ALERTS)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed (systemd)"
)
@pytest.mark.parametrize("unit", sorted(DEPLOY.glob("*.service")), ids=lambda unit: unit.name)
def test_systemd_takes_the_units(unit: Path, tmp_path: Path) -> None:
    """Of a program that is there: whether it can be run is looked at, too."""
    copy = tmp_path / unit.name
    copy.write_text(re.sub(r"/opt/fcn/bin/[a-z-]+", "/bin/true", unit.read_text()))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(copy)], capture_output=True, text=True, check=False
    )
    said = [line for line in done.stderr.splitlines() if unit.stem.rstrip("@") in line]
    assert (done.returncode, said) == (0, [])
