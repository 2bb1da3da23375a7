"""How many flows a provider edge can have, and what they cost: time to install them, memory, and
the controller's restart.

`python -m fcn.bench.scale` gives one controller FLOWS flows on a softswitch with tables of that
size (twice as many entries), starts the controller anew, and compares with what the same switch
takes from a client that only writes (requests of 512 updates, encoded before). With `--shell
PYTHON`, an interpreter that has p4runtime-shell, also with that. All in one run, so that the ratios
hold on another machine. Written to bench/results/scale.json.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import grpc
import yaml
from finsy import P4Schema
from finsy.proto import p4r, p4r_grpc
from rich.console import Console

from fcn.bench.harness import BenchError, machine, options_of, table_of, whole, write_results
from fcn.contract.exact import Encoded, ExactTable
from fcn.contract.names import FLOW_TABLES, LABEL_TABLES
from fcn.contract.pipeline import load_pipeline
from fcn.contract.profiles import LEAST
from fcn.contract.roomier import with_flow_tables
from fcn.ptf_tests.targets.softswitch import Softswitch

FLOWS = 100_000
BATCH = 512
"""Updates in a request of the client that only writes, the controller's largest."""

SHELL_ENTRIES = 1_000
ADDRESS = "127.0.0.1:21001"
VRF = 1

SHELL = """
import sys, time
import p4runtime_sh.shell as sh
address, p4info, blob, count = sys.argv[1:]
sh.setup(device_id=1, grpc_addr=address, election_id=(0, 1), config=sh.FwdPipeConfig(p4info, blob))
began = time.monotonic()
for number in range(int(count)):
    entry = sh.TableEntry("flow_ipv4")(action="set_flow_label_ipv4")
    entry.match["vrf"] = "1"
    entry.match["src"] = "10.1.0.1"
    entry.match["dst"] = "10.2.0.1"
    entry.match["dest_qp"] = str(number + 2)
    entry.action["flow_label"] = str(0x80000 + number)
    entry.insert()
print(time.monotonic() - began)
sh.teardown()
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """rates: entries a second. kib: memory of the controller for each flow, in KiB, as learned and
    after a restart. restart: seconds until the switch is up again; held: the longest time, in
    seconds, for which the event loop did nothing else, while it learned and while it restarted."""

    flows: int
    raw_rate: float
    shell_rate: float | None
    learn_rate: float
    refill_rate: float
    kib: float
    kib_restarted: float
    restart: float
    held_learning: float
    held_restart: float


@contextmanager
def switch(folder: Path) -> Iterator[Softswitch]:
    """A softswitch without interfaces."""
    with Softswitch({}, ADDRESS, 1, folder / "switch.log") as running:
        yield running


def configuration(folder: Path, program: Path) -> Path:
    """A network of one provider edge, whose program is in that folder."""
    file = folder / "network.yaml"
    text: dict[str, Any] = {
        "api": f"unix:{folder / 'api'}",
        "vrfs": {"red": {"id": VRF}},
        "flows": {"timeout": "1h"},
        "nodes": {
            "pe1": {
                "role": "pe",
                "grpc": ADDRESS,
                "device_id": 1,
                "program": str(program),
                "features": "all",
                "underlay_address": "fc00:ff::1",
                "locator": "fc00:1::/64",
                "end_sids": ["fc00:1::e"],
                "ports": [
                    {"number": 1, "role": "dc", "vrf": "red", "addresses": ["10.0.0.1/8"]},
                    {"number": 3, "role": "core"},
                ],
                "vrfs": {"red": {"service_sid": "fc00:1::d4"}},
            }
        },
    }
    file.write_text(yaml.safe_dump(text, sort_keys=False))
    return file


def _requests(schema: P4Schema, flows: int) -> list[bytes]:
    """Write requests with both entries of these flows, encoded."""
    flow, label = ExactTable.of(schema, FLOW_TABLES[4]), ExactTable.of(schema, LABEL_TABLES[4])
    source, updates = 0x0A010000, list[Encoded]()
    for number in range(flows):
        host, peer = source + number // 256, source + (1 << 20) + number % 4096
        dest_qp, name = 2 + number // 4, 0x80000 + number
        sender = VRF, peer, host, dest_qp, 0xFFFF
        updates += [
            label.entry((name,), "cnp_ipv4", sender, metadata=b"agent"),
            flow.entry((VRF, host, peer, number + 2), "set_flow_label_ipv4", (name,)),
        ]
    requests = []
    for first in range(0, len(updates), BATCH):
        request = p4r.WriteRequest(device_id=1, election_id=p4r.Uint128(low=1))
        for each in updates[first : first + BATCH]:
            update = request.updates.add(type=p4r.Update.INSERT)
            update.entity.MergeFromString(each.key + each.value)
        requests.append(request.SerializeToString())
    return requests


def raw_rate(folder: Path, program: Path, flows: int) -> float:
    """Entries a second that the switch takes from a client that does nothing but write."""
    p4info, blob = program / "pe.p4info.txtpb", program / "pe.json"
    schema = P4Schema(p4info, blob)
    requests = _requests(schema, flows)
    with switch(folder), grpc.insecure_channel(ADDRESS) as channel:
        stub = p4r_grpc.P4RuntimeStub(channel)
        asked = p4r.StreamMessageRequest()
        asked.arbitration.device_id = 1
        asked.arbitration.election_id.low = 1
        said = SimpleQueue[p4r.StreamMessageRequest | None]()
        said.put(asked)
        stream = stub.StreamChannel(iter(said.get, None))
        next(stream)
        config = p4r.SetForwardingPipelineConfigRequest(device_id=1)
        config.election_id.low = 1
        config.action = p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT
        config.config.p4info.CopyFrom(schema.p4info)
        config.config.p4_device_config = blob.read_bytes()
        stub.SetForwardingPipelineConfig(config)
        write = channel.unary_unary("/p4.v1.P4Runtime/Write")
        began = time.monotonic()
        waiting = None
        for request in requests:
            # While the switch works at one, the next is on its way.
            following = write.future(request)
            if waiting is not None:
                waiting.result()
            waiting = following
        if waiting is not None:
            waiting.result()
        taken = time.monotonic() - began
        said.put(None)
    return 2 * flows / taken


def shell_rate(folder: Path, program: Path, python: Path) -> float:
    """Entries a second that p4runtime-shell inserts."""
    files = str(program / "pe.p4info.txtpb"), str(program / "pe.json")
    command = [str(python), "-c", SHELL, ADDRESS, *files, str(SHELL_ENTRIES)]
    with switch(folder):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"p4runtime-shell failed:\n{done.stderr}")
    return SHELL_ENTRIES / float(done.stdout.split()[-1])


def controlled(config: Path, flows: int, kept: int, target: Softswitch) -> dict[str, float]:
    """What a controller tells that runs in a process of its own (bench/scale_controller.py): it
    learns `flows`, then the switch is started anew; or it finds `kept` there."""
    command = [sys.executable, "-m", "fcn.bench.scale_controller", str(config), str(flows)]
    with subprocess.Popen([*command, str(kept)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        if said == "learned\n":
            target.stop()
            target.__enter__()
            said = process.stdout.readline()
    if process.returncode:
        raise BenchError("the controller failed; what it says is above")
    told: dict[str, float] = json.loads(said)
    return told


def measure(folder: Path, flows: int, shell: Path | None) -> Figures:
    program = folder / "program"
    with_flow_tables(load_pipeline("pe", profile=LEAST), flows, program)
    config = configuration(folder, program)
    raw = raw_rate(folder, program, flows)
    by_shell = shell_rate(folder, program, shell) if shell else None
    with switch(folder) as running:
        learned = controlled(config, flows, 0, running)
        again = controlled(config, 0, flows, running)
    return Figures(
        flows=flows,
        raw_rate=raw,
        shell_rate=by_shell,
        learn_rate=2 * flows / learned["learn_s"],
        refill_rate=2 * flows / learned["refill_s"],
        kib=learned["octets"] / 1024 / flows,
        kib_restarted=again["octets"] / 1024 / flows,
        restart=again["up_s"],
        held_learning=learned["held_s"],
        held_restart=again["held_s"],
    )


def report(console: Console, found: Figures) -> None:
    made = table_of(f"{found.flows:,} flows on a PE", [""], ["measured", "of the raw client's"])

    def rate(name: str, value: float) -> None:
        made.add_row(name, f"{value:,.0f} entries/s", f"{value / found.raw_rate:.2f}")

    rate("a client that only writes", found.raw_rate)
    rate("controller, to a switch that came back empty", found.refill_rate)
    rate("controller, flows learned and installed", found.learn_rate)
    if found.shell_rate is not None:
        rate("p4runtime-shell", found.shell_rate)
        made.add_row("controller to p4runtime-shell", f"{found.learn_rate / found.shell_rate:.1f}")
    made.add_row("controller's memory for a flow", f"{found.kib:.2f} KiB")
    made.add_row("the same after a restart", f"{found.kib_restarted:.2f} KiB")
    made.add_row("restart until the switch is up", f"{found.restart:.1f} s")
    made.add_row("event loop held, learning", f"{found.held_learning * 1000:.0f} ms")
    made.add_row("event loop held, restart", f"{found.held_restart * 1000:.0f} ms")
    console.print(made)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = options_of("scale", __doc__)
    parser.add_argument("--flows", type=whole, default=FLOWS)
    parser.add_argument("--shell", type=Path, help="a Python interpreter with p4runtime-shell")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="fcn-bench-") as folder:
        found = measure(Path(folder), options.flows, options.shell)
    report(Console(), found)
    write_results(options.results, {"machine": machine(), "figures": found})


if __name__ == "__main__":
    main()
