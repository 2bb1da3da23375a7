"""A run of everything in the laboratory, with malformed frames among the others.

test_lab_sanitizers.py runs it with libraries built for ASan and UBSan; it prints the digest.
"""

import random
import struct
import sys
from dataclasses import replace
from pathlib import Path

from lab_networks import DEST_QP, GIGABIT, SOURCE_QP, Rates, address, host_mac, wan

from fcn.lab.balance import balance
from fcn.lab.core import Simulation
from fcn.lab.depths import depths, measure_depth
from fcn.lab.frames import FrameKind
from fcn.lab.jobs import Jobs
from fcn.lab.notices import keep_notices, notices, notices_lost
from fcn.lab.pfc import Pfc
from fcn.lab.red import Red
from fcn.lab.roce import RoceHost, RoceOptions, completions
from fcn.lab.tcp import TcpFlow
from fcn.ptf_tests.lib import packets
from fcn.softswitch.engine import Program, load_program
from fcn.softswitch.engine.build import build_library
from fcn.softswitch.engine.codegen.unit import generate

MILLISECOND = 1_000_000
OPCODES = (0x06, 0x07, 0x08, 0x0A, 0x11, 0x64, 0x81, 0x04, 0xFF)
TCP_PORT = 5001


def malformed(rng: random.Random, side: int, dst_mac: str) -> bytes:
    """A packet for the first host of a side as from the other's, of any kind, valid or not."""
    qp = rng.choice((1, DEST_QP, SOURCE_QP, DEST_QP + 4096, rng.randrange(1 << 24)))
    datagram = packets.roce(
        str(address(3 - side)),
        str(address(side)),
        qp,
        opcode=rng.choice(OPCODES),
        payload=rng.choice((rng.randbytes, bytes))(4 * rng.randrange(80)),
        psn=rng.randrange(1 << 24),
        ack_req=rng.random() < 0.5,
    )
    frame = bytearray(packets.ethernet(datagram, src=host_mac(3 - side), dst=dst_mac))
    if rng.random() < 0.3:
        frame[rng.randrange(len(frame))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.2:
        del frame[rng.randrange(len(frame)) :]
    return bytes(frame)


def mac_control(rng: random.Random) -> bytes:
    """A PAUSE frame, whole or not."""
    frame = bytes.fromhex("0180c2000001 020000000009 8808 0101") + rng.randbytes(18) + bytes(26)
    return frame[: rng.choice((14, 16, 17, 33, 34, 60))]


def sanitized(path: Path) -> Program:
    """A program with an engine that is built for sanitizers."""
    program = load_program(path)
    return replace(program, library=build_library(generate(program.model), sanitize=True))


def question(rng: random.Random) -> bytes:
    """An ARP request or solicitation for the victim, with an octet changed or the end cut off."""
    arp = bytes.fromhex(
        "ffffffffffff020000000201080600010800060400010200000002010a0100010000000000000a01000a"
    )
    frame = bytearray(arp if rng.random() < 0.7 else arp[:12] + b"\x86\xdd" + rng.randbytes(72))
    if rng.random() < 0.5:
        frame[rng.randrange(len(frame))] = rng.randrange(256)
    return bytes(frame[: rng.randrange(10, len(frame) + 1)]) + bytes(rng.choice((0, 400)))


def segment(rng: random.Random) -> bytes:
    """A segment or ACK of a TCP flow of the victim with any numbers, or its beginning."""
    ports = rng.choice([(TCP_PORT, 1025), (1026, TCP_PORT), (1024, TCP_PORT), (TCP_PORT, 9)])
    numbers = rng.choice([(0, 1448), (rng.getrandbits(32), rng.getrandbits(32))])
    tcp = struct.pack("!HHIIHHI", *ports, *numbers, 0x5000 | rng.getrandbits(8), 0, 0)
    ip = b"\x45" + bytes([rng.getrandbits(8)]) + bytes(7) + b"\x06" + bytes(10)
    mac = bytes.fromhex(host_mac(1).replace(":", ""))
    frame = mac + bytes(6) + b"\x08\x00" + ip + tcp + bytes(rng.choice([0, 1448]))
    return frame if rng.random() < 0.7 else frame[: rng.randrange(14, len(frame))]


def run(sanitize: bool) -> int:
    """The digest of the run."""
    rng = random.Random(11)
    options = RoceOptions(timeout=5 * MILLISECOND, retries=2, cm_retries=3)
    with Simulation(7, sanitize=sanitize) as simulation:
        rates = Rates((100 * GIGABIT, 500), (400 * GIGABIT, 10_000), (20 * GIGABIT, 20_000))
        network = wan(
            simulation, rates, buffer=60, hosts=2, load=sanitized if sanitize else load_program
        )
        simulation.keep_digest()
        simulation.keep_pauses(50)
        for number, link in enumerate(network.links[:4]):
            link.set_pfc(Pfc(frozenset({0, 3}), xoff=20_000, xon=10_000, quanta=100))
            if number == 3:
                link.set_pfc(Pfc(xoff=5_000, xon=2_000, headroom=3_000, drain_bps=10**10), end=1)
        network.links[2].set_red(Red(2_000, 20_000, 0.5))
        for link in network.links:
            link.tap(1, 200_000)
        network.links[1].tap(0, 20_000, select=FrameKind.MARKED, snap=33)
        keep_notices(simulation, 20)
        selective = replace(options, retransmission="selective-repeat")
        hosts = [
            network.roce(side, n, (selective, options)[n]) for side in (1, 2) for n in range(2)
        ]
        for number, host in enumerate(hosts):
            connection = host.connect(address(2 if number < 2 else 1, number % 2))
            for size in (1, 5_000, 300_000):
                host.write(connection, size)
        attacker = simulation.add_host("attacker")
        victim = simulation.add_host("victim")
        simulation.connect(attacker, 0, victim, 0, rate_bps=GIGABIT, delay_ns=10)
        alone = RoceHost(victim, address(1), host_mac(1), host_mac(2), options)
        alone.write(alone.connect(address(2)), 1000)
        tcp = [
            TcpFlow(simulation, *pair, 10**6)
            for pair in ((hosts[0], hosts[2]), (alone, hosts[2]), (hosts[2], alone))
        ]
        measure_depth(simulation, simulation.switches["p1"], 2)
        jobs, tasks = Jobs(simulation), [0]
        for step in range(60):
            if step == 10:
                # Of connections that have other messages, too, which must do no harm.
                channels = [jobs.channel(hosts[n], 0, hosts[(n + 2) % 4]) for n in range(4)]
                tasks = [jobs.time(1000) for _ in range(4)]
                for number in range(200):
                    after = rng.sample(range(len(tasks)), 3)
                    channel = channels[1 + number % 3]
                    tasks.append(jobs.message(channel, 1000 + number, after=after))
                # The first connection will fail: these wait for ever.
                tasks.append(jobs.message(channels[0], 1000, start_ns=50 * MILLISECOND))
                tasks.append(jobs.time(0, after=tasks[-1:]))
                jobs.begin()
            for side, peer in ((1, network.right), (2, network.left)):
                peer.send(malformed(rng, side, network.gateway(3 - side)))
            for _ in range(5):
                attacker.send(malformed(rng, 1, host_mac(1)))
                network.left.send(mac_control(rng))
                attacker.send(question(rng))
                attacker.send(segment(rng))
            simulation.run_until(simulation.now_ns + 100_000)
            if step in (20, 30):
                network.links[1].set_up(step == 30)
            if step == 40:
                node, old = simulation.switches["p1"], simulation.switches["p1"].engine
                node.start(node.open(old.program))
                node.close(old)
            if step == 50:
                node.close(node.engine)
            balance(simulation)
        simulation.run_until(simulation.now_ns + 100 * MILLISECOND)
        assert completions(simulation)
        assert depths(simulation, simulation.switches["p1"], 2).most_packets > 0
        done = sum(jobs.times(task).done_ns is not None for task in tasks)
        assert 4 < done < len(tasks), "the four times, and messages before the switch goes off"
        assert len(notices(simulation)) == 20
        assert notices_lost(simulation) > 0
        assert len(simulation.pauses()) == 50
        assert simulation.pauses_lost > 0
        assert tcp[0].counters().acknowledged > 0
        assert simulation.tapped(complete=False)
        assert simulation.tapped_lost > 0
        refused = alone.refused()
        assert min(refused[name] for name in ("bad_icrc", "bad_length", "unknown_qp")) > 0, refused
        return simulation.digest


if __name__ == "__main__":
    print(run(sanitize=sys.argv[1:] == ["--sanitize"]))
