"""`fcn flows`: list, register and delete flows."""

from typing import Annotated

import typer

from fcn.controller.cli import tables
from fcn.controller.cli.common import Api, Json, controller, err, fail, out, queue_pair
from fcn.controller.config.notation import DEFAULT_ENDPOINT, Address, parse_address, parse_duration
from fcn.controller.flows.key import FlowKey

Vrf = Annotated[str, typer.Argument(help="VRF.")]
Source = Annotated[str, typer.Argument(help="Source address of the flow.")]
Destination = Annotated[str, typer.Argument(help="Destination address of the flow.")]
DestQp = Annotated[str, typer.Argument(help="Destination QP, decimal or 0x…")]

flows_app = typer.Typer(help="Flows: labels and queue pairs.", no_args_is_help=True)


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
    with controller(api) as client:
        wanted = [
            flow
            for page in client.flow_pages(counters=True, unlabelled=True)
            for flow in page
            if label_or_address in (flow.key.src, flow.key.dst)
            or (flow.HasField("label") and label_or_address in (hex(flow.label), str(flow.label)))
        ]
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
    microseconds = None
    if timeout is not None:
        try:
            microseconds = 0 if timeout == "never" else parse_duration(timeout)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    with controller(api) as client:
        response = client.add_flow(key, queue_pair(source_qp), microseconds)
        tables.show_flow_details(out, [response.flow], as_json=as_json)
        if not response.written:
            err.print(f"{response.flow.node} is away; the flow is written when it reconnects")
        if not response.lasting:
            err.print("only the switch keeps it: the controller's file has no `state`")


@flows_app.command("del")
def flows_del(
    vrf: Vrf, src: Source, dst: Destination, dest_qp: DestQp, api: Api = DEFAULT_ENDPOINT
) -> None:
    """Delete a flow and release its label."""
    with controller(api) as client:
        client.delete_flow(_key(vrf, src, dst, dest_qp))


def _address(text: str) -> Address:
    try:
        return parse_address(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _key(vrf: str, src: str, dst: str, dest_qp: str) -> FlowKey:
    return FlowKey(vrf, _address(src), _address(dst), queue_pair(dest_qp))
