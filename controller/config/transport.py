"""Checks how the controller reaches switches, and is reached: TLS, and where plain text may go."""

import grp
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from fcn.contract.certificates import SOON, TlsFileError, expiry, outdated, read_revoked
from fcn.contract.transport import check_certificates, check_key, check_own, is_local, is_socket
from fcn.controller.config.document import KeyPath
from fcn.controller.config.model import Config, Node
from fcn.controller.config.tls import ControllerTls, HostAgents, Tls

Finding = tuple[KeyPath, str]


def check_transport(config: Config) -> Iterator[Finding]:
    """Where the controller listens; what is wrong with TLS, or the lack of it, to each switch; of
    files they share, once."""
    yield from _check_api(config)
    if (metrics := config.metrics) is not None and not is_local(metrics):
        yield from _check_plain(
            config, "metrics", ("metrics",), f"{metrics} is reached over a network", "see"
        )
    if config.page is not None and not is_local(config.page):
        yield (
            ("page",),
            f"{config.page} is reached over a network, and the live page shows all tenants to "
            "whoever is on it; write a loopback address, and use ssh -L from another machine",
        )
    if config.tls is not None:
        yield from _check_server(config.tls, ("tls",))
    if config.host_agents is not None:
        yield from _check_server(config.host_agents, ("host_agents",))
    if config.audit is not None and not Path(config.audit).parent.is_dir():
        yield ("audit",), f"there is no folder {Path(config.audit).parent}; make it"
    found: dict[Finding, None] = {}
    for name, node in config.nodes.items():
        for finding in _check_node(config, name, node):
            found[finding] = None
    yield from found


def expiry_notes(config: Config) -> list[tuple[str, str]]:
    """Files of a configuration that is valid, and for how long they are still of use."""
    notes: dict[str, str] = {}
    for where, file in tls_files(config):
        left = expiry(Path(file)) - datetime.now(UTC)
        if left < SOON:
            notes.setdefault(where, f"{file} expires in {left.days} days; renew it")
    for key, settings in (("tls", config.tls), ("host_agents", config.host_agents)):
        if settings is not None and settings.crl is not None and outdated(Path(settings.crl)):
            notes[f"{key}.crl"] = f"{settings.crl} is out of date, and used all the same"
    return list(notes.items())


def expiries(config: Config) -> dict[str, float]:
    """When the certificates that a configuration names expire, by file, in seconds since the epoch;
    without those that cannot be read."""
    found = {}
    for _, file in tls_files(config):
        with suppress(TlsFileError):
            found[file] = expiry(Path(file)).timestamp()
    return found


def tls_files(config: Config) -> Iterator[tuple[str, str]]:
    """The certificates that a configuration names, with the key that names them."""
    for key, settings in (("tls", config.tls), ("host_agents", config.host_agents)):
        if settings is not None:
            yield f"{key}.certificate", settings.certificate
            yield f"{key}.ca", settings.ca
    for name, node in config.nodes.items():
        tls = config.tls_of(node)
        for key in ("certificate", "ca"):
            if tls is not None and (file := getattr(tls, key)) is not None:
                shared = config.switch_tls is not None and getattr(config.switch_tls, key) == file
                yield f"switch_tls.{key}" if shared else f"nodes.{name}.tls.{key}", file


def _check_api(config: Config) -> Iterator[Finding]:
    controllers = config.controllers or {}
    if controllers and "api" in config.model_fields_set:
        yield ("api",), "each controller has the address that `controllers` names; leave this out"
    addresses = Counter(controllers.values())
    for name, address in controllers.items():
        if addresses[address] > 1:
            yield ("controllers", name), f"{address} is the address of another one, too"
    listening: dict[KeyPath, str] = {
        ("controllers", name): each for name, each in controllers.items()
    }
    listening = listening or {("api",): config.api}
    over_tcp = {path: each for path, each in listening.items() if not is_socket(each)}
    for path, address in over_tcp.items():
        whose = "every user of this machine" if is_local(address) else "whoever is on it"
        where = "over TCP" if is_local(address) else "over a network"
        yield from _check_plain(
            config, "api", path, f"{address} is reached {where}", "control", whose
        )
    if controllers and over_tcp and config.tls is not None and config.follow_tls is None:
        yield (
            ("controllers",),
            "over TCP the leader wants a certificate of whoever follows it: name a folder as for "
            "`fcn --tls` with follow_tls",
        )
    if config.follow_tls is not None:
        yield from _check_follower(Path(config.follow_tls))
    if config.api_group is None:
        return
    if len(over_tcp) == len(listening):
        yield ("api_group",), f"it is for a Unix socket, and api is {', '.join(listening.values())}"
        return
    try:
        grp.getgrnam(config.api_group)
    except KeyError:
        yield ("api_group",), f"there is no group {config.api_group} on this machine"


def _check_follower(folder: Path) -> Iterator[Finding]:
    certificate, key, ca = (folder / f"{name}.pem" for name in ("certificate", "key", "ca"))
    path: KeyPath = ("follow_tls",)
    yield from _problem(path, check_certificates, ca)
    wrong = list(_problem(path, check_own, certificate))
    yield from wrong or _problem(path, check_key, certificate, key)


def _check_plain(
    config: Config,
    listener: str,
    path: KeyPath,
    reached: str,
    can: str,
    whose: str = "whoever is on it",
) -> Iterator[Finding]:
    """Over TCP, where others are, there has to be TLS, or a word that there need not be."""
    if config.tls is None and listener not in config.insecure:
        instead = "write unix:/run/fcn/api, " if listener == "api" else ""
        yield (
            path,
            f"{reached}, in plain text and without authentication: {whose} could {can} the domain; "
            f"{instead}give tls, or insecure: [{listener}] if you trust them",
        )


def _check_server(settings: ControllerTls | HostAgents, path: KeyPath) -> Iterator[Finding]:
    files = settings.files
    assert files.ca is not None
    lacking = list(_problem((*path, "ca"), check_certificates, files.ca))
    yield from lacking
    wrong = list(_problem((*path, "certificate"), check_own, files.certificate))
    yield from wrong or _problem((*path, "key"), check_key, files.certificate, files.key)
    if files.crl is not None and not lacking:
        yield from _problem((*path, "crl"), read_revoked, files.crl, files.ca)


def _check_node(config: Config, name: str, node: Node) -> Iterator[Finding]:
    path: KeyPath = ("nodes", name)
    if node.insecure and node.tls is not None:
        yield (*path, "insecure"), "the node has tls; leave one of them out"
        return
    tls = config.tls_of(node)
    if tls is not None:
        yield from _check_files(tls, config.switch_tls or Tls(), (*path, "tls"))
    elif not node.insecure and not is_local(node.grpc):
        yield (
            (*path, "grpc"),
            f"{node.grpc} is reached over a network, and whoever is on it could control the "
            "switch: give tls (or switch_tls for all nodes), or insecure: true if you trust it",
        )


def _check_files(tls: Tls, shared: Tls, own: KeyPath) -> Iterator[Finding]:
    """`own` is the path of the node's part; what it does not have is of the network's."""

    def path(key: str) -> KeyPath:
        of_network = getattr(tls, key) == getattr(shared, key) is not None
        return ("switch_tls", key) if of_network else (*own, key)

    if tls.ca is None:
        yield path("ca"), "name the CA of the switch's certificate with ca"
    else:
        yield from _problem(path("ca"), check_certificates, Path(tls.ca))
    if tls.certificate is None and tls.key is None:
        return
    if tls.certificate is None or tls.key is None:
        given, lacking = ("key", "certificate") if tls.key else ("certificate", "key")
        yield path(given), f"the controller's {given} needs its {lacking}, too"
        return
    wrong = list(_problem(path("certificate"), check_own, Path(tls.certificate)))
    yield from wrong or _problem(path("key"), check_key, Path(tls.certificate), Path(tls.key))


def _problem(path: KeyPath, check: Callable[..., object], *files: Path) -> Iterator[Finding]:
    try:
        check(*files)
    except TlsFileError as error:
        yield path, str(error)
