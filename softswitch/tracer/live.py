"""A switch that runs: asked for stories, or for a copy of its program with all its entries."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
from finsy.proto import p4r, p4r_grpc

from fcn.contract.rpc import Stub
from fcn.softswitch.proto import trace_pb2 as pb
from fcn.softswitch.stories.story import Story, from_json
from fcn.softswitch.tracer.show import ShowError

_OPTIONS = [("grpc.max_receive_message_length", 256 << 20)]
_PATIENCE = 10.0
"""Seconds for an answer other than a story."""


@dataclass(frozen=True, slots=True)
class Where:
    """HOST:PORT or unix:PATH, the PEM files of TLS, and the name in the switch's certificate."""

    address: str
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    name: str = ""


@contextmanager
def _channel(where: Where) -> Iterator[grpc.Channel]:
    options: list[tuple[str, int | str]] = [*_OPTIONS]
    if where.ca is None:
        channel = grpc.insecure_channel(where.address, options)
    else:
        try:
            files = [
                None if f is None else f.read_bytes()
                for f in (where.ca, where.key, where.certificate)
            ]
        except OSError as error:
            raise ShowError(f"cannot read {error.filename}: {error.strerror}") from error
        if where.name:
            options.append(("grpc.ssl_target_name_override", where.name))
        channel = grpc.secure_channel(where.address, grpc.ssl_channel_credentials(*files), options)
    with channel:
        try:
            yield channel
        except grpc.RpcError as error:
            raise ShowError(_reason(where, error)) from error


def _reason(where: Where, error: grpc.RpcError) -> str:
    code = error.code()
    if code is grpc.StatusCode.UNAVAILABLE:
        return f"no switch answers at {where.address}: {error.details()}"
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return f"{where.address} tells no stories: it is no fcn-softswitch of this version"
    return f"{where.address}: {error.details()}"


def tell(
    where: Where, request: pb.TellRequest, ready: Callable[[], object]
) -> Iterator[Story | pb.Summary]:
    """Stories as they become complete, and the summary. Raises ShowError."""
    with _channel(where) as channel:
        for told in Stub(channel, pb.DESCRIPTOR.services_by_name["Trace"]).Tell(request):
            match told.WhichOneof("what"):
                case "ready":
                    ready()
                case "story":
                    yield from_json(told.story)
                case "summary":
                    yield told.summary


def copy_of(where: Where, device_id: int) -> tuple[p4r.ForwardingPipelineConfig, list[p4r.Entity]]:
    """The program of a switch, and what was written to it: entries, groups, sessions, registers.
    Raises ShowError."""
    with _channel(where) as channel:
        stub = p4r_grpc.P4RuntimeStub(channel)
        wanted = p4r.GetForwardingPipelineConfigRequest(device_id=device_id)
        config = stub.GetForwardingPipelineConfig(wanted, timeout=_PATIENCE).config
        entities: list[p4r.Entity] = []
        for query in _everything(config):
            request = p4r.ReadRequest(device_id=device_id, entities=[query])
            for response in stub.Read(request, timeout=_PATIENCE):
                entities += response.entities
    return config, entities


def _everything(config: p4r.ForwardingPipelineConfig) -> Iterator[p4r.Entity]:
    yield p4r.Entity(table_entry=p4r.TableEntry())
    yield p4r.Entity(action_profile_member=p4r.ActionProfileMember())
    yield p4r.Entity(action_profile_group=p4r.ActionProfileGroup())
    replication = p4r.PacketReplicationEngineEntry
    yield p4r.Entity(
        packet_replication_engine_entry=replication(clone_session_entry=p4r.CloneSessionEntry())
    )
    yield p4r.Entity(
        packet_replication_engine_entry=replication(multicast_group_entry=p4r.MulticastGroupEntry())
    )
    for table in config.p4info.tables:
        entry = p4r.TableEntry(table_id=table.preamble.id, is_default_action=True)
        if not table.const_default_action_id and not table.implementation_id:
            yield p4r.Entity(table_entry=entry)
    for register in config.p4info.registers:
        yield p4r.Entity(register_entry=p4r.RegisterEntry(register_id=register.preamble.id))
    for meter in config.p4info.meters:
        yield p4r.Entity(meter_entry=p4r.MeterEntry(meter_id=meter.preamble.id))
    for value_set in config.p4info.value_sets:
        found = p4r.ValueSetEntry(value_set_id=value_set.preamble.id)
        yield p4r.Entity(value_set_entry=found)
