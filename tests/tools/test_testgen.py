"""Tests of p4testgen are read and run as it means them: a tool on PATH writes those given here."""

import shutil
import sys
from pathlib import Path

import pytest

from fcn.contract.constants import PipelineError, compiled_programs
from fcn.contract.pipeline import load_pipeline
from fcn.softswitch.api import EngineError
from fcn.softswitch.p4rt.errors import P4RuntimeError
from tools.p4.testgen import __main__ as testgen
from tools.p4.testgen.programs import Program, programs
from tools.p4.testgen.stf import StfError, read

ADDRESSES = "11000000000000000000000000000000" + "4D406FDDCBD9192A835E27F5682ED1DC"
FRAME = "6F20FABEB32B00000000000086DD6000000000013B40" + ADDRESSES + "85"
SENT = "00000000000200000000000186DD6000000000013B3F" + ADDRESSES + "85"
PUNTED = """# Current node coverage: 0.25
# [If Statement]: hdr.outer_ipv6.isValid() Condition: true; Result: true
# [Emit]: hdr.tunnel.udp.checksum = TaintedExpression(bit<16>)
add "port_role" "ingress_port":0x089 "vlan_id":0x000 "PIngress.admit.port_role.set_core_port"()
add "port_mac" "ingress_port":0x089 "dst_mac":0x6F20FABEB32B "PIngress.to_this_node"()
add "endpoint" "dst":0x4D406FDDCBD9192A835E27F5682ED1DC "PIngress.endpoint.local_address"()
packet 137 FRAME
expect 510 0A8900000000FRAME$
"""
DROPPED = PUNTED.partition("expect")[0]
ROUTED = """# Current statement coverage: 0.5
add port_role ingress_port:0x001 vlan_id:0x000 PIngress.admit.port_role.set_core_port()
add port_mac ingress_port:0x001 dst_mac:0x6F20FABEB32B PIngress.admit.port_mac.to_this_node()
add underlay 1 dst:0b01001101ANY PIngress.set_underlay_nexthop(port:0x02,src_mac:0x1,dst_mac:0x2)
setdefault domain_mode PEgress.domain_mode.set_mode(congestion_kind:0x01,translates:0x00)
add queue_level egress_port:0x2 queue_id:0x0 queue_depth:0x0 PEgress.set_level(level:0x3)
packet 1 FRAME
expect 2 SENT$
""".replace("ANY", "*" * 120)


def written(folder: Path, *texts: str) -> list[Path]:
    files = [folder / f"p_{number}.stf" for number, _ in enumerate(texts, 1)]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text.replace("FRAME", FRAME).replace("SENT", SENT))
    return files


def ran(monkeypatch: pytest.MonkeyPatch, folder: Path, *options: str) -> int:
    """The exit status, with a p4testgen that writes the tests of this folder."""
    tool = folder / "bin" / "p4testgen"
    tool.parent.mkdir()
    copy = (
        f'for word; do case $last in --out-dir) cp "{folder}"/*.stf $word;; esac; last=$word; done'
    )
    tool.write_text(f"#!/bin/sh\n{copy}\ntest -f $last\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    monkeypatch.delenv("FCN_TOFINO_MODEL", raising=False)
    monkeypatch.setattr(sys, "argv", ["testgen", *options])
    with pytest.raises(SystemExit) as ended:
        testgen.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_what_the_softswitch_does_as_p4_says_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, PUNTED, ROUTED, ROUTED.replace("SENT", "*" * 24 + SENT[24:]))
    assert ran(monkeypatch, tmp_path, "fcn/p") == 0
    assert capsys.readouterr().out == (
        "fcn/p: 3 tests pass 50% of its statements; 0 are uncertain; of 3, after which 3 times a "
        "frame leaves, 0 came out otherwise\n"
    )


@pytest.mark.parametrize(
    "wrong",
    [
        DROPPED,
        PUNTED.replace("$", "00$"),
        ROUTED.replace("SENT", FRAME),
        ROUTED.replace("expect 2", "expect 3"),
        ROUTED.replace("0b01001101", "0b01001100"),
    ],
)
def test_another_outcome_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], wrong: str
) -> None:
    written(tmp_path, PUNTED, wrong)
    assert ran(monkeypatch, tmp_path, "fcn/p") == 1
    out = capsys.readouterr().out
    assert ", 1 came out otherwise\np_2: in " in out
    assert FRAME.lower() in out


@pytest.mark.parametrize(
    "word",
    [
        "# [Tainted If Statement]: \n",
        "# [Table Branch: underlay | Key(s): TaintedExpression(bit<128>)| Chosen action: x]\n",
        "# [MethodCall]: recirculate_preserving_field_list(3);\n",
        "mirroring_add 1 2\n",
    ],
)
def test_what_p4testgen_does_not_know_is_not_judged(tmp_path: Path, word: str) -> None:
    schema = load_pipeline("p", profile="fcn").schema
    certain, uncertain = written(tmp_path, DROPPED, word + DROPPED)
    assert read(certain, schema).certain
    assert not read(uncertain, schema).certain


def test_ports_of_a_chip_are_those_of_the_softswitch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, PUNTED.replace("expect 510", "expect 64"))
    assert ran(monkeypatch, tmp_path, "--chip", "1", "fcn/p") == 0


@pytest.mark.parametrize("chip", [0, 1, 2])
def test_ports_are_those_of_the_front_panel(chip: int) -> None:
    """p4testgen takes no range whose end is before its beginning."""
    for program in programs(chip):
        for first, last in program.source.ports:
            assert first <= last
            assert last not in (509, 68, 6), "the recirculation port"


def test_a_program_named_twice_is_tested_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, PUNTED)
    assert ran(monkeypatch, tmp_path, "fcn/p", "fcn/p") == 0
    assert capsys.readouterr().out.count("fcn/p: 1 tests") == 1


def test_a_program_for_the_other_chip_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(compiled_programs() / "tna" / "p.p4info.txtpb", tmp_path)
    (tmp_path / "p.bin").touch()
    monkeypatch.setenv("FCN_TOFINO_MODEL", "/the/model.so")
    monkeypatch.setenv("FCN_P4", str(tmp_path))
    with pytest.raises(PipelineError, match="is of a program for Tofino 1"):
        Program("fcn", "p", 2).switch()


@pytest.mark.parametrize("error", [P4RuntimeError(3, "no profile"), TimeoutError(), EngineError()])
def test_a_program_that_cannot_be_tested_is_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
) -> None:
    def switch(_program: Program) -> None:
        raise error

    written(tmp_path, PUNTED)
    monkeypatch.setattr(Program, "switch", switch)
    assert ran(monkeypatch, tmp_path, "fcn/p") == 2
    assert capsys.readouterr().err.startswith(f"fcn/p: {error or type(error).__name__}")


def test_what_is_no_tool_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p4testgen").write_text("no program")
    (tmp_path / "p4testgen").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["testgen", "fcn/p"])
    with pytest.raises(SystemExit) as ended:
        testgen.main()
    assert ended.value.code == 2
    assert "p4testgen on PATH cannot be run" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line", ["remove all", "add nothing a:0x1 act()", "add endpoint dst:0x1 none()", "packet x 00"]
)
def test_a_line_that_is_not_understood_is_said(tmp_path: Path, line: str) -> None:
    (file,) = written(tmp_path, PUNTED + line)
    with pytest.raises(StfError, match=line.split()[0]):
        read(file, load_pipeline("p", profile="fcn").schema)


def test_without_the_tool_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["testgen", "fcn/p"])
    with pytest.raises(SystemExit):
        testgen.main()
    assert "p4testgen is not on PATH" in capsys.readouterr().err
