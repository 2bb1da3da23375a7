"""Scenarios from end to end: the controller provisions and learns, hosts send, all is measured."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from polled import polled
from small import signature, small

from fcn.lab.errors import LabError
from fcn.lab.report.remarks import remarks
from fcn.lab.result.folder import load, save
from fcn.lab.result.model import Result
from fcn.lab.run import probes
from fcn.lab.run.runner import Progress, run_scenario

PROGRAM = Path(__file__).parent / "small.py"
POLLED = Path(__file__).parent / "polled.py"
MILLISECOND = 1_000_000


@pytest.fixture(scope="module")
def fcn_run() -> Result:
    return run_scenario(small())


@contextmanager
def in_another_process(program: Path, *arguments: str) -> Iterator[list[str]]:
    """A scenario, run where Python's hashes and what is in fresh memory differ, beside what is done
    meanwhile; what it prints is in the list afterwards."""
    # Of this process hashes are random, and most of such memory is 0.
    environment = {**os.environ, "PYTHONHASHSEED": "1", "MALLOC_PERTURB_": "85"}
    command = [sys.executable, str(program), *arguments]
    printed: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        yield printed
        printed += process.communicate()[0].split()
    assert process.returncode == 0


def test_the_same_seed_gives_the_same_octets_in_every_process_and_under_load(
    fcn_run: Result,
) -> None:
    """Another seed is another run."""
    with in_another_process(PROGRAM, "5") as same:
        other = signature(run_scenario(small(seed=6)))
    assert same == list(signature(fcn_run))
    assert other[0] != same[0]


def test_what_the_controller_reads_does_not_follow_hashes() -> None:
    """The order in which it reads counters shows in the order in which switches are asked."""
    with in_another_process(POLLED) as printed:
        here = list(signature(polled()))
    assert printed == here


def test_a_run_measures_what_the_hosts_did(fcn_run: Result) -> None:
    about = fcn_run.about
    assert (about.finished, about.reached_ns, about.mode) == (True, 3 * MILLISECOND, "fcn")
    messages, connections = fcn_run.messages, fcn_run.connections
    complete = messages[messages["completed_ns"].notna()]
    assert 0 < len(complete) < len(messages)
    assert (complete["completed_ns"] > complete["start_ns"]).all()
    assert set(connections["state"]) == {"connected"}
    assert (connections["payload"] > 0).all()
    rates = fcn_run.rates
    assert {0, 3 * MILLISECOND} <= set(fcn_run.queues["time_ns"])
    of_first = rates[(rates["host"] == "h1") & (rates["connection"] == 0)]
    assert of_first["octets"].is_monotonic_increasing
    assert of_first["octets"].iloc[-1] > 1_000_000
    links = fcn_run.links
    last = links[(links["node"] == "p2") & (links["towards"] == "pe2")].iloc[-1]
    assert last["octets"] * 8 <= 80e9 * 3e-3


def test_switches_mark_and_notify_and_senders_cut(fcn_run: Result) -> None:
    """All of the chain: the mark at the bottleneck, the Fast CNP to the PE, its CNP, the cut."""
    crossings, notices = fcn_run.crossings, fcn_run.notices
    at_bottleneck = crossings[(crossings["node"] == "p2") & (crossings["towards"] == "pe2")]
    onset = at_bottleneck.loc[at_bottleneck["what"] == "ce", "time_ns"].min()
    fast_cnps = crossings[(crossings["what"] == "fast_cnp") & (crossings["node"] == "p2")]
    assert set(fast_cnps["towards"]) == {"p1"}
    cuts = notices[notices["what"] == "cut"]
    assert abs(fast_cnps["time_ns"].min() - onset) <= 1, "marked and notified at the same time"
    assert 150_000 < cuts["time_ns"].min() - onset < 165_000, "10 and 20 km there and back"
    names = set(fcn_run.counters["name"])
    assert {"FAST_CNP_SENT", "FAST_CNP_RECEIVED", "CNP_SENT", "CE_MARKED"} <= names


def test_fast_cnps_are_known_by_the_port_the_scenario_gives_them(fcn_run: Result) -> None:
    """The same run, but for the port."""
    result = run_scenario(small(controller={"configuration": {"fast_cnp_port": 1234}}))
    assert result.crossings.equals(fcn_run.crossings)
    assert "fast_cnp" in set(result.crossings["what"])
    assert result.about.digest != fcn_run.about.digest


def test_numbers_at_their_ends_are_learned_and_notified(fcn_run: Result) -> None:
    """PSNs that wrap while hosts send, the first and the last queue pairs."""
    last = (1 << 24) - 1
    numbers = {"first_psn": last - 500, "first_qp": 2, "first_accepted_qp": last - 1}
    result = run_scenario(small(hosts={"mtu": 4096, **numbers}))
    connections = result.connections
    assert {2, 3} == set(connections["local_qp"])
    assert {last - 1, last} == set(connections["remote_qp"])
    assert connections["packets"].max() > 1_000
    assert connections["retransmitted"].sum() == 0
    for what in ("messages", "rates", "notices"):
        expected, found = getattr(fcn_run, what), getattr(result, what)
        columns = [name for name in expected.columns if name != "value"]
        assert found[columns].equals(expected[columns])


def test_the_controller_provisions_and_learns_before_the_hosts_send(fcn_run: Result) -> None:
    seen = fcn_run.controller
    writes = seen[seen["what"] == "Write"]
    assert set(writes["node"]) == {"pe1", "p1", "p2", "pe2"}
    assert (writes["time_ns"] < 0).all()


@pytest.mark.parametrize("mode", ["none", "ecn"])
def test_without_fcn_no_switch_notifies(mode: str) -> None:
    plan = small(mode=mode, duration="2ms")
    result = run_scenario(plan)
    what = set(result.crossings["what"])
    assert what == (set() if mode == "none" else {"ce", "cnp"})
    assert bool(result.connections["marked"].sum()) == (mode == "ecn")
    assert bool(result.connections["cuts"].sum()) == (mode == "ecn")


def test_a_stopped_run_is_a_result_that_is_not_finished(tmp_path: Path) -> None:
    seen: list[Progress] = []

    def stop() -> bool:
        return bool(seen) and seen[-1].reached_ns >= MILLISECOND

    result = run_scenario(small(), show=seen.append, stop=stop)
    assert (result.about.finished, result.about.reached_ns) == (False, MILLISECOND)
    assert result.queues["time_ns"].max() == MILLISECOND
    save(result, tmp_path / "out")
    assert load(tmp_path / "out").about == result.about
    assert seen[0].doing == "the controller provisions"


def test_a_run_can_be_stopped_between_two_samples() -> None:
    """Whoever samples once only is not made to wait for that."""
    plan = small(measure={"interval": "3ms"})
    asked = 0

    def count() -> bool:
        nonlocal asked
        asked += 1
        return False

    run_scenario(plan, stop=count)
    left = asked - 2

    def stop() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    result = run_scenario(plan, stop=stop)
    assert 0 < result.about.reached_ns < 3 * MILLISECOND
    assert result.links["time_ns"].max() == result.about.reached_ns


def test_a_time_in_which_nothing_happens_is_passed_at_once() -> None:
    """What is sent has arrived after some milliseconds of the second."""
    traffic = [{"pattern": "messages", "from": ["h1"], "to": ["h3"], "size": "20kB"}]
    measure = {"interval": "100ms"}
    shown: list[Progress] = []
    plan = small(mode="none", duration="1s", traffic=traffic, measure=measure)
    result = run_scenario(plan, show=shown.append)
    assert result.about.reached_ns == 1_000 * MILLISECOND
    assert result.messages["completed_ns"].max() < 10 * MILLISECOND
    assert sum(each.doing == "hosts send" for each in shown) < 100


@pytest.mark.parametrize("until_ns", [0, -1])
def test_a_run_until_no_later_than_its_beginning_is_refused(until_ns: int) -> None:
    with pytest.raises(LabError, match="give a later time"):
        run_scenario(small(), until_ns=until_ns)


def test_a_run_stopped_before_hosts_send_is_a_result_too() -> None:
    result = run_scenario(small(), stop=lambda: True)
    assert (result.about.finished, result.about.reached_ns) == (False, 0)
    assert result.messages.empty


def test_until_ends_a_run_early_without_changing_it(fcn_run: Result) -> None:
    result = run_scenario(small(), until_ns=MILLISECOND)
    assert (result.about.finished, result.about.reached_ns) == (False, MILLISECOND)
    whole = fcn_run.queues
    assert result.queues.equals(whole[whole["time_ns"] <= MILLISECOND].reset_index(drop=True))


def test_a_network_that_does_not_become_ready_is_named() -> None:
    """The controller is given less time than its messages take."""
    controller = {"delay": "10ms", "ready_within": "5ms"}
    with pytest.raises(LabError, match=r"gave up at .* as the controller provisions"):
        run_scenario(small(controller=controller))


def test_a_connection_that_is_never_answered_ends_the_run() -> None:
    """A round trip of 20 s is longer than a host asks for."""
    links = {
        "core": {"rate": "400 Gb/s", "buffer": 4000},
        "hosts": {"rate": "100 Gb/s"},
        "only": [{"between": ["p1", "p2"], "delay": "10s"}],
    }
    with pytest.raises(LabError, match=r"^small: h1 cannot connect to h3: a host accepts 4096 "):
        run_scenario(small(mode="none", links=links))


def test_a_capture_is_whole_however_seldom_samples_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is room for what the link carries in a millisecond, not for all of it."""
    monkeypatch.setattr(probes, "_TAP_OCTETS", 1 << 19)
    measure = {"interval": "6ms", "crossings": [], "pcap": [["p1", "p2"]], "snap": 64}
    result = run_scenario(small(mode="none", duration="6ms", measure=measure))
    assert len(result.captures["p1-to-p2"]) > 2 << 19
    assert not [each for each in remarks({"small": result}) if "lacks" in each]


def test_what_is_not_ecn_capable_is_neither_marked_nor_notified_of() -> None:
    only = [{"names": ["h1"], "settings": {"ecn": "not-ect"}}]
    flows = run_scenario(small(hosts={"mtu": 4096, "only": only})).connections
    own = flows[flows["host"] == "h1"]
    others = flows[flows["host"] == "h2"]
    assert own[["marked", "cnps", "cuts"]].sum().sum() == 0
    assert others["marked"].sum() > 0
    assert others["cnps"].sum() > 0


def test_runs_of_two_threads_are_one_after_the_other(fcn_run: Result) -> None:
    """As in a Dask worker of several threads: each has the controller and switches of its own."""
    begun = threading.Event()
    waited: list[bool] = []
    found: list[str] = []

    def begin() -> bool:
        begun.set()
        return False

    def second() -> None:
        found.append(run_scenario(small(), stop=begin).about.digest)

    other = threading.Thread(target=second)

    def look(_progress: Progress) -> None:
        if not waited:
            other.start()
            waited.append(begun.wait(2))

    found.append(run_scenario(small(), show=look).about.digest)
    other.join()
    assert waited == [False]
    assert found == [fcn_run.about.digest] * 2
