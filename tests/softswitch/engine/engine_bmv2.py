"""simple_switch_grpc over P4Runtime, with the methods and arguments of softswitch.api.Engine."""

import json
import queue
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import grpc
from engine_veth import VethPorts
from finsy.proto import p4i, p4r, p4r_grpc
from google.protobuf import text_format

from fcn.softswitch.api import (
    ActionCall,
    Exact,
    GroupMember,
    GroupRef,
    Lpm,
    MatchKey,
    MemberRef,
    MeterRates,
    Range,
    Replica,
    TableAction,
    Ternary,
)

TIMEOUT = 120.0
_ADD_VALUES = """
import site, sys
site.addsitedir("/usr/local/lib/python%d.%d/site-packages" % sys.version_info[:2])
from bm_runtime.standard import Standard
from thrift.protocol import TBinaryProtocol, TMultiplexedProtocol
from thrift.transport import TSocket, TTransport
if len(sys.argv) > 1:
    transport = TTransport.TBufferedTransport(TSocket.TSocket("127.0.0.1", int(sys.argv[1])))
    protocol = TBinaryProtocol.TBinaryProtocol(transport)
    client = Standard.Client(TMultiplexedProtocol.TMultiplexedProtocol(protocol, "standard"))
    transport.open()
    for octets in sys.argv[3:]:
        client.bm_parse_vset_add(0, sys.argv[2], bytes.fromhex(octets))
"""
_THRIFT = ["/usr/bin/python3", "-c", _ADD_VALUES]
"""Port, value set, values; the system's Python has Thrift, which comes with BMv2.

pvs_add of simple_switch_CLI sends values of a wrong length, with which BMv2 aborts.
"""
CPU_PORT = 510


def missing() -> str | None:
    """Why BMv2 cannot be run, None when it can."""
    if shutil.which("simple_switch_grpc") is None:
        return "simple_switch_grpc is not on PATH"
    return None


class Bmv2:
    """A running simple_switch_grpc with a program loaded; a context manager."""

    def __init__(self, json_path: Path, ports: VethPorts) -> None:
        self._json = json_path
        info_path = json_path.with_suffix(".p4info.txtpb")
        self._info = text_format.Parse(info_path.read_text(), p4i.P4Info())
        self._ports = ports
        self._requests: queue.Queue[Any] = queue.Queue()
        self._answers: queue.Queue[Any] = queue.Queue()
        self._logs = tempfile.TemporaryDirectory()
        self._tables = {t.preamble.name: t for t in self._info.tables}
        self._actions = {a.preamble.name: a for a in self._info.actions}

    def __enter__(self) -> Self:
        log = Path(self._logs.name) / "out"
        command = ["simple_switch_grpc", "--no-p4", "--log-level", "off", "--device-id", "1"]
        for port in self._ports.ports:
            command += ["-i", f"{port}@{self._ports.switch(port)}"]
        self._thrift = _free_port()
        command += ["--thrift-port", str(self._thrift), "--"]
        address = f"127.0.0.1:{_free_port()}"
        command += ["--grpc-server-addr", address, "--cpu-port", str(CPU_PORT)]
        command += ["--drop-port", "511", "--priority-queues", "8"]
        with log.open("wb") as out:
            self._process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        self._channel = grpc.insecure_channel(address)
        self._stub = p4r_grpc.P4RuntimeStub(self._channel)
        grpc.channel_ready_future(self._channel).result(timeout=TIMEOUT)
        self._stream = self._stub.StreamChannel(iter(self._requests.get, None))
        self._election = p4r.Uint128(high=0, low=1)
        self._requests.put(
            p4r.StreamMessageRequest(
                arbitration=p4r.MasterArbitrationUpdate(device_id=1, election_id=self._election)
            )
        )
        next(self._stream)
        self._stub.SetForwardingPipelineConfig(
            p4r.SetForwardingPipelineConfigRequest(
                device_id=1,
                election_id=self._election,
                action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
                config=p4r.ForwardingPipelineConfig(
                    p4info=self._info, p4_device_config=self._json.read_bytes()
                ),
            ),
            timeout=TIMEOUT,
        )
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._requests.put(None)
        self._stream.cancel()
        self._channel.close()
        self._process.terminate()
        self._process.wait(TIMEOUT)
        self._logs.cleanup()

    @property
    def alive(self) -> bool:
        """Whether the switch still runs."""
        return self._process.poll() is None

    def _write(
        self, entity: p4r.Entity, kind: p4r.Update.Type.ValueType = p4r.Update.INSERT
    ) -> None:
        self._stub.Write(
            p4r.WriteRequest(
                device_id=1,
                election_id=self._election,
                updates=[p4r.Update(type=kind, entity=entity)],
            ),
            timeout=TIMEOUT,
        )

    def _action(self, call: ActionCall) -> p4r.Action:
        action = self._actions[call.name]
        return p4r.Action(
            action_id=action.preamble.id,
            params=[
                p4r.Action.Param(param_id=p.id, value=_octets(x))
                for p, x in zip(action.params, call.args, strict=True)
            ],
        )

    def table_insert(
        self, table: str, match: Sequence[MatchKey], priority: int, action: TableAction
    ) -> None:
        """As softswitch.api.Engine.table_insert."""
        info = self._tables[table]
        entry = p4r.TableEntry(table_id=info.preamble.id)
        ranked = False
        for f, x in zip(info.match_fields, match, strict=True):
            m = _match(f, x)
            ranked |= f.match_type in (f.TERNARY, f.RANGE, f.OPTIONAL)
            if m is not None:
                entry.match.append(m)
        entry.priority = priority if ranked else 0
        if isinstance(action, ActionCall):
            entry.action.action.CopyFrom(self._action(action))
        elif isinstance(action, MemberRef):
            entry.action.action_profile_member_id = action.member_id
        elif isinstance(action, GroupRef):
            entry.action.action_profile_group_id = action.group_id
        self._write(p4r.Entity(table_entry=entry))

    def table_set_default(self, table: str, action: ActionCall) -> None:
        """As softswitch.api.Engine.table_set_default."""
        entry = p4r.TableEntry(table_id=self._tables[table].preamble.id, is_default_action=True)
        entry.action.action.CopyFrom(self._action(action))
        self._write(p4r.Entity(table_entry=entry), p4r.Update.MODIFY)

    def _profile(self, name: str) -> int:
        return next(a.preamble.id for a in self._info.action_profiles if a.preamble.name == name)

    def member_insert(self, profile: str, member_id: int, action: ActionCall) -> None:
        """As softswitch.api.Engine.member_insert."""
        member = p4r.ActionProfileMember(
            action_profile_id=self._profile(profile), member_id=member_id
        )
        member.action.CopyFrom(self._action(action))
        self._write(p4r.Entity(action_profile_member=member))

    def group_set(self, profile: str, group_id: int, members: Sequence[GroupMember]) -> None:
        """As softswitch.api.Engine.group_set, for a new group."""
        group = p4r.ActionProfileGroup(action_profile_id=self._profile(profile), group_id=group_id)
        for x in members:
            group.members.add(member_id=x.member_id, weight=x.weight)
        self._write(p4r.Entity(action_profile_group=group))

    def value_set_write(self, value_set: str, values: Sequence[int]) -> None:
        """As softswitch.api.Engine.value_set_write, for an empty set; only Thrift can."""
        widths = {
            v["name"]: v["compressed_bitwidth"]
            for v in json.loads(self._json.read_text())["parse_vsets"]
        }
        size = (widths[value_set] + 7) // 8
        octets = [value.to_bytes(size, "big").hex() for value in values]
        subprocess.run(
            [*_THRIFT, str(self._thrift), value_set, *octets], check=True, timeout=TIMEOUT
        )

    def meter_set(self, meter: str, index: int, rates: MeterRates) -> None:
        """As softswitch.api.Engine.meter_set."""
        meter_id = next(m.preamble.id for m in self._info.meters if m.preamble.name == meter)
        entry = p4r.MeterEntry(meter_id=meter_id, index=p4r.Index(index=index))
        entry.config.CopyFrom(
            p4r.MeterConfig(cir=rates.cir, cburst=rates.cburst, pir=rates.pir, pburst=rates.pburst)
        )
        self._write(p4r.Entity(meter_entry=entry), p4r.Update.MODIFY)

    def counter_read(self, counter: str, index: int) -> tuple[int, int]:
        """Packets and octets of a counter cell."""
        counter_id = next(c.preamble.id for c in self._info.counters if c.preamble.name == counter)
        entity = p4r.Entity(
            counter_entry=p4r.CounterEntry(counter_id=counter_id, index=p4r.Index(index=index))
        )
        request = p4r.ReadRequest(device_id=1, entities=[entity])
        for response in self._stub.Read(request, timeout=TIMEOUT):
            for e in response.entities:
                data = e.counter_entry.data
                return data.packet_count, data.byte_count
        raise AssertionError(f"no counter {counter}[{index}]")

    def clone_session_set(
        self, session_id: int, replicas: Sequence[Replica], class_of_service: int, truncate: int
    ) -> None:
        """As softswitch.api.Engine.clone_session_set, for a new session."""
        session = p4r.CloneSessionEntry(
            session_id=session_id,
            class_of_service=class_of_service,
            packet_length_bytes=truncate,
            replicas=[p4r.Replica(egress_port=r.port, instance=r.instance) for r in replicas],
        )
        pre = p4r.PacketReplicationEngineEntry(clone_session_entry=session)
        self._write(p4r.Entity(packet_replication_engine_entry=pre))

    def multicast_group_set(self, group_id: int, replicas: Sequence[Replica]) -> None:
        """As softswitch.api.Engine.multicast_group_set, for a new group."""
        group = p4r.MulticastGroupEntry(
            multicast_group_id=group_id,
            replicas=[p4r.Replica(egress_port=r.port, instance=r.instance) for r in replicas],
        )
        pre = p4r.PacketReplicationEngineEntry(multicast_group_entry=group)
        self._write(p4r.Entity(packet_replication_engine_entry=pre))


def missing_thrift() -> str | None:
    """Why value sets cannot be written, None when they can."""
    tried = subprocess.run(_THRIFT, capture_output=True, text=True, check=False)
    return f"BMv2's Thrift client: {tried.stderr.strip()[-200:]}" if tried.returncode else None


def _octets(value: int) -> bytes:
    """Canonical P4Runtime bytes."""
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def _match(f: p4i.MatchField, x: MatchKey) -> p4r.FieldMatch | None:
    """A P4Runtime match, None for one that matches everything."""
    out = p4r.FieldMatch(field_id=f.id)
    if isinstance(x, Exact):
        out.exact.value = _octets(x.value)
    elif isinstance(x, Lpm):
        if x.prefix_len == 0:
            return None
        out.lpm.value, out.lpm.prefix_len = _octets(x.value), x.prefix_len
    elif isinstance(x, Ternary):
        if x.mask == 0:
            return None
        if f.match_type == f.OPTIONAL:
            out.optional.value = _octets(x.value)
        else:
            out.ternary.value, out.ternary.mask = _octets(x.value & x.mask), _octets(x.mask)
    elif isinstance(x, Range):
        if x.low == 0 and x.high == (1 << f.bitwidth) - 1:
            return None
        out.range.low, out.range.high = _octets(x.low), _octets(x.high)
    return out


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])
