"""The controller starts only with a finsy whose inside is as it needs it."""

import asyncio
import tomllib
from pathlib import Path
from typing import Any

import finsy as fy
import pytest
import yaml
from finsy import p4client
from finsy.p4arbitrator import Arbitrator
from finsy.p4client import P4Client
from finsy.p4entity import P4DigestList
from finsy.p4schema import P4StructType
from packaging.requirements import Requirement
from packaging.version import Version
from switches import WAIT

from fcn.controller import finsy_adapter
from fcn.controller.cli import run
from fcn.controller.cli.run import RunError, run_controller
from fcn.controller.config import parse_config
from fcn.controller.finsy_adapter import SUITED, FinsyError, check_finsy
from fcn.controller.logs import LogLevel

ROOT = Path(__file__).parents[2]


def test_the_installed_one_suits() -> None:
    check_finsy()


def test_versions_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (needed,) = (each for each in project["dependencies"] if each.startswith("finsy"))
    assert needed == f"finsy{SUITED}"
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    (pinned,) = (line for line in lines if line.startswith("finsy=="))
    assert Version(pinned.removeprefix("finsy==")) in Requirement(needed).specifier


async def _other(_self: object, _pipeline: bytes) -> None:
    """As the requests might be one day."""


async def _calls_nothing(*_arguments: object) -> None:
    """A caller that has found another way."""


@pytest.mark.parametrize(
    ("owner", "name", "now", "said"),
    [
        (fy.Switch, "_set_pipeline_config_request", None, "no Switch._set_pipeline_config_request"),
        (fy.Switch, "_get_pipeline_config_request", None, "no Switch._get_pipeline_config_request"),
        (P4StructType, "decode_data", None, "no P4StructType.decode_data"),
        (p4client, "grpc_channel", None, "no p4client.grpc_channel"),
        (
            fy.Switch,
            "_set_pipeline_config_request",
            _other,
            "Switch._set_pipeline_config_request takes other arguments",
        ),
        (
            fy.Switch,
            "_set_pipeline",
            _calls_nothing,
            "Switch._set_pipeline does not call Switch._set_pipeline_config_request; "
            "Switch._set_pipeline does not call Switch._get_pipeline_config_request",
        ),
        (
            P4DigestList,
            "decode",
            _calls_nothing,
            "P4DigestList.decode does not call P4StructType.decode_data",
        ),
        (P4Client, "open", None, "P4Client.open does not call p4client.grpc_channel"),
        (Arbitrator, "handshake", _other, "Arbitrator.handshake takes other arguments"),
        (Arbitrator, "reset", None, "there is no Arbitrator.reset"),
        (
            fy.Switch,
            "_handle_stream_message",
            _calls_nothing,
            "Switch._handle_stream_message does not call Arbitrator.update",
        ),
        (
            fy.Switch,
            "_receive_until_closed",
            _calls_nothing,
            "Switch._receive_until_closed does not call Switch._handle_stream_message",
        ),
        (fy.Switch, "is_primary", property(_calls_nothing), "Switch.is_primary is not of _arbitra"),
    ],
)
def test_another_inside_is_named(
    owner: object, name: str, now: object, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if now is None:
        monkeypatch.delattr(owner, name)
    else:
        monkeypatch.setattr(owner, name, now)
    with pytest.raises(FinsyError) as caught:
        check_finsy()
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"finsy {fy.__version__} is not as")
    assert str(caught.value).endswith(f"Install finsy{SUITED}")


def test_a_class_with_slots_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slotted:
        __slots__ = ()

        def decode_data(self, data: object) -> None:
            """As finsy's."""

    place = finsy_adapter._PLACES[2]._replace(owner=Slotted)
    monkeypatch.setattr(finsy_adapter, "_PLACES", (place,))
    with pytest.raises(FinsyError, match=r"Slotted\.decode_data cannot be replaced in one object"):
        check_finsy()


async def test_the_controller_does_not_start_with_another(
    network: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(P4StructType, finsy_adapter.DECODE)
    # The log is that of the whole process, of other tests, too.
    monkeypatch.setattr(run, "configure_logs", lambda *_, **__: None)
    with pytest.raises(RunError, match=r"no P4StructType\.decode_data"):
        async with asyncio.timeout(WAIT):
            await run_controller(
                parse_config(yaml.safe_dump(network)),
                tmp_path / "network.yaml",
                LogLevel.ERROR,
                log_json=False,
            )
