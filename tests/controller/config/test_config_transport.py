"""TLS to switches in the configuration, and where plain text may go."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from fcn.controller.config import ConfigError, parse_config
from fcn.topologies.interop.certificates import Authority


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def tls(authority: Authority) -> dict[str, str]:
    own = authority.sign("controller")
    return {"ca": str(authority.ca), "certificate": str(own.certificate), "key": str(own.key)}


def _problems(network: dict[str, Any]) -> list[str]:
    try:
        parse_config(yaml.safe_dump(network))
    except ConfigError as error:
        return [f"{problem.where}: {problem.message}" for problem in error.problems]
    return []


def test_plain_text_to_another_machine_is_refused_unless_said(network: dict[str, Any]) -> None:
    node = network["nodes"]["pe1"]
    node["grpc"] = "10.0.0.1:50001"
    (problem,) = _problems(network)
    assert problem.startswith("nodes.pe1.grpc: 10.0.0.1:50001 is reached over a network")
    assert problem.endswith(
        "give tls (or switch_tls for all nodes), or insecure: true if you trust it"
    )
    node["insecure"] = True
    assert _problems(network) == []
    assert parse_config(yaml.safe_dump(network)).nodes["pe1"].insecure


def test_the_network_has_files_for_all_nodes(network: dict[str, Any], tls: dict[str, str]) -> None:
    network["switch_tls"] = tls
    network["nodes"]["pe1"] |= {"grpc": "10.0.0.1:50001", "tls": {"name": "pe1"}}
    network["nodes"]["pe2"]["insecure"] = True
    config = parse_config(yaml.safe_dump(network))
    pe1, p1 = (config.tls_of(config.nodes[name]) for name in ("pe1", "p1"))
    assert pe1 is not None
    assert pe1.model_dump() == {**tls, "name": "pe1"}
    assert p1 is not None
    assert p1.model_dump() == {**tls, "name": None}
    assert config.tls_of(config.nodes["pe2"]) is None


def test_a_node_has_files_of_its_own(network: dict[str, Any], tls: dict[str, str]) -> None:
    network["nodes"]["pe1"]["tls"] = {"ca": tls["ca"]}
    config = parse_config(yaml.safe_dump(network))
    found = config.tls_of(config.nodes["pe1"])
    assert found is not None
    assert found.model_dump(exclude_none=True) == {"ca": tls["ca"]}
    assert config.tls_of(config.nodes["p1"]) is None


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"ca": "/none/ca.pem"}, "switch_tls.ca: cannot read /none/ca.pem: No such file or direct"),
        ({"ca": None}, "name the CA of the switch's certificate with ca"),
        ({"key": None}, "switch_tls.certificate: the controller's certificate needs its key, too"),
        ({"certificate": None}, "switch_tls.key: the controller's key needs its certificate, too"),
        ({"certificate": "/none/c.pem"}, "switch_tls.certificate: cannot read /none/c.pem: No"),
        ({"key": "/none/k"}, "switch_tls.key: cannot read /none/k: No such file or directory"),
        ({"key": "other"}, "switch_tls.key: other is not the key of"),
        ({"certificate": "key"}, "switch_tls.certificate: key has no certificate in PEM"),
    ],
)
def test_what_is_wrong_with_files_is_said_once(
    network: dict[str, Any], tls: dict[str, str], authority: Authority, change: dict[str, Any],
    problem: str,
) -> None:  # fmt: skip
    files = {"other": str(authority.sign("other").key), "key": tls["key"]}
    (key, value), = change.items()  # fmt: skip
    network["switch_tls"] = {**tls, key: files.get(value, value)}
    found = _problems(network)
    for name, file in files.items():
        found = [text.replace(f": {file} ", f": {name} ") for text in found]
    expected = len(network["nodes"]) if value is None and key == "ca" else 1
    assert len(found) == expected, found
    assert all(problem in text for text in found), found


def test_files_of_a_node_are_named_there(network: dict[str, Any], tls: dict[str, str]) -> None:
    network["switch_tls"] = tls
    network["nodes"]["pe1"]["tls"] = {"ca": "/none"}
    assert _problems(network) == ["nodes.pe1.tls.ca: cannot read /none: No such file or directory"]


def test_insecure_with_tls_is_a_contradiction(network: dict[str, Any], tls: dict[str, str]) -> None:
    network["nodes"]["pe1"] |= {"tls": tls, "insecure": True}
    assert _problems(network) == ["nodes.pe1.insecure: the node has tls; leave one of them out"]


@pytest.mark.parametrize(
    ("controllers", "said"),
    [
        ({"a": "unix:/run/a", "b": "127.0.0.1:1"}, []),
        (
            {"a": "unix:/run/a", "b": "unix:/run/a"},
            ["controllers.a: unix:/run/a is", "controllers.b"],
        ),
        (
            {"a": "unix:/run/a", "b": "10.0.0.1:9559"},
            ["controllers.b: 10.0.0.1:9559 is reached over"],
        ),
        ({"a": "unix:/run/a"}, ["controllers: "]),
        ({"a": "unix:/run/a", "b": "127.0.0.1:0"}, ["controllers.b: "]),
    ],
)
def test_controllers(network: dict[str, Any], controllers: dict[str, str], said: list[str]) -> None:
    del network["api"]
    network["controllers"] = controllers
    found = _problems(network)
    assert len(found) == len(said)
    for problem, begin in zip(found, said, strict=True):
        assert problem.startswith(begin)


def test_controllers_say_where_the_api_is(network: dict[str, Any]) -> None:
    network |= {"controllers": {"a": "unix:/run/a", "b": "unix:/run/b"}, "api": "unix:/run/c"}
    (problem,) = _problems(network)
    assert (
        problem == "api: each controller has the address that `controllers` names; leave this out"
    )
