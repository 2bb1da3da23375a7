"""Command line of fcn-softswitch, in the style of simple_switch_grpc.

Switch options and the program come first, target options after `--`, so that one argument list
starts either of them. bmv2_options.py has those of simple_switch_grpc that do nothing here.
"""

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from fcn.contract.units import NANOSECONDS
from fcn.contract.version import fcn_version
from fcn.softswitch.api import PortQueue
from fcn.softswitch.p4rt import bmv2_options
from fcn.softswitch.p4rt.transport import Transport

LOG_LEVELS = ("trace", "debug", "info", "warn", "error", "off")
_JSON_VERSION = "2.23"
"""Of BMv2's JSON, as p4c writes it."""
_RATE_SUFFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}
_MAX_PORT = 511
_MAX_QUEUES = 8
"""SW_QUEUES of the engine."""
_MAX_DEVICE_ID = (1 << 64) - 1
_MAX_SETTING = {"depth": (1 << 32) - 1, "rate-pps": (1 << 63) - 1, "rate-bps": (1 << 63) - 1}
_MAX_DELAY_NS = 3_600 * 10**9
"""An hour; the longest paths, of satellites, take part of a second."""
_ADDRESS = re.compile(r"unix:.+|.+:(\d{1,5})", re.ASCII)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Options:
    """What to run: ports by number, the program (None waits for a controller) and the server."""

    device_id: int
    interfaces: Mapping[int, str]
    program: Path | None
    p4info: Path | None
    queues: Mapping[int, PortQueue]
    log_level: str
    log_file: Path | None
    log_console: bool
    pcap: Path | None
    coverage: Path | None
    transport: Transport
    user: str | None
    cpu_port: int
    drop_port: int
    priority_queues: int
    ignored: tuple[str, ...]
    warnings: tuple[str, ...]


def parse_options(argv: Sequence[str], *, as_bmv2: bool = False) -> Options:
    """Read the arguments; SystemExit with a message on stderr for what is wrong. `as_bmv2`: called
    by the name of simple_switch_grpc, which listens where it is told to, with TLS or without."""
    switch_args, target_args = _split(argv)
    parser, target_parser = _parser(), _target_parser()
    warnings: list[str] = []
    given = parser.parse_args(switch_args)
    target = target_parser.parse_args(target_args)
    if given.program is None and not given.no_p4:
        parser.error(
            "give a program (the .json of p4c-bm2-ss), or --no-p4 to wait for a controller"
        )
    if given.program is not None and given.no_p4:
        warnings.append(f"{given.program} is not read, because of --no-p4")
        given.program = None
    if given.log_console and given.log_file is not None:
        parser.error("the log goes either to --log-file or to --log-console")
    if given.program is None and given.p4info is not None:
        parser.error("--p4info belongs to a program; give its .json too")
    interfaces = _unique(parser, "-i", given.interface)
    queues = _unique(parser, "--queue", given.queue)
    for port in queues:
        if port not in interfaces:
            parser.error(f"--queue {port}: there is no -i {port}@INTERFACE")
    names = list(interfaces.values())
    for name in names:
        if names.count(name) > 1:
            parser.error(f"-i: interface {name} is attached to two ports")
    if target.cpu_port == target.drop_port:
        target_parser.error(f"port {target.cpu_port} is both CPU port and drop port")
    for name, port in (("cpu", target.cpu_port), ("drop", target.drop_port)):
        if port in interfaces:
            parser.error(f"port {port} is the {name} port; attach {interfaces[port]} elsewhere")
    files = bmv2_options.tls_files(target_parser, target, warnings)
    certificate, key, ca = files or (target.certificate, target.key, target.ca)
    return Options(
        device_id=given.device_id,
        interfaces=interfaces,
        program=given.program,
        p4info=given.p4info,
        queues=queues,
        log_level=given.log_level,
        log_file=given.log_file,
        log_console=given.log_console,
        pcap=given.pcap,
        coverage=given.coverage,
        transport=Transport(
            target.grpc_server_addr,
            certificate,
            key,
            ca,
            as_bmv2 or given.insecure or target.insecure,
            target.crl,
        ),
        user=given.user,
        cpu_port=target.cpu_port,
        drop_port=target.drop_port,
        priority_queues=target.priority_queues,
        ignored=(*given.ignored, *target.ignored),
        warnings=tuple(warnings),
    )


def parse_interface(text: str) -> tuple[int, str]:
    """PORT@INTERFACE; ValueError otherwise."""
    match = re.fullmatch(r"(\d+)@(.+)", text)
    if match is None or int(match[1]) > _MAX_PORT:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not PORT@INTERFACE with a port of 0..{_MAX_PORT}, such as 1@veth0"
        )
    return int(match[1]), match[2]


def parse_queue(text: str) -> tuple[int, PortQueue]:
    """PORT:depth=PACKETS,rate-pps=N[k|M|G],rate-bps=N[k|M|G],delay=N(ns|us|ms|s), any of them."""
    port, _, settings = text.partition(":")
    if not port.isdecimal() or not settings:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not PORT:SETTING=VALUE,..., such as 2:depth=64,rate-bps=10M,delay=5ms"
        )
    values: dict[str, int] = {}
    for setting in settings.split(","):
        name, _, value = setting.partition("=")
        match name:
            case "depth":
                values["depth"] = _number(setting, value, {"": 1})
            case "rate-pps" | "rate-bps":
                values[name.replace("-", "_")] = _number(setting, value, _RATE_SUFFIXES)
            case "delay":
                values["delay_ns"] = _number(setting, value, NANOSECONDS)
            case _:
                raise argparse.ArgumentTypeError(
                    f"{name!r} is not a queue setting (depth, rate-pps, rate-bps, delay)"
                )
    if values.get("delay_ns", 0) > _MAX_DELAY_NS:
        raise argparse.ArgumentTypeError(f"{text!r}: a delay is an hour at most")
    for name, maximum in _MAX_SETTING.items():
        if values.get(name.replace("-", "_"), 0) > maximum:
            raise argparse.ArgumentTypeError(f"{text!r}: {name} is {maximum} at most")
    if 0 in (values.get("depth"), values.get("rate_pps"), values.get("rate_bps")):
        raise argparse.ArgumentTypeError(f"{text!r}: depths and rates must be at least 1")
    return int(port), PortQueue(**values)


def _between(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,20}", text) or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number of {low}..{high}")
        return int(text)

    return parse


def _address(text: str) -> str:
    found = _ADDRESS.fullmatch(text)
    if found is None or int(found[1] or 0) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no HOST:PORT or unix:PATH")
    return text


def _number(setting: str, text: str, units: Mapping[str, int]) -> int:
    match = re.fullmatch(r"(\d+)([A-Za-z]*)", text)
    if match is None or match[2] not in units:
        wanted = ", ".join(unit or "no unit" for unit in units)
        raise argparse.ArgumentTypeError(f"{setting!r} needs a whole number with {wanted}")
    return int(match[1]) * units[match[2]]


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    arguments = list(argv)
    if "--" not in arguments:
        return arguments, []
    cut = arguments.index("--")
    return arguments[:cut], arguments[cut + 1 :]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fcn-softswitch",
        description="A P4 switch: runs BMv2 JSON natively and serves P4Runtime.",
        epilog="Target options follow after --: see fcn-softswitch -- --help",
        allow_abbrev=False,
    )
    parser.add_argument("program", nargs="?", type=Path, help="JSON of p4c-bm2-ss to start with")
    parser.add_argument("--p4info", type=Path, help="its P4Info (default: beside the JSON)")
    parser.add_argument("--no-p4", action="store_true", help="wait for a controller's pipeline")
    device_id = _between(0, _MAX_DEVICE_ID)
    parser.add_argument("--device-id", type=device_id, default=0, metavar="N", help="default 0")
    parser.add_argument(
        "-i",
        "--interface",
        action="append",
        default=[],
        type=parse_interface,
        metavar="PORT@INTERFACE",
        help="attach an interface; repeat for more",
    )
    parser.add_argument(
        "--queue",
        action="append",
        default=[],
        type=parse_queue,
        metavar="PORT:SETTING=VALUE,...",
        help="depth=PACKETS, rate-pps=N, rate-bps=N (k, M, G), delay=N (us, ms) of a port",
    )
    parser.add_argument(
        "--user",
        metavar="NAME",
        help="become NAME once ports are open (default: nobody when root; root: stay root)",
    )
    parser.add_argument("-L", "--log-level", choices=LOG_LEVELS, default="info")
    parser.add_argument(
        "--log-file",
        type=lambda name: Path(f"{name}.txt"),
        metavar="FILE",
        help="log to FILE.txt instead of to stderr",
    )
    parser.add_argument(
        "--log-console", action="store_true", help="log to stdout instead of to stderr"
    )
    parser.add_argument(
        "-v", "--version", action="version", version=f"fcn-softswitch {fcn_version()}"
    )
    parser.add_argument(
        "--json-version",
        action="version",
        version=_JSON_VERSION,
        help="print the version of BMv2's JSON that is understood",
    )
    parser.add_argument(
        "--pcap",
        nargs="?",
        type=Path,
        const=Path(),
        metavar="DIR",
        help="keep the frames of every interface in DIR (default: this folder)",
    )
    parser.add_argument(
        "--coverage",
        type=Path,
        metavar="FILE",
        help="note which parts of the programs packets passed; written at the end",
    )
    _add_insecure(parser)
    bmv2_options.add_options(parser, target=False)
    return parser


def _target_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fcn-softswitch ... --", allow_abbrev=False)
    parser.add_argument(
        "--grpc-server-addr",
        type=_address,
        default="127.0.0.1:9559",
        metavar="HOST:PORT",
        help="default: %(default)s",
    )
    for name, what in (
        ("--certificate", "PEM; with --key the server speaks TLS"),
        ("--key", "PEM; key of the certificate"),
        ("--ca", "PEM; clients need a certificate signed by it (mutual TLS)"),
        ("--crl", "PEM; list of certificates of that CA that are revoked"),
    ):
        parser.add_argument(name, type=Path, metavar="FILE", help=what)
    bmv2_options.add_tls(parser)
    _add_insecure(parser)
    port, queues = _between(0, _MAX_PORT), _between(1, _MAX_QUEUES)
    parser.add_argument("--cpu-port", type=port, default=510, metavar="N", help="default 510")
    parser.add_argument("--drop-port", type=port, default=511, metavar="N", help="default 511")
    parser.add_argument("--priority-queues", type=queues, default=8, metavar="N", help="default 8")
    bmv2_options.add_options(parser, target=True)
    return parser


def _add_insecure(parser: argparse.ArgumentParser) -> None:
    """A target option; taken before `--` too, for callers that may leave target options out."""
    parser.add_argument(
        "--insecure",
        action="store_true",
        help="listen without TLS where other machines can connect",
    )


def _unique(
    parser: argparse.ArgumentParser, what: str, pairs: Sequence[tuple[int, _T]]
) -> dict[int, _T]:
    found: dict[int, _T] = {}
    for port, value in pairs:
        if port in found:
            parser.error(f"{what}: port {port} is given twice")
        found[port] = value
    return found
