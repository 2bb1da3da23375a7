"""Run by test_cables.py in a network namespace: a cable of two interfaces, cut and mended."""

import socket
import subprocess

from fcn.topologies.cables import set_link
from fcn.topologies.model import Link, Node, Topology

TOPOLOGY = Topology("cable", (Node("a", "p"), Node("b", "p")), (Link("a", "b"),), ())
A, B = (TOPOLOGY.port(*ends).interface for ends in (("a", "b"), ("b", "a")))
ETHER_TYPE = 0x88B5


def opened(interface: str) -> socket.socket:
    found = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHER_TYPE))
    found.bind((interface, ETHER_TYPE))
    found.settimeout(30)
    return found


def frame(number: int) -> bytes:
    return bytes(12) + ETHER_TYPE.to_bytes(2) + number.to_bytes(46)


def is_up(interface: str) -> bool:
    shown = subprocess.run(
        ["ip", "link", "show", interface], capture_output=True, text=True, check=True
    )
    return "LOWER_UP" in shown.stdout


subprocess.run(["ip", "link", "add", A, "type", "veth", "peer", "name", B], check=True)
for name in (A, B):
    subprocess.run(["sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1"], check=True)
    subprocess.run(["ip", "link", "set", name, "up"], check=True)
STATES = (True, False, False, True, True, False, True)
with opened(A) as near, opened(B) as far:
    for number, up in enumerate(STATES):
        set_link(TOPOLOGY, "a", "b", up=up)
        near.send(frame(number))
        far.send(frame(number))
        assert is_up(A)
        assert is_up(B)
    passed = [frame(number) for number, up in enumerate(STATES) if up]
    assert [far.recv(2000) for _ in passed] == passed
    assert [near.recv(2000) for _ in passed] == passed
