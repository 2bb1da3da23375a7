"""`fcn trace --program`: a program alone, its entries and packets, and what is wrong with them."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from fcn.softswitch.tracer.__main__ import main
from fcn.softswitch.tracer.alone import read_config, read_entries
from fcn.softswitch.tracer.frames import read_hex, read_pcap
from fcn.softswitch.tracer.show import ShowError

PROGRAMS = Path(__file__).parents[1] / "p4"
KITCHEN = PROGRAMS / "kitchen.json"
FRAME = "11:22:33:44:55:66 0a0000000001 88b6"

ENTRIES = """
updates { type: INSERT entity { table_entry {
  table_id: %d
  match { field_id: 1 exact { value: "\\x11\\x22\\x33\\x44\\x55\\x66" } }
  match { field_id: 2 exact { value: "\\x01" } }
  action { action { action_id: %d
    params { param_id: 1 value: "\\x02" }
    params { param_id: 2 value: "\\x07" } } } } } }
"""


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(main)
    return app


@pytest.fixture
def entries(tmp_path: Path) -> Path:
    info = read_config(KITCHEN, None).p4info
    table = next(t.preamble.id for t in info.tables if t.preamble.name == "I.l2")
    action = next(a.preamble.id for a in info.actions if a.preamble.name == "I.forward")
    file = tmp_path / "entries.txtpb"
    file.write_text(ENTRIES % (table, action))
    return file


def _run(app: typer.Typer, *arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["--program", str(KITCHEN), "--port", "1", *arguments])
    return result.exit_code, result.output


def test_a_packet_meets_the_entries_of_a_file(
    app: typer.Typer, entries: Path, tmp_path: Path
) -> None:
    code, output = _run(app, "--packet", FRAME, "--entries", str(entries))
    assert code == 0, output
    assert "table I.l2: hit, I.forward(port=2, dst=00:00:00:00:00:07)" in output
    assert "sent by port 2" in output
    code, output = _run(app, "--packet", FRAME, "--packet", FRAME, "--json")
    stories = [json.loads(line) for line in output.splitlines()]
    assert (code, len(stories)) == (0, 2)
    assert all(story["complete"] for story in stories)
    page = tmp_path / "story.html"
    code, output = _run(app, "--packet", FRAME, "--html", str(page))
    assert code == 0, output
    assert "I.l2" in page.read_text()
    assert _run(app, "--packet", FRAME, "--html", str(page))[0] == 0, "a page is replaced"
    before = entries.read_text()
    code, output = _run(app, "--packet", FRAME, "--html", str(entries))
    assert (code, f"{entries}: is there, and no page of this fcn" in output) == (1, True)
    assert entries.read_text() == before, "and nothing else is"


def test_entries_that_do_not_fit_are_named(app: typer.Typer, entries: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.txtpb"
    wrong.write_text(entries.read_text().replace("field_id: 2", "field_id: 9"))
    code, output = _run(app, "--packet", FRAME, "--entries", str(wrong))
    assert code == 1
    assert "entry 1:" in output


def test_what_is_missing_is_said(app: typer.Typer) -> None:
    assert _run(app)[0] == 2
    result = CliRunner().invoke(app, ["--program", str(KITCHEN), "--packet", FRAME])
    assert result.exit_code == 2
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 2
    assert _run(app, "--packet", FRAME, "-m", "eth.type=1")[0] == 2
    assert CliRunner().invoke(app, ["--switch", "x:1", "--entries", "f"]).exit_code == 2
    for port in ("-1", "512", "99999999999"):
        assert _run(app, "--packet", FRAME, "--port", port)[0] == 2


def test_files_that_are_not_what_they_should_be(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with pytest.raises(ShowError, match="cannot read"):
        read_config(file, None)
    file.write_text("colour: red")
    with pytest.raises(ShowError, match="is not a P4Info"):
        read_config(KITCHEN, file)
    with pytest.raises(ShowError, match="is not a WriteRequest"):
        read_entries(file)
    with pytest.raises(ShowError, match="cannot read the capture"):
        read_pcap(file, 1)


def test_frames_in_hexadecimal_digits() -> None:
    assert read_hex("0x0102") == read_hex("01:02") == read_hex("01 02") == b"\1\2"
    for wrong in ("", "0g", "012", "00" * 10_241):
        with pytest.raises(ShowError):
            read_hex(wrong)


def test_frames_of_a_capture(tmp_path: Path) -> None:
    from scapy.utils import wrpcap

    file = tmp_path / "two.pcap"
    wrpcap(str(file), [bytes(20), bytes(30)])
    assert read_pcap(file, 1) == [bytes(20)]
    assert read_pcap(file, 9) == [bytes(20), bytes(30)]
    file.write_bytes(file.read_bytes()[:-1])
    assert read_pcap(file, 1) == [bytes(20)]
    with pytest.raises(ShowError, match="ends within a frame"):
        read_pcap(file, 9)
