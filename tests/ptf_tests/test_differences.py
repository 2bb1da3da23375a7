"""What counts as a difference between the chip's model and the softswitch."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fcn.contract.targets import TOFINO2
from fcn.ptf_tests import differences
from fcn.ptf_tests.differences import comparable
from fcn.ptf_tests.lib.packets import roce, srv6
from fcn.ptf_tests.lib.ports import PORTS_OF
from tools.p4.programs import P4SRC

INNER = roce("10.0.0.1", "10.0.0.2", 7)


def _frame(checksum: int | None, segments: tuple[str, ...]) -> str:
    """A tunnel with a customer's packet, whose IPv4 header has this checksum or the right one."""
    octets = INNER if checksum is None else INNER[:10] + checksum.to_bytes(2, "big") + INNER[12:]
    outer = srv6(octets, "fc00::1", "fc00::2", segments, len(segments))
    return comparable((bytes(12) + b"\x86\xdd" + outer).hex())


@pytest.mark.parametrize("segments", [(), ("fc00::3",)])
def test_a_wrong_checksum_is_as_good_as_another_but_not_as_the_right_one(
    segments: tuple[str, ...],
) -> None:
    right, wrong, other = (_frame(each, segments) for each in (None, 1, 2))
    assert wrong == other != right


def test_a_frame_that_ends_in_its_headers_is_compared_as_it_is() -> None:
    whole = _frame(1, ("fc00::3",))
    for octets in range(57, 112):
        cut = whole[: 2 * octets]
        assert len(comparable(cut)) == len(cut)


def test_no_packets(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(differences, "record", lambda *_arguments: pytest.fail("nothing to send"))
    monkeypatch.setattr("sys.argv", ["differences", "--packets", "0"])
    with pytest.raises(SystemExit) as ended:
        differences.main()
    assert ended.value.code == 2
    assert "--packets 0: at least 1" in capsys.readouterr().err


def test_what_cannot_be_recorded_is_no_difference(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the model: its status is that of what cannot run."""
    monkeypatch.delenv("FCN_TOFINO_MODEL", raising=False)
    monkeypatch.setattr(differences, "TARGETS", ("tofino", "tofino"))
    monkeypatch.setattr("sys.argv", ["differences", "--packets", "1"])
    with pytest.raises(SystemExit) as ended:
        differences.main()
    assert ended.value.code == 2
    assert "random_packets.AtAP failed on tofino" in capsys.readouterr().err


def test_both_targets_have_the_ports_of_the_chip(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Frames contain addresses that contain numbers of ports: those of Tofino 2 are others."""
    given: list[dict[str, str]] = []
    monkeypatch.setattr(
        subprocess, "run", lambda *_command, env, check: given.append(env) if check else None
    )
    monkeypatch.setenv("FCN_P4", str(tmp_path))
    for target in ("tofino", "softswitch"):
        differences.record(target, "AtAP", 1, 1, tmp_path / target)
    chip, softswitch = given
    assert chip["FCN_P4"] == softswitch[PORTS_OF] == str(tmp_path)
    assert PORTS_OF not in chip
    assert "FCN_P4" not in softswitch


def test_the_bed_has_the_ports_of_the_programs_that_are_named() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from fcn.ptf_tests.lib.ports import ALL_PORTS; print(ALL_PORTS)"],
        env=os.environ | {PORTS_OF: str(P4SRC / "compiled" / "tna" / "two-threshold")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{TOFINO2.ports.first(5)}\n"
