"""What the laboratory records: notices of hosts, and frames that taps select."""

from collections import Counter

import pytest
from lab_networks import (
    DEST_QP,
    GIGABIT,
    SOURCE_QP,
    Rates,
    address,
    host_mac,
    wan,
)  # fmt: skip

from fcn.contract.ecn import Ecn
from fcn.lab.balance import balance
from fcn.lab.core import ETHERNET_OVERHEAD, Link, Simulation
from fcn.lab.errors import LabError
from fcn.lab.frames import FrameKind
from fcn.lab.notices import keep_notices, notices, notices_lost
from fcn.lab.roce import RoceOptions
from fcn.packets.wire import FAST_CNP_PORT
from fcn.ptf_tests.lib import packets

MILLISECOND = 1_000_000
HERE, THERE = "10.1.0.10", "10.2.0.10"
OUTER = "2001:db8::1", "2001:db8::2"
NO_KIND = FrameKind(0)


def direct(simulation: Simulation) -> Link:
    """Two hosts, `a` and `b`, and nothing between them."""
    a, b = simulation.add_host("a"), simulation.add_host("b")
    return simulation.connect(a, 0, b, 0, rate_bps=GIGABIT, delay_ns=10)


def framed(datagram: bytes, vlan: int = 0) -> bytes:
    """In Ethernet."""
    return packets.ethernet(datagram, src=host_mac(1), dst=host_mac(2), vlan=vlan)


def tunnels(inner: bytes, ecn: Ecn) -> dict[str, bytes]:
    """A datagram by itself and in each tunnel of the PEs, whose outer header has this ECN."""
    src, dst = OUTER
    path = ["2001:db8::3", "2001:db8::4"]
    vxlan = packets.vxlan(
        inner, src, dst, 7, sport=50_000, traffic_class=ecn,
        inner_src_mac=host_mac(1), inner_dst_mac=host_mac(2),
    )  # fmt: skip
    mpls = packets.mpls_udp(inner, src, dst, [100, 7], sport=50_000, traffic_class=ecn)
    return {
        "none": framed(inner),
        "vlan": framed(inner, vlan=5),
        "srv6": framed(packets.srv6(inner, src, dst, traffic_class=ecn)),
        "srh": framed(packets.srv6(inner, src, dst, path, 1, traffic_class=ecn)),
        "vxlan": framed(vxlan),
        "gre": framed(packets.gre(inner, src, dst, 7, traffic_class=ecn)),
        "mpls": framed(mpls),
    }


def kinds_of(
    frames: list[bytes], select: FrameKind | None = None, port: int = FAST_CNP_PORT
) -> list[FrameKind]:
    """The kinds of those that a tap selects, where Fast CNPs have this port."""
    with Simulation(fast_cnp_port=port) as simulation:
        link = direct(simulation)
        link.tap(0, select=select)
        for frame in frames:
            simulation.hosts["a"].send(frame)
        simulation.run_until(simulation.now_ns + 1_000 * MILLISECOND)
        return [frame.kinds for frame in simulation.tapped()]


@pytest.mark.parametrize(
    ("datagram", "kind"),
    [
        (packets.roce(HERE, THERE, DEST_QP), NO_KIND),
        (packets.roce(HERE, THERE, DEST_QP, ecn=Ecn.CE), FrameKind.MARKED),
        (packets.roce(*OUTER, DEST_QP, ecn=Ecn.ECT1), NO_KIND),
        (packets.roce(*OUTER, DEST_QP, ecn=Ecn.CE), FrameKind.MARKED),
        (packets.cnp(THERE, HERE, SOURCE_QP), FrameKind.CNP),
        (packets.cnp(*OUTER, SOURCE_QP), FrameKind.CNP),
        (packets.fast_cnp(*OUTER, 0x80001), FrameKind.FAST_CNP),
        (packets.udp(HERE, THERE, 1021, 4790), NO_KIND),
    ],
)
def test_kinds_of_frames_in_every_tunnel(datagram: bytes, kind: FrameKind) -> None:
    plain = tunnels(datagram, Ecn.ECT0)
    assert kinds_of(list(plain.values())) == [kind] * len(plain)
    marked = tunnels(datagram, Ecn.CE)
    expected = [kind if name in ("none", "vlan") else kind | FrameKind.MARKED for name in marked]
    assert kinds_of(list(marked.values())) == expected


def test_fast_cnps_have_the_port_the_simulation_was_given() -> None:
    frames = [framed(packets.fast_cnp(*OUTER, 0x80001, dport=port)) for port in (1021, 1022)]
    assert kinds_of(frames, port=1022) == [NO_KIND, FrameKind.FAST_CNP]
    assert kinds_of(frames) == [FrameKind.FAST_CNP, NO_KIND]
    with pytest.raises(LabError, match="65536 is no UDP port"):
        Simulation(fast_cnp_port=65536)


@pytest.mark.parametrize("ecn", [Ecn.NOT_ECT, Ecn.CE])
def test_a_cnp_behind_the_label_of_a_flow_is_one_for_end_con(ecn: Ecn) -> None:
    """SRF-4: hosts' own CNPs have an entropy label outside, and any label in their own header."""
    labelled: packets.IpFields = {"flow_label": 0x80001, "traffic_class": int(ecn)}
    marked = FrameKind.MARKED if ecn is Ecn.CE else NO_KIND
    cnp = packets.cnp(THERE, HERE, SOURCE_QP)
    outside = packets.srv6(cnp, *OUTER, **labelled)
    other = packets.srv6(cnp, *OUTER, flow_label=0x7FFFF, traffic_class=int(ecn))
    data = packets.srv6(packets.roce(HERE, THERE, DEST_QP), *OUTER, **labelled)
    own = packets.cnp(*OUTER, SOURCE_QP)
    own = own[:1] + (int(ecn) << 4 | 8).to_bytes(1, "big") + own[2:]
    within = packets.srv6(own, *OUTER, flow_label=0x7FFFF)
    frames = [framed(each) for each in (outside, other, data, own, within)]
    plain = FrameKind.CNP | marked
    assert kinds_of(frames) == [FrameKind.END_CON_CNP | marked, plain, marked, plain, plain]
    assert kinds_of(frames[:1], FrameKind.NOTIFICATION) == [FrameKind.END_CON_CNP | marked]


def test_a_frame_that_ends_early_is_what_it_was_until_there() -> None:
    """Nothing beyond its end is read: a sanitizer would say so."""
    for whole in tunnels(packets.cnp(THERE, HERE, SOURCE_QP), Ecn.CE).values():
        kinds = kinds_of([whole[:length] for length in range(len(whole))])
        assert kinds == sorted(kinds), "a kind that was seen stays"
        assert kinds[-1] == kinds_of([whole])[0]


def test_headers_that_lead_over_what_a_frame_leaves_out() -> None:
    """A routing header of 400 octets of zeros, then a CNP's first octets, which end the frame."""
    outer = packets.srv6(packets.roce(HERE, THERE, DEST_QP), *OUTER)[:40]
    routing = bytes([17, 400 // 8 - 1]) + bytes(398)
    udp = bytes.fromhex("c000 12b7 0010 0000 81 00 ffff 40 000011")
    frame = framed(outer[:6] + b"\x2b" + outer[7:] + routing + udp)
    whole = bytearray(frame)
    whole[300] = 1
    assert kinds_of([frame, bytes(whole)]) == [FrameKind.CNP] * 2


def test_a_tap_keeps_what_it_selects_and_no_more_than_its_snap() -> None:
    cnp = framed(packets.cnp(THERE, HERE, SOURCE_QP))
    fast_cnp = framed(packets.fast_cnp(*OUTER, 0x80001))
    marked = framed(packets.roce(HERE, THERE, DEST_QP, ecn=Ecn.CE))
    plain = framed(packets.roce(HERE, THERE, DEST_QP))
    frames = [plain, cnp, marked, fast_cnp]
    assert len(kinds_of(frames)) == 4
    assert kinds_of(frames, FrameKind.MARKED) == [FrameKind.MARKED]
    assert kinds_of(frames, FrameKind.NOTIFICATION) == [FrameKind.CNP, FrameKind.FAST_CNP]
    with Simulation() as simulation:
        direct(simulation).tap(0, select=FrameKind.NOTIFICATION, snap=30)
        for frame in frames:
            simulation.hosts["a"].send(frame)
        simulation.run_until(MILLISECOND)
        kept = simulation.tapped()
    assert [frame.data for frame in kept] == [cnp[:30], fast_cnp[:30]]
    assert [frame.length for frame in kept] == [len(cnp), len(fast_cnp)]
    ends, at = [], 0
    for frame in frames:
        at += (len(frame) + ETHERNET_OVERHEAD) * 8
        ends.append(at + 10)
    assert [frame.time_ns for frame in kept] == [ends[1], ends[3]]


def test_a_full_tap_counts_what_it_lost() -> None:
    with Simulation() as simulation:
        direct(simulation).tap(0, 32 + 64)
        for _ in range(3):
            simulation.hosts["a"].send(bytes(60))
        simulation.run_until(MILLISECOND)
        assert simulation.tapped_lost == 2
        with pytest.raises(LabError, match="2 frames did not fit"):
            simulation.tapped()
        assert len(simulation.tapped(complete=False)) == 1


def test_notices_are_what_counters_count() -> None:
    """With a buffer so small that frames are lost."""
    with Simulation(3) as simulation:
        network = wan(simulation, Rates(), 100, hosts=2, features="[]")
        keep_notices(simulation)
        lefts = [network.roce(1, n, RoceOptions(timeout=20 * MILLISECOND)) for n in range(2)]
        rights = [network.roce(2, n) for n in range(2)]
        for number, left in enumerate(lefts):
            left.write(left.connect(address(2, number)), 8_000_000)
        simulation.run_until(40 * MILLISECOND)
        network.links[2].set_up(False)
        simulation.run_until(90 * MILLISECOND)
        seen = notices(simulation)
        assert notices_lost(simulation) == 0
        assert notices(simulation).empty
        what, host = seen.what, seen.host
        for number, (left, right) in enumerate(zip(lefts, rights, strict=True)):
            counted = Counter(what[host == left.host.name])
            sent = left.sender(0)
            assert counted["connected"] == 1
            assert counted["cnp"] == sent.cnps > 0
            assert counted["cut"] == sent.cuts
            assert counted["nak"] == sent.naks > 0
            assert counted["timeout"] == sent.timeouts > 0
            assert counted["retransmission"] == sent.naks + sent.timeouts
            told = Counter(what[host == right.host.name])
            got = right.receiver(0)
            assert told["cnp_sent"] == got.cnps
            assert told["nak_sent"] == told["gap"] == got.naks
            assert set(seen.peer[host == left.host.name]) == {str(address(2, number))}
        assert not seen.by_switch.any()
        assert seen.time_ns.is_monotonic_increasing
        balance(simulation)


def test_a_notice_has_the_time_at_which_the_frame_arrived() -> None:
    """And says whether the CNP is the far host's or a PE's."""
    for features, by_switch in (("[]", False), ("all", True)):
        with Simulation() as simulation:
            network = wan(simulation, buffer=100_000, features=features)
            keep_notices(simulation)
            left = network.roce(1)
            network.roce(2)
            network.links[0].tap(1, select=FrameKind.CNP, snap=0)
            left.write(left.connect(address(2)), 3_000_000)
            simulation.run_until(8 * MILLISECOND)
            cnps = notices(simulation).query("what == 'cnp'")
            frames = simulation.tapped()
            assert len(cnps) > 3
            assert list(cnps.time_ns) == [f.time_ns for f in frames]
            assert set(cnps.peer) == {str(address(2))}
            assert cnps.by_switch.iloc[0] == by_switch


def test_notices_are_bounded_and_counted() -> None:
    def run(most: int) -> tuple[int, int]:
        with Simulation() as simulation:
            network = wan(simulation, buffer=100_000, features="[]")
            keep_notices(simulation, most)
            left = network.roce(1)
            network.roce(2)
            left.write(left.connect(address(2)), 3_000_000)
            simulation.run_until(8 * MILLISECOND)
            return len(notices(simulation)), notices_lost(simulation)

    whole, lost = run(100_000)
    assert lost == 0
    assert run(5) == (5, whole - 5)
    assert run(0) == (0, 0)
