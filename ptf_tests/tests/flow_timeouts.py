"""Idle timeout notifications of flows, so that labels can be released (FCN-4)."""

import time

import finsy as fy

from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    HOST_V6,
    RED,
    REMOTE_V4,
    REMOTE_V6,
    PeTest,
    host_frame_in,
)
from fcn.ptf_tests.lib.packets import roce
from fcn.ptf_tests.lib.ports import DC_PORT

DEST_QP = 0x118
LABEL = 0x84444
TIMEOUT_NS = 400_000_000
BUSY_TIMEOUT_NS = 2_000_000_000
"""Longer than the time between packets of an active flow, also on a busy machine."""

NOTICE = 60.0
"""Seconds; timeout plus the sweep interval of the slowest target are six."""


class IdleFlowIsAnnounced(PeTest):
    """FCN-4: the switch reports an idle flow with its key; the entry is not removed."""

    def runTest(self) -> None:
        for host, remote, table in (
            (HOST_V4, REMOTE_V4, "flow_ipv4"),
            (HOST_V6, REMOTE_V6, "flow_ipv6"),
        ):
            inserted = time.monotonic()
            self.pe.flow(RED, host, remote, DEST_QP, LABEL, TIMEOUT_NS)
            notice = self.next_from(self.client.idle, f"notice from {table}", NOTICE)
            self.assertGreaterEqual(time.monotonic() - inserted, TIMEOUT_NS / 1e9 * 0.9)
            self.assertEqual([entry.table_id for entry in notice], [table])
            match = fy.P4TableMatch(vrf=RED, src=host, dst=remote, dest_qp=DEST_QP)
            self.assertEqual(len(self.client.read(fy.P4TableEntry(table, match=match))), 1)
            self.client.write(-fy.P4TableEntry(table, match=match))


class ChangesAreNotCounted(PeTest):
    """FCN-4: a change of a flow's entry leaves its counter, by which the controller knows that it
    is silent where the idle time begins anew with each change."""

    def runTest(self) -> None:
        for host, remote, table in (
            (HOST_V4, REMOTE_V4, "flow_ipv4"),
            (HOST_V6, REMOTE_V6, "flow_ipv6"),
        ):
            self.pe.flow(RED, host, remote, DEST_QP, LABEL, BUSY_TIMEOUT_NS)
            self.exchange(DC_PORT, *[host_frame_in(roce(host, remote, DEST_QP))] * 3)
            match = fy.P4TableMatch(vrf=RED, src=host, dst=remote, dest_qp=DEST_QP)
            pattern = fy.P4TableEntry(table, match=match, counter_data=fy.P4CounterData())
            for verb in ("set_flow_label_watched", "set_flow_label"):
                action = fy.P4TableAction(f"{verb}_{table[5:]}", flow_label=LABEL)
                changed = fy.P4TableEntry(
                    table, match=match, action=action, idle_timeout_ns=BUSY_TIMEOUT_NS
                )
                self.client.write(~changed)
                (entry,) = self.client.read(pattern)
                assert entry.counter_data is not None
                self.assertEqual(entry.counter_data.packet_count, 3)


class BusyFlowIsNotAnnounced(PeTest):
    """FCN-4: a flow with packets is not reported while another one becomes idle."""

    def runTest(self) -> None:
        self.pe.flow(RED, HOST_V4, REMOTE_V4, DEST_QP, LABEL, BUSY_TIMEOUT_NS)
        self.pe.flow(RED, HOST_V4, REMOTE_V4, DEST_QP + 1, LABEL + 1, BUSY_TIMEOUT_NS)
        busy = host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP))

        def announced() -> list[int]:
            self.send(DC_PORT, busy)
            if self.client.idle.empty():
                return []
            return [int(entry["dest_qp"]) for entry in self.client.idle.get()]

        self.assertEqual(self.wait_for("an idle flow", announced, NOTICE), [DEST_QP + 1])


class FlowWithoutTimeoutStays(PeTest):
    """FCN-4: a flow with timeout 0 is never reported as idle."""

    def runTest(self) -> None:
        self.pe.flow(RED, HOST_V4, REMOTE_V4, DEST_QP, LABEL)
        self.pe.flow(RED, HOST_V4, REMOTE_V4, DEST_QP + 1, LABEL + 1, TIMEOUT_NS)
        notice = self.next_from(self.client.idle, "the other flow's notice", NOTICE)
        self.assertEqual([entry["dest_qp"] for entry in notice], [DEST_QP + 1])
