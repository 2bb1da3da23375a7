"""`fcn host-agent`: reports the queue pairs of a host with RDMA devices to the controllers."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from fcn.contract.certificates import TlsFileError
from fcn.controller.cli.common import ended_by, mistyped
from fcn.controller.config.notation import parse_duration, parse_endpoint
from fcn.controller.logs import LogLevel, configure_logs

SHORTEST_INTERVAL = 0.1
"""Seconds; more reports would keep a processor busy, and the controller refuses them."""


def host_agent(
    controllers: Annotated[
        list[str],
        typer.Argument(
            metavar="CONTROLLER...",
            help="host:port of `host_agents.listen`; of several controllers each.",
        ),
    ],
    certificate: Annotated[
        Path, typer.Option(help="This host's certificate (PEM); it names the host.")
    ],
    key: Annotated[Path, typer.Option(help="Private key of the certificate (PEM).")],
    ca: Annotated[Path, typer.Option(help="CA of the controller's certificate (PEM).")],
    controller_name: Annotated[
        str | None, typer.Option(help="Name in the controller's certificate, if not the host.")
    ] = None,
    interval: Annotated[str, typer.Option(help="Time between reports.")] = "2s",
    log_level: Annotated[LogLevel, typer.Option(help="Least severe to show.")] = LogLevel.INFO,
    log_json: Annotated[bool, typer.Option(help="Logs as JSON lines.")] = False,
) -> None:
    """Report this host's queue pairs, for connections set up without the connection manager."""
    import asyncio

    from fcn.controller.hostagent.agent import AgentError, Credentials, run_agent

    with mistyped():
        for controller in controllers:
            parse_endpoint(controller)
        seconds = parse_duration(interval) / 1e6
        if seconds < SHORTEST_INTERVAL:
            raise ValueError(f"{interval} is too short; reports are {SHORTEST_INTERVAL} s apart")
    configure_logs(log_level, as_json=log_json)
    credentials = Credentials(certificate, key, ca)
    with suppress(KeyboardInterrupt), ended_by(AgentError, TlsFileError):
        asyncio.run(run_agent(controllers, credentials, controller_name, seconds))
