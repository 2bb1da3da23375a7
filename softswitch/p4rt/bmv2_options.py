"""Options of simple_switch_grpc's command line that mean nothing here, or cannot be done."""

import argparse
from pathlib import Path

NAME = "simple_switch_grpc"

_NO_FRAMES = "frames come from the interfaces of -i only"
_NO_THRIFT = "there is no Thrift server; P4Runtime and its traffic manager service take its place"
_NO_PACKET_LOG = "nothing is logged for each packet; --pcap DIR keeps the packets"
_NO_DEBUGGER = "there is no debugger"
_NO_LIMIT = "groups and replicas have no limit of their own"

IGNORED = {
    "--thrift-port": _NO_THRIFT,
    "--nanolog": _NO_PACKET_LOG,
    "--dump-packet-data": _NO_PACKET_LOG,
    "--log-file-max-size": _NO_PACKET_LOG,
    "--log-file-max-files": _NO_PACKET_LOG,
    "--log-flush": "every line of the log is written at once",
    "--notifications-addr": "notifications are P4Runtime's, on its stream",
    "--debugger": _NO_DEBUGGER,
    "--debugger-addr": _NO_DEBUGGER,
    "--max-port-count": "ports are 0 to 511",
    "--disable-swap": "a pipeline is replaced by P4Runtime only",
    "--max-mc-groups": _NO_LIMIT,
    "--max-l1-entries": _NO_LIMIT,
    "--max-l2-entries": _NO_LIMIT,
}
"""Accepted; the reason why nothing comes of it is logged."""

_REFUSED = {
    "--use-files": _NO_FRAMES,
    "--packet-in": _NO_FRAMES,
    "--dp-grpc-server-addr": _NO_FRAMES,
    "--restore-state": "state is written by P4Runtime only",
    "--load-modules": "extern types of libraries are not supported",
}
_FLAGS = ("--log-flush", "--debugger", "--disable-swap")
_TARGET = (
    "--disable-swap",
    "--max-mc-groups",
    "--max-l1-entries",
    "--max-l2-entries",
    "--dp-grpc-server-addr",
    "--load-modules",
)


class _Ignore(argparse.Action):
    """Accepts an option and remembers its name."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        namespace.ignored = [*namespace.ignored, self.option_strings[0]]


class _Refuse(argparse.Action):
    """Ends the program with the reason."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        name = self.option_strings[0]
        parser.error(f"{name} cannot be done: {_REFUSED[name]}; leave it out")


def add_options(parser: argparse.ArgumentParser, *, target: bool) -> None:
    """Add those before `--`, or the target's behind it."""
    parser.set_defaults(ignored=[])
    for name in (*IGNORED, *_REFUSED):
        if (name in _TARGET) == target:
            parser.add_argument(
                name,
                nargs=0 if name in _FLAGS else None,
                action=_Ignore if name in IGNORED else _Refuse,
                help=argparse.SUPPRESS,
            )


def add_tls(parser: argparse.ArgumentParser) -> None:
    """Add its options of TLS, which tls_files() reads."""
    parser.add_argument(
        "--grpc-server-ssl",
        action="store_true",
        help="as simple_switch_grpc: speak TLS, with the files of --grpc-server-cert and -key",
    )
    for name in ("cert", "key", "cacert"):
        parser.add_argument(f"--grpc-server-{name}", type=Path, help=argparse.SUPPRESS)
    parser.add_argument(
        "--grpc-server-with-client-auth",
        action="store_true",
        help="as simple_switch_grpc: ask clients for a certificate signed by --grpc-server-cacert",
    )


def tls_files(
    parser: argparse.ArgumentParser, target: argparse.Namespace, warnings: list[str]
) -> tuple[Path, Path, Path | None] | None:
    """Certificate, key and, where clients need a certificate, the authority's, as its options name
    them; None without --grpc-server-ssl. What is left out of account is added to `warnings`."""
    files = target.grpc_server_cert, target.grpc_server_key, target.grpc_server_cacert
    certificate, key, authority = files
    if not target.grpc_server_ssl:
        if any(files) or target.grpc_server_with_client_auth:
            warnings.append("without --grpc-server-ssl no other option of TLS is looked at")
        return None
    if target.certificate or target.key or target.ca:
        parser.error("--certificate, --key and --ca, or --grpc-server-ssl and its files: not both")
    for name, file in (("cert", certificate), ("key", key)):
        if not file:
            parser.error(f"--grpc-server-ssl needs --grpc-server-{name} FILE")
    if not target.grpc_server_with_client_auth:
        if authority:
            warnings.append(
                "--grpc-server-cacert is not looked at: clients need a certificate with "
                "--grpc-server-with-client-auth only"
            )
        return certificate, key, None
    if not authority:
        parser.error("--grpc-server-with-client-auth needs --grpc-server-cacert FILE")
    return certificate, key, authority
