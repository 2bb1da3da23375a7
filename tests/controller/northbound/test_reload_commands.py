"""`fcn diff` and `fcn apply`."""

import asyncio
import json
from pathlib import Path
from typing import Any

import yaml
from switches import MemorySwitch, all_up
from typer.testing import CliRunner, Result

from fcn.controller.app import ControlPlane
from fcn.controller.cli.commands import app
from fcn.controller.config import parse_config
from fcn.controller.northbound.serving import serving


async def test_what_is_shown_is_what_is_done(
    network: dict[str, Any], switches: dict[str, MemorySwitch], tmp_path: Path
) -> None:
    """By `fcn diff` and `fcn apply`, which says for how long."""
    plane = ControlPlane(parse_config(yaml.safe_dump(network)))
    routes = network["nodes"]["pe1"]["vrfs"]["blue"]["routes"]
    async with serving(plane.network, "127.0.0.1:0") as api, plane.running():
        await all_up(plane)
        file = tmp_path / "network.yaml"

        async def fcn(*arguments: str) -> Result:
            file.write_text(yaml.safe_dump(network))
            command = [*arguments, "-c", str(file), "--api", api]
            return await asyncio.to_thread(CliRunner().invoke, app, command)

        routes.append({"prefix": "10.66.0.0/16", "discard": True})
        routes[0]["tunnel"] = "pe2-vxlan"
        shown = await fcn("diff")
        assert shown.exit_code == 0, shown.output
        rows = {line.split()[1]: line.split() for line in shown.stdout.splitlines()[1:]}
        assert rows.keys() == {"added", "removed", "changed"}
        where = ["pe1", "added", "route_ipv4", "vrf=0x1", "dst=0xa420000/16"]
        assert rows["added"] == [*where, "blackhole()"]
        as_json = json.loads((await fcn("diff", "--json")).stdout)
        assert {(row["node"], row["change"]) for row in as_json} == {
            ("pe1", "added"),
            ("pe1", "removed"),
            ("pe1", "changed"),
        }
        (row,) = (row for row in as_json if row["change"] == "added")
        assert row.keys() == {"node", "change", "table", "match", "after"}
        done = await fcn("apply", "--json")
        assert json.loads(done.stdout) == [
            {"name": "pe1", "added": 1, "removed": 1, "changed": 2, "state": "up"}
        ]
        assert "in effect until the controller is restarted" in done.stderr
        plane.network.file = file
        again = await fcn("apply")
        assert again.stdout == "in force; no switch is changed\n"
        assert again.stderr == ""
        assert (await fcn("diff")).stdout == "no switch would be changed\n"
        network["nodes"]["pe1"]["grpc"] = "127.0.0.1:9"
        for command in ("diff", "apply"):
            refused = await fcn(command)
            assert refused.exit_code == 3
            line = file.read_text().splitlines().index("    grpc: 127.0.0.1:9") + 1
            assert f"{file}:{line}: nodes.pe1.grpc: it is" in refused.stderr.replace("\n", "")
        network["nodes"]["pe1"]["grpc"] = switches["pe1"].address
        network["nodes"]["p1"]["thresholds"] = [{"port": 1, "depths": [3, 5]}]
        routes.append({"prefix": "10.67.0.0/16", "discard": True})
        switches["pe1"].engine.full = "route_ipv4"
        refused = await fcn("apply")
        assert refused.exit_code == 1
        assert "pe1 refuses INSERT in route_ipv4: table full" in refused.stderr
        assert not plane.config.nodes["p1"].thresholds
