"""The networks that come with the project, by name, and any other by the file that describes it."""

from functools import lru_cache
from pathlib import Path

from fcn.controller.config.document import DocumentError, read_text
from fcn.topologies.description import EXAMPLE, NETWORKS, parse_topology
from fcn.topologies.model import Topology

CATALOG = {file.stem: file for file in sorted(NETWORKS.glob("*.yaml")) if file != EXAMPLE}


class NetworkError(Exception):
    """There is no such network, or its description is wrong; the message says what to do."""


def network(name: str, hosts: int | None = None) -> Topology:
    """A network of the catalog, or the one described in the YAML file `name`.

    hosts: number of hosts of each data centre instead of the one in the file. Raises NetworkError.
    """
    return described(description(name), name, hosts)


def description(name: str) -> str:
    """The YAML of a network of the catalog, or of the file `name`. Raises NetworkError."""
    try:
        return read_text(CATALOG.get(name, Path(name)))
    except OSError as error:
        raise NetworkError(
            f"no network {name}: {error.strerror}; there are {', '.join(CATALOG)}, or name the "
            f"YAML file of one (see {EXAMPLE})"
        ) from None
    except DocumentError as error:
        raise NetworkError(str(error)) from None


@lru_cache(16)
def described(text: str, name: str, hosts: int | None = None) -> Topology:
    """network() of a name, where its YAML is known. Raises NetworkError."""
    try:
        return parse_topology(text, str(CATALOG.get(name, name)), hosts)
    except DocumentError as error:
        raise NetworkError(str(error)) from None
