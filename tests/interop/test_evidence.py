"""The checks on the guest kernel's counters in the report, and the test CNPs."""

from dataclasses import replace

import pytest

from fcn.packets.icrc import icrc_valid
from fcn.packets.roce import Opcode
from fcn.ptf_tests.lib.packets import udp_checksum_valid
from fcn.topologies.interop.controls import Control, cnp
from fcn.topologies.interop.evidence import CnpChecks, Evidence
from fcn.topologies.interop.report import checks
from fcn.topologies.interop.run import Report
from fcn.topologies.interop.sniffer import Cnp, roce_opcode

ADDRESSES = [("10.2.1.10", "10.1.1.10"), ("2001:db8:2:1::10", "2001:db8:1:1::10")]


def report(passed: CnpChecks, *controls: Control) -> Report:
    """A report with one CNP per IP version to queue pair 17, and six other packets."""
    return Report(
        "srv6",
        cnps=[Cnp(4, "b", "a", 17, icrc_valid=True), Cnp(6, "b", "a", 17, icrc_valid=True)],
        queue_pairs={4: {17}, 6: {17}},
        own_checked=5,
        own_valid=5,
        evidence=Evidence(8, 6, passed),
        controls=controls,
    )


def failed(found: Report) -> list[str]:
    return [what for what, holds in checks(found).items() if not holds]


def test_all_is_well_when_the_kernel_takes_every_cnp() -> None:
    assert not failed(report(CnpChecks(2, 2, 2, 2)))


@pytest.mark.parametrize(
    ("passed", "what"),
    [
        (CnpChecks(2, 1, 1, 1), "DestQP"),
        (CnpChecks(1, 1, 1, 1), "DestQP"),
        (CnpChecks(2, 2, 1, 1), "P_Key"),
        (CnpChecks(2, 2, 2, 1), "ICRC"),
    ],
)
def test_a_cnp_the_kernel_refuses_fails_the_report(passed: CnpChecks, what: str) -> None:
    (only,) = failed(report(passed))
    assert what in only


def test_no_cnp_at_all_fails_the_report() -> None:
    none = replace(report(CnpChecks()), cnps=[])
    assert any("DestQP" in what for what in failed(none))


def test_a_control_that_passes_where_it_should_not_fails_the_report() -> None:
    control = Control("wrong ICRC", CnpChecks(1, 1, 1, 0), CnpChecks(1, 1, 1, 1))
    (only,) = failed(report(CnpChecks(2, 2, 2, 2), control))
    assert "wrong ICRC" in only


def test_counters_are_compared_with_those_before() -> None:
    before = Evidence(10, 4, CnpChecks(6, 5, 4, 3))
    after = Evidence(20, 12, CnpChecks(8, 7, 6, 5))
    assert after.since(before) == Evidence(10, 8, CnpChecks(2, 2, 2, 2))
    assert after.since(before).dropped == 2


@pytest.mark.parametrize(("src", "dst"), ADDRESSES)
def test_the_controls_differ_in_nothing_but_what_they_say(src: str, dst: str) -> None:
    """A wrong UDP checksum would be dropped before the check a control is for."""
    right = cnp(src, dst, 17)
    wrong = cnp(src, dst, 17, int.from_bytes(right[-4:]) ^ 1)
    assert roce_opcode(right) == Opcode.CNP
    assert icrc_valid(right)
    assert not icrc_valid(wrong)
    assert udp_checksum_valid(right)
    assert udp_checksum_valid(wrong)
    assert len(right) == len(wrong)
