"""`fcn flows`: list, register and delete flows."""

import csv
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Annotated

import typer

from fcn.contract.command_line import Commands
from fcn.contract.constants import PipelineError
from fcn.contract.profiles import LEAST, PROFILES
from fcn.controller.cli import tables
from fcn.controller.cli.common import (
    EXIT_FAILED,
    MAX_LABEL,
    Api,
    Json,
    controller,
    ended_by,
    err,
    fail,
    mistyped,
    number,
    out,
    queue_pair,
    say,
)
from fcn.controller.config.notation import DEFAULT_ENDPOINT, Address, parse_duration
from fcn.controller.flows.key import FlowKey
from fcn.controller.owners.addresses import address_of

Vrf = Annotated[str, typer.Argument(help="VRF.")]
Source = Annotated[str, typer.Argument(help="Source address of the flow.")]
Destination = Annotated[str, typer.Argument(help="Destination address of the flow.")]
DestQp = Annotated[str, typer.Argument(help="Destination QP, decimal or 0x…")]

LOADED = 1_000
"""Flows of a file in one request."""

_PROFILES = ", ".join(PROFILES)

flows_app = Commands(help="Flows: labels and queue pairs.", no_args_is_help=True)


@flows_app.command("list")
def flows_list(
    node: Annotated[str, typer.Option(help="Only flows with this ingress PE.")] = "",
    vrf: Annotated[str, typer.Option(help="Only flows of this VRF.")] = "",
    address: Annotated[str, typer.Option(help="Only flows from or to this address.")] = "",
    counters: Annotated[bool, typer.Option(help="Read packet counts from the switches.")] = False,
    silent: Annotated[bool, typer.Option(help="Include known flows without a label.")] = False,
    api: Api = DEFAULT_ENDPOINT,
    as_json: Json = False,
) -> None:
    """Flows, their labels and queue pairs."""
    from fcn.controller.northbound.story import why_no_flows

    address = address and str(_address(address))
    with controller(api) as client:
        pages = client.flow_pages(
            node=node, vrf=vrf, address=address, counters=counters, unlabelled=silent
        )

        def why_none() -> str:
            if node or vrf or address:
                return "no flow matches; without --node, --vrf and --address all are listed"
            return why_no_flows(client.status())

        tables.show_flows(out, pages, why_none, counted=counters, as_json=as_json)


@flows_app.command("show")
def flows_show(
    label_or_address: Annotated[str, typer.Argument(help="A label (0x…) or an address.")],
    api: Api = DEFAULT_ENDPOINT,
    as_json: Json = False,
) -> None:
    """Details of the flows with a label or an address, with packet counts, and in words."""
    try:
        int(label_or_address, 0)
    except ValueError:
        label, address = None, str(_address(label_or_address))
    else:
        label, address = number(label_or_address, "a label", MAX_LABEL), ""
    with controller(api) as client:
        wanted = client.flows(counters=True, unlabelled=True, label=label, address=address)
        if not wanted:
            raise fail(f"no flow has {label_or_address}; `fcn flows list` shows all")
        counters = None if as_json else client.last_counters()
        tables.show_flow_details(out, wanted, counters, as_json=as_json)


@flows_app.command("add")
def flows_add(
    vrf: Vrf,
    src: Source,
    dst: Destination,
    dest_qp: DestQp,
    source_qp: Annotated[str, typer.Argument(help="Queue pair that sends the flow.")],
    timeout: Annotated[
        str | None, typer.Option(help="Idle time after which the label is released, or 'never'.")
    ] = None,
    api: Api = DEFAULT_ENDPOINT,
    as_json: Json = False,
) -> None:
    """Register a flow whose source QP cannot be learned."""
    key = _key(vrf, src, dst, dest_qp)
    microseconds = _timeout(timeout)
    with controller(api) as client:
        response = client.add_flow(key, queue_pair(source_qp), microseconds)
        tables.show_flow_details(out, [response.flow], as_json=as_json)
        if not response.written:
            err.print(f"{response.flow.node} is away; the flow is written when it reconnects")
        if not response.lasting:
            err.print("only the switch keeps it: the controller's file has no `state`")


@flows_app.command("load")
def flows_load(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV without a head: VRF, source, destination, destination QP, source QP, and "
            "perhaps the idle time.",
            exists=True,
            dir_okay=False,
        ),
    ],
    api: Api = DEFAULT_ENDPOINT,
) -> None:
    """Register the flows of a file; those that are refused are told, with their lines, a
    row of them that have one reason once."""
    rows = _rows(file)
    registered, refused, away, lasting = 0, 0, set[str](), True
    with controller(api) as client:
        try:
            for first in range(0, len(rows), LOADED):
                some = rows[first : first + LOADED]
                response = client.add_flows(row for _, row in some)
                # Rows behind each other keep their distance to their places among the refused.
                told = (
                    (each.reason, each.index - place, some[each.index][0])
                    for place, each in enumerate(response.refused)
                )
                for (reason, _), alike in groupby(told, itemgetter(0, 1)):
                    lines = [line for *_, line in alike]
                    where = f"lines {lines[0]} to {lines[-1]}" if lines[1:] else f"line {lines[0]}"
                    say(f"{file}, {where}: {reason}", err)
                refused += len(response.refused)
                registered += len(some) - len(response.refused)
                away |= set(response.away)
                lasting = response.lasting
        finally:
            # Also where the controller ends meanwhile.
            out.print(f"{registered} flows registered")
    if away:
        err.print(f"{', '.join(sorted(away))} away; the flows are written on reconnection")
    if not lasting:
        err.print("only the switches keep them: the controller's file has no `state`")
    if refused:
        raise typer.Exit(EXIT_FAILED)


@flows_app.command("del")
def flows_del(
    vrf: Vrf, src: Source, dst: Destination, dest_qp: DestQp, api: Api = DEFAULT_ENDPOINT
) -> None:
    """Delete a flow and release its label."""
    with controller(api) as client:
        client.delete_flow(_key(vrf, src, dst, dest_qp))


@flows_app.command("program")
def flows_program(
    folder: Annotated[Path, typer.Argument(help="Where it is written.", file_okay=False)],
    flows: Annotated[int, typer.Option(help="Flows of each IP version.", min=1, max=1 << 20)],
    profile: Annotated[str, typer.Option(help=f"One of {_PROFILES}.")] = LEAST,
) -> None:
    """Write the program of a PE with room for so many flows, for `program` of a node."""
    from fcn.contract.pipeline import load_pipeline
    from fcn.contract.roomier import with_flow_tables

    if profile not in PROFILES:
        raise typer.BadParameter(f"there is no profile {profile!r}; there are {_PROFILES}")
    with ended_by(PipelineError, OSError):
        with_flow_tables(load_pipeline("pe", profile=profile), flows, folder)


@mistyped()
def _address(text: str) -> Address:
    return address_of(text)


@mistyped()
def _timeout(text: str | None) -> int | None:
    if not text:
        return None
    return 0 if text == "never" else parse_duration(text)


def _rows(file: Path) -> list[tuple[int, tuple[FlowKey, int, int | None]]]:
    """The flows of a file, with their lines."""
    try:
        with file.open(newline="", encoding="utf-8-sig") as text:
            reader = csv.reader(text)
            try:
                return [(reader.line_num, _row(row)) for row in reader if row]
            except (typer.BadParameter, csv.Error) as error:
                reason = error.message if isinstance(error, typer.BadParameter) else str(error)
                raise fail(f"{file}, line {reader.line_num}: {reason}") from None
    except UnicodeDecodeError as error:
        raise fail(f"{file}: not UTF-8 ({error.reason}); is it a CSV file?") from None
    except OSError as error:
        raise fail(f"cannot read {file}: {error.strerror}") from None


def _row(row: list[str]) -> tuple[FlowKey, int, int | None]:
    """Raises typer.BadParameter."""
    try:
        vrf, src, dst, dest_qp, source_qp, *rest = (word.strip() for word in row)
        (timeout,) = rest or [""]
    except ValueError:
        raise typer.BadParameter(f"{len(row)} fields, not 5 or 6") from None
    return _key(vrf, src, dst, dest_qp), queue_pair(source_qp), _timeout(timeout)


def _key(vrf: str, src: str, dst: str, dest_qp: str) -> FlowKey:
    return FlowKey(vrf, _address(src), _address(dst), queue_pair(dest_qp))
