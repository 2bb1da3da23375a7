"""`fcn run`: the controller in the foreground, with a progress display during start."""

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from fcn.contract.certificates import TlsFileError
from fcn.contract.constants import PipelineError
from fcn.contract.garbage_collection import collect_often
from fcn.contract.program import discard_output
from fcn.contract.transport import ServerFiles
from fcn.controller.app import ControlPlane
from fcn.controller.cli.programs import page_missing
from fcn.controller.clock import SYSTEM_CLOCK
from fcn.controller.config import Config, ConfigError
from fcn.controller.config.document import read_again
from fcn.controller.finsy_adapter import FinsyError
from fcn.controller.hostagent.service import AgentServiceError
from fcn.controller.leadership.ids import number_of, run_of
from fcn.controller.leadership.leadership import Leadership
from fcn.controller.logs import LogLevel, configure_logs
from fcn.controller.northbound.audit import AuditError, AuditLog
from fcn.controller.northbound.following import follow
from fcn.controller.northbound.metrics import MetricsError
from fcn.controller.northbound.network import ApplyError
from fcn.controller.northbound.regions import hear
from fcn.controller.northbound.serving import ApiError, serving
from fcn.controller.store import StoreError

LOG = logging.getLogger("fcn")

REFRESH = 0.2


class RunError(Exception):
    """The controller cannot start; the message says why and what to do."""


_REASONS = (
    PipelineError, FinsyError, StoreError, ApiError, AgentServiceError, AuditError, TlsFileError,
    MetricsError, OSError,
)  # fmt: skip
"""Why a controller does not start."""


async def run_controller(
    config: Config, file: Path, log_level: LogLevel, *, log_json: bool, me: str | None = None
) -> None:
    """Run until SIGINT or SIGTERM; SIGHUP: put `file` in force as it is then. `me`: which one of
    `controllers` this is. Raises RunError."""
    configure_logs(log_level, as_json=log_json)
    if config.state is None:
        LOG.warning(
            "the file has no `state`: features, thresholds, reports of paths and flows that are "
            "said by command, and which labels rest, are known until the controller ends"
        )
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _stop, number, stop)
    again = asyncio.Event()
    # nohup has it ignored, so that the terminal may close.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        loop.add_signal_handler(signal.SIGHUP, again.set)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})
    if config.page and (missing := page_missing()):
        raise RunError(f"no live page (`page:` of the configuration): {missing}")
    try:
        while not stop.is_set():
            config = await _lead_or_wait(config, me, file, stop, again)
    except _REASONS as error:
        raise RunError(str(error)) from error


async def _lead_or_wait(
    config: Config, me: str | None, file: Path, stop: asyncio.Event, again: asyncio.Event
) -> Config:
    """Run until it is to stop, or another controller rules in the place of this one, which then
    has to begin anew: what it knows is old. Returns the configuration in force."""
    controllers = config.controllers or {}
    leadership = None
    mine = config.region_of(me)
    here = {name: each for name, each in controllers.items() if config.region_of(name) == mine}
    elsewhere = controllers.keys() - here.keys()
    if me is not None:
        names = ({number_of(name): name for name in part} for part in (here, elsewhere))
        order = list(config.ruled_by(me))
        leadership = Leadership(order, SYSTEM_CLOCK, run_of(number_of(me)), *names)
    plane = ControlPlane(config, leadership=leadership, me=me)
    plane.network.file = file
    async with AsyncExitStack() as stack:
        audit = AuditLog(Path(config.audit) if config.audit else None)
        audit.check()
        tls = config.listener_tls("api")
        endpoint = controllers[me] if me else config.api
        served = serving(plane.network, endpoint, tls=tls, group=config.api_group, audit=audit)
        address = await stack.enter_async_context(served)
        await stack.enter_async_context(plane.running())
        if config.page:
            look = await stack.enter_async_context(_for_page(plane, address, tls, audit))
            await stack.enter_async_context(_page(look, config.page))
        try:
            print(f"fcn controller for {len(plane.nodes)} nodes, API on {address}", flush=True)
        except OSError:
            # As with the log, nobody has to read it.
            discard_output()
        jobs = [_show_progress(plane), collect_often(), _reload(plane, file, again, audit)]
        if me is not None:
            addresses = {number_of(name): each for name, each in here.items() if name != me}
            own = Path(config.follow_tls) if config.follow_tls else None
            jobs.append(follow(plane.leadership, addresses, own, plane.keep))
            for name in elsewhere:
                if mine is not None and (other := config.region_of(name)) is not None:
                    take = partial(plane.hear, other)
                    silent = partial(plane.flows.regions.silent.__setitem__, (other, name))
                    jobs.append(hear(name, controllers[name], own, mine, take, silent))
        others = [asyncio.create_task(job) for job in jobs]
        ends = [asyncio.create_task(event.wait()) for event in (stop, plane.leadership.deposed)]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for job in (*others, *ends):
            job.cancel()
    if not stop.is_set():
        LOG.warning("another controller rules the switches now; this one waits, and begins anew")
    return plane.config


@asynccontextmanager
async def _for_page(
    plane: ControlPlane, api: str, tls: ServerFiles | None, audit: AuditLog
) -> AsyncIterator[str]:
    """Where the page reaches this controller, of which it has no certificate."""
    if tls is None:
        yield api
        return
    with TemporaryDirectory(prefix="fcn-page-") as folder:
        async with serving(plane.network, f"unix:{folder}/api", audit=audit) as address:
            yield address


@asynccontextmanager
async def _page(api: str, listen: str) -> AsyncIterator[None]:
    """The live page in a process of its own, which learning does not wait for, and which ends with
    this one, however that ends."""
    command = ["setpriv", "--pdeathsig", "TERM", sys.executable, "-m", "fcn.page"]
    process = await asyncio.create_subprocess_exec(*command, "--api", api, "--listen", listen)

    async def watch() -> None:
        status = await process.wait()
        LOG.error("the live page ended with status %s; `fcn page` starts it again", status)

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


def _stop(number: signal.Signals, stop: asyncio.Event) -> None:
    LOG.info("stopped by %s", number.name)
    stop.set()


async def _reload(plane: ControlPlane, file: Path, again: asyncio.Event, audit: AuditLog) -> None:
    """Put the file in force whenever it is asked for."""
    while True:
        await again.wait()
        again.clear()
        outcome, detail = "OK", ""
        try:
            audit.check()
            await plane.apply(read_again(file), str(file))
        except ConfigError as error:
            for line in str(error).splitlines():
                LOG.error("%s", line)
            LOG.error("%s is refused; the configuration before stays in force", file)
            outcome, detail = "INVALID_ARGUMENT", str(error).partition("\n")[0]
        except Exception as error:
            known = isinstance(error, (ApplyError, AuditError, PipelineError, StoreError, OSError))
            LOG.error("%s is not in force: %s", file, error, exc_info=None if known else error)
            outcome, detail = "FAILED_PRECONDITION", str(error)
        audit.tell(who="SIGHUP", call="ApplyConfig", file=str(file), outcome=outcome, detail=detail)


async def _show_progress(plane: ControlPlane) -> None:
    """Show a progress bar per switch until all are up, if standard error is a terminal."""
    if not sys.stderr.isatty():
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bars: dict[str, TaskID] = {
            name: progress.add_task(name, total=1, state="") for name in plane.nodes
        }
        while any(not agent.is_up for agent in plane.nodes.values()):
            for name, agent in plane.nodes.items():
                total = max(1, agent.entries)
                done = total - agent.intent.pending
                detail = agent.status.detail or agent.status.state.value
                progress.update(bars[name], total=total, completed=done, state=detail)
            await asyncio.sleep(REFRESH)
