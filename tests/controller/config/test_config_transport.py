"""TLS to switches in the configuration, and where plain text may go."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from parsing import parsed, problems

from fcn.controller.config.transport import expiries, expiry_notes
from fcn.controller.pki.authority import Usage, new_ca, revocation_list, sign
from fcn.topologies.interop.certificates import Authority

DAY = timedelta(days=1)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def tls(authority: Authority) -> dict[str, str]:
    own = authority.sign("controller")
    return {"ca": str(authority.ca), "certificate": str(own.certificate), "key": str(own.key)}


@pytest.fixture
def listener(authority: Authority) -> dict[str, str]:
    """`tls` of the controller."""
    own = authority.sign("controller")
    return {"ca": str(authority.ca), "certificate": str(own.certificate), "key": str(own.key)}


def _problems(network: dict[str, Any]) -> list[str]:
    return [f"{where}: {message}" for where, message in problems(network)]


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
    assert parsed(network).nodes["pe1"].insecure


def test_the_network_has_files_for_all_nodes(network: dict[str, Any], tls: dict[str, str]) -> None:
    network["switch_tls"] = tls
    network["nodes"]["pe1"] |= {"grpc": "10.0.0.1:50001", "tls": {"name": "pe1"}}
    network["nodes"]["pe2"]["insecure"] = True
    config = parsed(network)
    pe1, p1 = (config.tls_of(config.nodes[name]) for name in ("pe1", "p1"))
    assert pe1 is not None
    assert pe1.model_dump() == {**tls, "name": "pe1"}
    assert p1 is not None
    assert p1.model_dump() == {**tls, "name": None}
    assert config.tls_of(config.nodes["pe2"]) is None


def test_a_node_has_files_of_its_own(network: dict[str, Any], tls: dict[str, str]) -> None:
    network["nodes"]["pe1"]["tls"] = {"ca": tls["ca"]}
    config = parsed(network)
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
    ("key", "address", "reason"),
    [
        ("api", "127.0.0.1:9661", "every user of this machine could control the domain"),
        ("api", "10.0.0.9:9661", "whoever is on it could control the domain"),
        ("metrics", "0.0.0.0:9662", "whoever is on it could see the domain"),
    ],
)
def test_over_tcp_there_is_tls_or_a_word_that_there_need_not_be(
    network: dict[str, Any], listener: dict[str, str], key: str, address: str, reason: str
) -> None:
    del network["insecure"]
    network |= {"api": "unix:/run/fcn/api", key: address}
    (problem,) = _problems(network)
    assert problem.startswith(f"{key}: {address} is reached over ")
    assert reason in problem
    assert problem.endswith(f"give tls, or insecure: [{key}] if you trust them")
    assert _problems(network | {"insecure": [key]}) == []
    assert parsed(network | {"insecure": [key]}).listener_tls("api") is None
    assert _problems(network | {"tls": listener}) == []
    both = network | {"tls": listener, "insecure": ["metrics"]}
    config = parsed(both)
    assert config.listener_tls("metrics") is None
    assert config.listener_tls("api") is not None


def test_the_default_is_a_socket(network: dict[str, Any]) -> None:
    del network["insecure"], network["api"]
    config = parsed(network | {"metrics": "127.0.0.1:9662"})
    assert config.api == "unix:/run/fcn/api"


@pytest.mark.parametrize("section", ["tls", "host_agents"])
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"ca": "/none"}, "ca: cannot read /none: No such file or directory"),
        ({"certificate": "expired"}, "certificate: expired has expired (CN=old, "),
        ({"certificate": "early"}, "certificate: early is not yet valid (CN=new, "),
        ({"key": "other"}, "key: other is not the key of "),
        ({"ca": "expired"}, "ca: expired has expired (CN=old, "),
        ({"crl": "/none"}, "crl: cannot read /none"),
        ({"crl": "strange"}, "crl: strange has a list of CN=strange, which no CA in "),
    ],
)
def test_what_is_wrong_with_own_files_is_found(
    network: dict[str, Any], listener: dict[str, str], tmp_path: Path, section: str,
    change: dict[str, str], problem: str,
) -> None:  # fmt: skip
    ca, now = new_ca("x"), datetime.now(UTC)
    ended = sign(ca, "old", Usage.BOTH, begins=now - 2 * DAY, ends=now - DAY)
    early = sign(ca, "new", Usage.BOTH, begins=now + DAY, ends=now + 2 * DAY)
    made = {
        "expired": ended.certificate_pem,
        "early": early.certificate_pem,
        "other": ended.key_pem,
        "strange": revocation_list(new_ca("strange"), ()),
    }
    for name, octets in made.items():
        (tmp_path / name).write_bytes(octets)
    wrong = {key: str(tmp_path / file) if file in made else file for key, file in change.items()}
    more: dict[str, Any] = {}
    if section == "host_agents":
        hosts = {"gpu-1": {"vrf": "blue", "addresses": ["10.1.0.10"]}}
        more = {"listen": "127.0.0.1:9663", "hosts": hosts}
    network[section] = listener | wrong | more
    (found,) = _problems(network)
    assert found.replace(f"{tmp_path}/", "").startswith(f"{section}.{problem}"), found


def test_an_expired_certificate_towards_switches_is_found(
    network: dict[str, Any], tls: dict[str, str]
) -> None:
    now, ca = datetime.now(UTC), new_ca("x")
    own = sign(ca, "old", Usage.BOTH, begins=now - 2 * DAY, ends=now - DAY)
    Path(tls["certificate"]).write_bytes(own.certificate_pem)
    Path(tls["key"]).write_bytes(own.key_pem)
    network["switch_tls"] = tls
    (found,) = _problems(network)
    assert "switch_tls.certificate: " in found
    assert "has expired (CN=old, " in found


def test_what_expires_soon_is_noted(
    network: dict[str, Any], listener: dict[str, str], tls: dict[str, str]
) -> None:
    now, ca = datetime.now(UTC), new_ca("x")
    own = sign(ca, "controller", Usage.BOTH, ends=now + 3 * DAY)
    Path(tls["certificate"]).write_bytes(own.certificate_pem)
    Path(tls["key"]).write_bytes(own.key_pem)
    config = parsed(network | {"switch_tls": tls, "tls": tls})
    assert [where for where, _ in expiry_notes(config)] == [
        "tls.certificate",
        "switch_tls.certificate",
    ]
    assert expiry_notes(config)[0][1].endswith("expires in 2 days; renew it")
    assert expiries(config)[tls["certificate"]] == pytest.approx((now + 3 * DAY).timestamp(), abs=2)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"api_group": "root"}, "api_group: it is for a Unix socket, and api is 127.0.0.1:0"),
        (
            {"api": "unix:/run/fcn/api", "api_group": "nobody-has-this"},
            "api_group: there is no group nobody-has-this on this machine",
        ),
        ({"audit": "/none/audit.log"}, "audit: there is no folder /none; make it"),
    ],
)
def test_what_else_of_the_api_is_wrong(
    network: dict[str, Any], change: dict[str, str], problem: str
) -> None:
    assert _problems(network | change) == [problem]


@pytest.mark.parametrize(
    ("controllers", "said"),
    [
        ({"a": "unix:/run/a", "b": "unix:/run/b"}, []),
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
        ({f"c{n}": f"unix:/run/{n}" for n in range(9)}, ["controllers: 8 at most"]),
    ],
)
def test_controllers(network: dict[str, Any], controllers: dict[str, str], said: list[str]) -> None:
    del network["api"], network["insecure"]
    network["controllers"] = controllers
    found = _problems(network)
    assert len(found) == len(said)
    for problem, begin in zip(found, said, strict=True):
        assert problem.startswith(begin)


def test_controllers_over_tcp(
    network: dict[str, Any], listener: dict[str, str], tmp_path: Path
) -> None:
    del network["api"], network["insecure"]
    network |= {"controllers": {"a": "unix:/run/a", "b": "10.0.0.1:9559"}, "tls": listener}
    (problem,) = _problems(network)
    assert problem.endswith("name a folder as for `fcn --tls` with follow_tls")
    network["follow_tls"] = str(tmp_path / "follow")
    assert all(problem.startswith("follow_tls: cannot read ") for problem in _problems(network))
    (tmp_path / "follow").mkdir()
    for name in ("certificate", "key", "ca"):
        shutil.copy(listener[name], tmp_path / "follow" / f"{name}.pem")
    assert _problems(network) == []


def test_controllers_say_where_the_api_is(network: dict[str, Any]) -> None:
    network |= {"controllers": {"a": "unix:/run/a", "b": "unix:/run/b"}, "api": "unix:/run/c"}
    del network["insecure"]
    (problem,) = _problems(network)
    assert (
        problem == "api: each controller has the address that `controllers` names; leave this out"
    )


@pytest.mark.parametrize(
    ("regions", "said"),
    [
        ({"west": ["a"], "east": ["b", "c"]}, []),
        ({"west": ["a", "b"], "east": ["c", "d"]}, ["regions.east: there is no controller 'd'"]),
        ({"west": ["a", "b"], "east": ["b", "c"]}, ["regions.west: controller b is named twice"]),
        ({"west": ["a", "b"], "east": []}, ["regions.east: "]),
        ({"west": ["a"], "east": ["b"]}, ["controllers.c: it is in no region"]),
        (
            {"west": ["a", "b"], "south": ["c"]},
            [
                "regions.south: no node says",
                "nodes.p2.region: `regions` has no",
                "nodes.pe2.region",
            ],
        ),
        ({}, [f"nodes.{node}.region: `regions` has no" for node in ("p1", "p2", "pe1", "pe2")]),
    ],
)
def test_regions(network: dict[str, Any], regions: dict[str, list[str]], said: list[str]) -> None:
    del network["api"], network["insecure"]
    network["controllers"] = {name: f"unix:/run/{name}" for name in "abc"}
    network["regions"] = regions
    for name, node in network["nodes"].items():
        node["region"] = "west" if name.endswith("1") else "east"
    found = sorted(_problems(network))
    assert len(found) == len(said)
    for problem, begin in zip(found, sorted(said), strict=True):
        assert problem.startswith(begin)


def test_a_node_without_a_region_has_no_controller(network: dict[str, Any]) -> None:
    del network["api"], network["insecure"]
    network["controllers"] = {name: f"unix:/run/{name}" for name in "ab"}
    network["regions"] = {"west": ["a", "b"]}
    for node in ("pe1", "pe2", "p1"):
        network["nodes"][node]["region"] = "west"
    (problem,) = _problems(network)
    assert problem.startswith("nodes.p2: it needs a `region`, whose controllers rule it: west")
