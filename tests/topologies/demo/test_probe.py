"""A flow of other traffic between two processes of this machine."""

import signal
import time
from pathlib import Path

from fcn.hosts.processes import Process
from fcn.topologies.demo.probe import READY, count_of, read_arrivals, receiving, sending

LOCAL = "127.0.0.1"


def test_every_packet_is_stamped_at_both_ends(tmp_path: Path) -> None:
    log = tmp_path / "arrivals.json"
    with Process("receiver", receiving(LOCAL, log), tmp_path / "receiver.log") as receiver:
        receiver.wait_ready(lambda: READY in receiver.log.read_text(), 60)
        begin = time.monotonic_ns()
        with Process(
            "sender", sending(LOCAL, LOCAL, begin, 200, 0.25), tmp_path / "sender.log"
        ) as sender:
            assert sender.wait(60) == 0, sender.last_words()
        assert receiver.stop(signal.SIGINT) == 0, receiver.last_words()
    arrivals = read_arrivals(log)
    assert [each.number for each in arrivals] == list(range(count_of(200, 0.25)))
    assert all(begin <= each.sent_ns for each in arrivals)
    # Both clocks are of this machine; the kernel's is set apart by less than this.
    assert all(-1e6 < each.latency_ns < 60e9 for each in arrivals)
    assert arrivals[-1].sent_ns - begin >= 49 * 5_000_000
