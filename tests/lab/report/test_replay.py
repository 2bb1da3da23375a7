"""A run of the laboratory as the live page shows it."""

import json
import re
import subprocess
import sys
import urllib.request
from base64 import b64decode
from collections.abc import Callable, Sequence
from dataclasses import replace
from gzip import decompress
from pathlib import Path

import pytest
from lab_results import (
    DETECTED_NS,
    FAST_CNP_FRAME,
    MENDED_NS,
    MS,
    ONSET_NS,
    about,
    congested,
    link_failed,
)  # fmt: skip
from lab_results import with_pauses as paused

from fcn.lab.report.replay import frames_of, picture_of
from fcn.lab.report.replay_flows import flows_of
from fcn.lab.report.replay_rows import Run, octets_of, read_run
from fcn.lab.result.folder import open_result, save
from fcn.lab.result.model import Result
from fcn.lab.result.tables import LINK_UP, ResultError
from fcn.page.hub import FRAMES
from fcn.page.model import Frame, Kind, Queue, Travel

WAIT_S = 60

Read = Callable[[Result], Run]


@pytest.fixture(params=[None, 211], ids=["at once", "in pieces"])
def read(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Saves a result and reads it, at once or few rows at a time."""
    if request.param is not None:
        monkeypatch.setattr("fcn.lab.result.folder._ROWS", request.param)
        monkeypatch.setattr("fcn.lab.report.replay_rows._WAITING", request.param)

    def read(result: Result) -> Run:
        save(result, tmp_path / "run")
        stored = open_result(tmp_path / "run")
        seen: list[int] = []
        run = read_run(stored, FRAMES, result.about.reached_ns, seen.append)
        assert sum(seen) == octets_of(stored)
        return run

    return read


def at(frames: Sequence[Frame], time_ns: int) -> Frame:
    """The frame in which a time is."""
    return next(frame for frame in frames if frame.time * 1e9 >= time_ns)


def travels(frames: Sequence[Frame], kind: Kind) -> list[Travel]:
    return [travel for frame in frames for travel in frame.travels if travel.kind == kind]


def test_the_picture_has_switches_hosts_and_all_links() -> None:
    picture = picture_of(about())
    assert {place.name: place.role for place in picture.places} == {
        "pe1": "pe", "p1": "p", "pe2": "pe", "l1": "dc", "l2": "dc", "r1": "dc", "r2": "dc",
    }  # fmt: skip
    assert [line.ends for line in picture.lines][:3] == [
        ("l1", "pe1"),
        ("l2", "pe1"),
        ("pe1", "p1"),
    ]
    assert picture.virtual


def test_frames_are_parts_of_the_time_that_was_reached(read: Read) -> None:
    frames = list(frames_of(read(congested())))
    assert len(frames) == FRAMES
    assert frames[-1].time == about().reached_ns / 1e9
    assert frames[0].notification == "fcn"


def test_a_queue_fills_with_its_level(read: Read) -> None:
    frames = list(frames_of(read(congested())))
    # 120 packets 2 ms after the beginning, of thresholds 50, 100 and 200.
    assert at(frames, 2 * MS).lines[3].queues[0] == Queue(120, 2, 0.6)
    assert at(frames, 10 * MS).lines[3].queues[0] == Queue(0, 0, 0.0)
    assert at(frames, 2 * MS).lines[0].queues == (None, None)


def test_links_by_what_they_carry(read: Read) -> None:
    frames = list(frames_of(read(congested())))
    load = at(frames, 5 * MS).lines[3].loads[0]
    # Ten octets in a nanosecond, sampled every 100 us, on 100 Gb/s.
    assert load.bps is not None
    assert load.utilization is not None
    assert 0 <= load.utilization == load.bps / 1e11
    whole = [frame.lines[3].loads[0].bps or 0.0 for frame in frames]
    assert sum(whole) / len(whole) == pytest.approx(8e10, rel=0.01)
    assert at(frames, 5 * MS).lines[0].loads[0].bps is None


def test_messages_take_the_way_that_was_noted(read: Read) -> None:
    frames = list(frames_of(read(congested())))
    fast = Travel(Kind.FAST_CNP, ("p1", "pe1"), 1, FAST_CNP_FRAME)
    assert travels(frames, Kind.FAST_CNP) == [fast]
    assert travels(frames, Kind.CNP) == [Travel(Kind.CNP, ("pe1", "l1"), 1)]
    (p1,) = (node for node in at(frames, ONSET_NS + 10_000).nodes if node.name == "p1")
    assert (p1.marked, p1.sent) == (20, {"FAST_CNP": 1})
    (pe1,) = (node for node in at(frames, 3 * MS // 2).nodes if node.name == "pe1")
    assert pe1.drops == {"NO_ROUTE": 4, "FLOW_INTERVAL": 2, "INGRESS": 10}


def test_who_is_paused_was_told_by_its_neighbour(read: Read) -> None:
    found = travels(list(frames_of(read(paused()))), Kind.PAUSE)
    assert {travel.route for travel in found} == {("p1", "pe1")}
    assert sum(travel.count for travel in found) == 4


def test_a_link_that_fails_and_comes_back(read: Read) -> None:
    mended = (MENDED_NS + MS, "p1", LINK_UP, "pe2", 2), (MENDED_NS + MS, "pe2", LINK_UP, "p1", 2)
    frames = list(frames_of(read(link_failed(*mended))))
    states = [at(frames, time).lines[3].state for time in (MS, DETECTED_NS, MENDED_NS + 2 * MS)]
    assert states == ["unwatched", "down", "unwatched"]
    assert [event.message for frame in frames for event in frame.events] == [
        "link p1-pe2 down",
        "link p1-pe2 up",
    ]


def test_the_story_of_a_connection(read: Read) -> None:
    flows = flows_of(read(congested()))
    told = {(row.source, row.destination): " ".join(row.story) for row in flows.rows}
    assert flows.total == len(told)
    first, last = told["l1", "r1"], told["l2", "r2"]
    assert "by a PE, which had heard of it from where the queue is" in first
    assert "CNPs that came: 1, by switches 0." in last
    assert "the least was 30 Gb/s" in last


def test_a_run_in_the_browser(tmp_path: Path) -> None:
    save(congested(), tmp_path / "run")
    command = [sys.executable, "-m", "fcn.lab", "play", str(tmp_path / "run")]
    with subprocess.Popen(
        [*command, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("dumbbell-fcn-1 in a browser: http://127.0.0.1:")
            with urllib.request.urlopen(f"{line.split()[-1]}stream", timeout=WAIT_S) as stream:
                said = b""
                while b"event: kept" not in said:
                    said += stream.readline()
            assert said.count(b"event: frame") == FRAMES
            process.terminate()
            assert process.wait(WAIT_S) == 0
        finally:
            process.kill()


def test_a_table_that_was_changed_is_refused(read: Read, tmp_path: Path) -> None:
    read(congested())
    with (tmp_path / "run" / "queues.csv").open("a") as file:
        file.write("1,p1,pe2,1,1\n")
    with pytest.raises(ResultError, match=r"queues\.csv: changed or cut off"):
        read_run(open_result(tmp_path / "run"), FRAMES, 1, lambda _octets: None)


def test_two_runs_in_one_file(tmp_path: Path) -> None:
    for mode in ("ecn", "fcn"):
        save(congested(mode), tmp_path / mode)
    folders = [str(tmp_path / mode) for mode in ("ecn", "fcn")]
    command = [sys.executable, "-m", "fcn.lab", "play", *folders]
    subprocess.run([*command, "--export", tmp_path / "two.html"], check=True)
    page = (tmp_path / "two.html").read_text()
    (kept,) = re.findall(r'id="kept">([^<]*)</script>', page)
    said = dict.fromkeys(("picture", "frame", "flows"), "")
    for message in decompress(b64decode(kept)).decode().split("\n\n"):
        name, _, data = message.removeprefix("event: ").partition("\ndata: ")
        if name in said:
            said[name] += data
    assert said["frame"].count('"notification":"ecn / fcn"') == FRAMES
    places = {place["name"] for place in json.loads(said["picture"])["places"]}
    assert {"ecn: p1", "fcn: p1", "ecn: l1", "fcn: l1"} <= places
    assert '"route":["fcn: p1","fcn: pe1"],"count":1,"frame":4711,"run":1' in said["frame"]
    senders = [row["source"] for row in json.loads(said["flows"])["rows"]]
    assert sorted(senders) == ["ecn: l1", "ecn: l2", "fcn: l1", "fcn: l2"]


def test_a_run_of_a_nanosecond_has_no_loads_that_are_no_numbers(read: Read) -> None:
    """Most of its moments take no time."""
    result = congested()
    ended = result.about.model_copy(update={"reached_ns": 1, "finished": False})
    for frame in frames_of(read(replace(result, about=ended))):
        for load in (load for line in frame.lines for load in line.loads):
            assert load.bps is None or load.bps >= 0
