"""Checks how the controller reaches switches, and is reached: TLS, and where plain text may go."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from fcn.contract.transport import TlsFileError, check_certificates, check_key, is_local
from fcn.controller.config.document import KeyPath
from fcn.controller.config.model import Config, Node, Tls

Finding = tuple[KeyPath, str]


def check_transport(config: Config) -> Iterator[Finding]:
    """Where the controller listens; what is wrong with TLS, or the lack of it, to each switch; of
    files they share, once."""
    if not is_local(config.api):
        yield (
            ("api",),
            f"{config.api} is reached over a network, in plain text and without authentication: "
            "whoever is on it could control the domain; write unix:/PATH or a loopback address",
        )
    addresses = Counter((config.controllers or {}).values())
    for name, address in (config.controllers or {}).items():
        if addresses[address] > 1:
            yield ("controllers", name), f"{address} is the address of another one, too"
        elif not is_local(address):
            yield (
                ("controllers", name),
                f"{address} is reached over a network, in plain text and without authentication: "
                "whoever is on it could control the domain; write unix:/PATH or a loopback "
                "address, which ssh -L can lead to another machine",
            )
    if config.controllers and "api" in config.model_fields_set:
        yield ("api",), "each controller has the address that `controllers` names; leave this out"
    if config.page is not None and not is_local(config.page):
        yield (
            ("page",),
            f"{config.page} is reached over a network, and the live page shows all tenants to "
            "whoever is on it; write a loopback address, and use ssh -L from another machine",
        )
    if (agents := config.host_agents) is not None:
        path: KeyPath = ("host_agents",)
        yield from _problem((*path, "ca"), agents.ca)
        wrong = list(_problem((*path, "certificate"), agents.certificate))
        yield from wrong or _problem((*path, "key"), agents.certificate, agents.key)
    found: dict[Finding, None] = {}
    for name, node in config.nodes.items():
        for finding in _check_node(config, name, node):
            found[finding] = None
    yield from found


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
        yield from _problem(path("ca"), tls.ca)
    if tls.certificate is None and tls.key is None:
        return
    if tls.certificate is None or tls.key is None:
        given, lacking = ("key", "certificate") if tls.key else ("certificate", "key")
        yield path(given), f"the controller's {given} needs its {lacking}, too"
        return
    wrong = list(_problem(path("certificate"), tls.certificate))
    yield from wrong or _problem(path("key"), tls.certificate, tls.key)


def _problem(path: KeyPath, certificate: str, key: str | None = None) -> Iterator[Finding]:
    try:
        if key is None:
            check_certificates(Path(certificate))
        else:
            check_key(Path(certificate), Path(key))
    except TlsFileError as error:
        yield path, str(error)
