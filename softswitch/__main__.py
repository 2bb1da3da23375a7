"""The command fcn-softswitch: a P4Runtime switch on network interfaces."""

import asyncio

# asyncio.to_thread() imports it when it is called: by then the folder may be closed to this user.
import concurrent.futures.thread  # noqa: F401
import json
import logging
import signal
import socket
import sys
from pathlib import Path
from typing import TextIO

from finsy.proto import p4r
from google.protobuf import text_format

from fcn.contract.certificates import TlsFileError
from fcn.contract.garbage_collection import collect_often
from fcn.softswitch.engine.build import prepare
from fcn.softswitch.p4rt import bmv2_options
from fcn.softswitch.p4rt.backend import RealBackend
from fcn.softswitch.p4rt.captures import CaptureError, open_captures
from fcn.softswitch.p4rt.device import Device
from fcn.softswitch.p4rt.errors import P4RuntimeError
from fcn.softswitch.p4rt.options import Options, parse_options
from fcn.softswitch.p4rt.ports import Ports
from fcn.softswitch.p4rt.server import open_server
from fcn.softswitch.p4rt.transport import TransportError
from fcn.softswitch.privileges import PrivilegeError, drop_privileges

_LOG = logging.getLogger("softswitch")
_LOG_LEVELS = {
    "trace": logging.DEBUG,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "off": logging.CRITICAL + 1,
}
_P4INFO_SUFFIXES = (".p4info.txtpb", ".p4.p4info.txtpb")


class StartError(Exception):
    """The switch cannot start; the message says what to do."""


class _LogFile(logging.FileHandler):
    """A log whose disk may become full: that is said once, not with a traceback for each record,
    which whoever started the switch might not read, so that it would wait."""

    _told = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """What could not be written is lost."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._told:
            self._told = True
            sys.stderr.write(
                f"fcn-softswitch: cannot write the log {self.baseFilename}: {error.strerror}; "
                "until there is room its records are lost\n"
            )


def main() -> None:
    """Run until SIGINT or SIGTERM; exit status 1 and one line on stderr when it cannot start."""
    as_bmv2 = Path(sys.argv[0]).name == bmv2_options.NAME
    options = parse_options(sys.argv[1:], as_bmv2=as_bmv2)
    try:
        _configure_logs(options)
        asyncio.run(run(options))
    except (StartError, TransportError, TlsFileError, PrivilegeError, CaptureError) as error:
        sys.exit(f"fcn-softswitch: {error}")


def _configure_logs(options: Options) -> None:
    try:
        handler = (
            _LogFile(options.log_file)
            if options.log_file is not None
            else logging.StreamHandler(sys.stdout if options.log_console else sys.stderr)
        )
    except OSError as error:
        raise StartError(f"cannot write the log {options.log_file}: {error.strerror}") from error
    logging.basicConfig(
        level=_LOG_LEVELS[options.log_level],
        handlers=[handler],
        format="%(asctime)s %(levelname)s %(name)s %(message)s",
    )


async def run(options: Options) -> None:
    """Serve until SIGINT or SIGTERM. Raises StartError, ServerError, PrivilegeError or
    CaptureError."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    config = None if options.program is None else _read_program(options.program, options.p4info)
    for name in options.ignored:
        _LOG.info("%s is ignored: %s", name, bmv2_options.IGNORED[name])
    for warning in (*options.warnings, *options.transport.warnings()):
        _LOG.warning(warning)
    _check_interfaces(options)
    coverage = None if options.coverage is None else _open_coverage(options.coverage)
    prepare()
    ports = Ports(options.interfaces, options.queues)
    backend = RealBackend(
        options.interfaces,
        cpu_port=options.cpu_port,
        drop_port=options.drop_port,
        queues=options.priority_queues,
        captures={} if options.pcap is None else open_captures(options.pcap, options.interfaces),
        points=coverage is not None,
    )
    device = Device(options.device_id, backend, ports.attach, ports.on_status)
    server, port = open_server(device, ports, options.transport)
    try:
        drop_privileges(options.user)
        if config is not None:
            try:
                await device.preload(config)
            except P4RuntimeError as error:
                raise StartError(f"{options.program}: {error.message}") from error
        await server.start()
        listen = options.transport.address
        host = listen.rpartition(":")[0]
        address = listen if host == "unix" else f"{host}:{port}"
        print(
            f"fcn-softswitch: device {options.device_id} listens for P4Runtime on {address}, "
            f"ports {_describe(options)}, program {options.program or 'none yet'}",
            flush=True,
        )
        collector = asyncio.create_task(collect_often())
        await stop.wait()
        collector.cancel()
    finally:
        await server.stop(None)
        await device.close()
        if coverage is not None:
            with coverage:
                json.dump(backend.reached(), coverage, indent=1)


def _open_coverage(file: Path) -> TextIO:
    """Opened early: later this process may be a user who cannot."""
    try:
        return file.open("w")
    except OSError as error:
        raise StartError(f"cannot write {file}: {error.strerror}") from error


def _check_interfaces(options: Options) -> None:
    for port, name in options.interfaces.items():
        try:
            socket.if_nametoindex(name)
        except OSError as error:
            raise StartError(
                f"interface {name} of port {port} does not exist here; `ip link` lists those that "
                f"do, `ip link add {name} type veth peer name {name}p` makes one"
            ) from error


def _read_program(program: Path, p4info: Path | None) -> p4r.ForwardingPipelineConfig:
    config = p4r.ForwardingPipelineConfig()
    try:
        config.p4_device_config = program.read_bytes()
    except OSError as error:
        raise StartError(f"cannot read the program: {error}") from error
    info = p4info or _info_beside(program)
    if info is None:
        _LOG.info("no P4Info beside %s: a controller has to send one", program)
        return config
    config.p4info.SetInParent()
    try:
        text_format.Parse(info.read_text(), config.p4info)
    except OSError as error:
        raise StartError(f"cannot read the P4Info: {error}; name it with --p4info FILE") from error
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise StartError(f"{info} is not a P4Info in text format: {error}") from error
    return config


def _info_beside(program: Path) -> Path | None:
    """X.p4info.txtpb or X.p4.p4info.txtpb of X.json, if there is one."""
    candidates = (program.with_suffix(suffix) for suffix in _P4INFO_SUFFIXES)
    return next((path for path in candidates if path.exists()), None)


def _describe(options: Options) -> str:
    return " ".join(f"{n}@{name}" for n, name in sorted(options.interfaces.items())) or "none"


if __name__ == "__main__":
    main()
