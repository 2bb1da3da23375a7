"""`python -m fcn.ptf_tests.tofino`: the chip as a P4Runtime switch, with fcn-softswitch's options.

`FCN_TOFINO_MODEL` names the library of the model (docs/tofino.md), which says what chip it is, and
`FCN_TOFINO_LOG` a file to which the model writes what every stage does with every packet.
"""

import asyncio
import logging
import os
import signal
import sys
from pathlib import Path

from fcn.ptf_tests.tofino.backend import ChipBackend
from fcn.ptf_tests.tofino.chip import Chip, ModelError
from fcn.ptf_tests.tofino.program import parse
from fcn.softswitch.api import EngineError
from fcn.softswitch.p4rt.device import Device
from fcn.softswitch.p4rt.options import Options, parse_options
from fcn.softswitch.p4rt.ports import Ports
from fcn.softswitch.p4rt.server import open_server
from fcn.softswitch.p4rt.transport import TransportError

LIBRARY = "FCN_TOFINO_MODEL"
LOG = "FCN_TOFINO_LOG"


def main() -> None:
    """Run until SIGINT or SIGTERM; exit status 1 and a line on stderr when it cannot start."""
    options = parse_options(sys.argv[1:])
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s %(message)s", level="INFO")
    try:
        chip = Chip(Path(os.environ.get(LIBRARY, "libtofinomodel.so")))
        asyncio.run(run(options, chip))
    except (ModelError, EngineError, TransportError) as error:
        sys.exit(f"fcn.ptf_tests.tofino: {error}")
    sys.stdout.flush()
    # The threads of the model have no end of their own.
    os._exit(0)


async def run(options: Options, chip: Chip) -> None:
    """Serve until SIGINT or SIGTERM. Raises EngineError or TransportError."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    log = os.environ.get(LOG)
    backend = ChipBackend(chip, options.interfaces, Path(log) if log else None)
    ports = Ports(options.interfaces, {})
    ports.queues.clear()
    device = Device(options.device_id, backend, ports.attach, ports.on_status, parse=parse)
    server, _ = open_server(device, ports, options.transport)
    await server.start()
    await stop.wait()
    await server.stop(None)
    await device.close()
    backend.end()


if __name__ == "__main__":
    main()
