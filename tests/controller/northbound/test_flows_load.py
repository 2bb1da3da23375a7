"""`fcn flows load`: the flows of a file, of which one that is refused keeps out no other."""

import asyncio
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from fcn.controller.app import ControlPlane
from fcn.controller.cli import flows
from fcn.controller.cli.commands import app
from fcn.controller.config import parse_config
from fcn.controller.flows.provenance import Origin
from fcn.controller.northbound.client import FcnClient, UnreachableError
from fcn.controller.northbound.serving import serving

HERE, FAR = "10.1.0.10", "10.2.0.20"


async def load(network: dict[str, Any], file: Path, text: str) -> tuple[ControlPlane, Result]:
    await asyncio.to_thread(file.write_text, text, "utf-8", "surrogateescape")
    plane = ControlPlane(parse_config(yaml.safe_dump(network)))
    async with serving(plane.network, "127.0.0.1:0") as api:
        command = ["flows", "load", str(file), "--api", api]
        return plane, await asyncio.to_thread(CliRunner().invoke, app, command)


async def test_flows_of_a_file(
    network: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flows, "LOADED", 2)
    rows = [f"blue,{HERE},{FAR},{number:#x},{number + 1}" for number in range(16, 21)]
    rows[0] = f"\ufeff{rows[0]}"  # as of spreadsheets
    rows[1] += ",never"
    plane, done = await load(network, tmp_path / "flows.csv", "\n".join([*rows, ""]))
    assert done.exit_code == 0, done.output
    assert "5 flows registered" in done.output
    assert "pe1 away" in done.output
    found = {flow.key.dest_qp: flow for flow in plane.flows.all()}
    assert {qp: flow.source_qp for qp, flow in found.items()} == {
        number: number + 1 for number in range(16, 21)
    }
    assert [number for number, flow in found.items() if not flow.timeout] == [17]
    assert {flow.origin for flow in found.values()} == {Origin.MANUAL}
    assert len(list(plane.store.flows("blue"))) == 5


async def test_flows_are_counted_where_the_controller_ends_meanwhile(
    network: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flows, "LOADED", 2)
    answer, calls = FcnClient.add_flows, count()

    def ends(client: FcnClient, *some: Any) -> Any:  # noqa: ANN401
        if next(calls) == 1:
            raise UnreachableError("it has ended")
        return answer(client, *some)

    monkeypatch.setattr(FcnClient, "add_flows", ends)
    rows = [f"blue,{HERE},{FAR},{number},{number}" for number in range(16, 21)]
    _, done = await load(network, tmp_path / "flows.csv", "\n".join(rows))
    assert (done.exit_code, done.stdout) == (4, "2 flows registered\n")


async def test_a_file_longer_than_a_request(network: dict[str, Any], tmp_path: Path) -> None:
    rows = [
        f"blue,{HERE},{FAR},{number:#x},{number:#x},1h" for number in range(2, flows.LOADED + 3)
    ]
    plane, done = await load(network, tmp_path / "flows.csv", "\n".join(rows))
    assert done.exit_code == 0, done.output
    assert len(plane.flows.all()) == len(rows)


async def test_a_flow_that_is_refused_is_told_with_its_line(
    network: dict[str, Any], tmp_path: Path
) -> None:
    strangers = "".join(f"green,{HERE},{FAR},{number},6\n" for number in range(3))
    text = f"blue,{HERE},{FAR},5,6\n\nred,{HERE},{FAR},5,6\nblue,10.9.9.9,{FAR},5,6\n{strangers}"
    text += f"blue,{HERE},{FAR},7,8\ngreen,{HERE},{FAR},7,8\n"
    plane, done = await load(network, tmp_path / "flows.csv", text)
    assert done.exit_code == 1
    said = " ".join(done.output.split())
    assert "line 3: there is no VRF red" in said
    assert "line 4: 10.9.9.9 is behind no DC port" in said
    assert "lines 5 to 7: there is no VRF green" in said
    assert "line 9: there is no VRF green" in said, "the one between is registered"
    assert said.count("green") == 2
    assert "2 flows registered" in said
    assert [flow.key.dest_qp for flow in plane.flows.all()] == [5, 7]
    assert len(list(plane.store.flows("blue"))) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("blue,10.1.0.10,10.2.0.20,5", "line 1: 4 fields, not 5 or 6"),
        (f"\nblue,{HERE},no,5,6", "line 2: "),
        (f"blue,{HERE},{FAR},5,x", "line 1: 'x' is not a number"),
        (f"blue,{HERE},{FAR},5,6,soon", "line 1: "),
        (f"blue,{HERE},{FAR},5,6\nblue,{'9' * 200_000}", "flows.csv, line 2: field larger than"),
        ("\udcff", "flows.csv: not UTF-8"),
    ],
)
async def test_a_file_that_cannot_be_read_registers_nothing(
    network: dict[str, Any], tmp_path: Path, text: str, why: str
) -> None:
    plane, done = await load(network, tmp_path / "flows.csv", f"{text}\nblue,{HERE},{FAR},7,8\n")
    assert done.exit_code == 1
    assert why in done.output.replace("\n", "")
    assert not plane.flows.all()
    assert not list(plane.store.flows("blue"))
