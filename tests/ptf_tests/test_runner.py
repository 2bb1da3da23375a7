"""What the runner makes of ptf's output."""

import pytest

from fcn.ptf_tests.runner import Totals, totals_of

MIXED = """\
runTest (port_roles.A.runTest) ... ok
runTest (port_roles.B.runTest) ... FAIL
runTest (port_roles.C.runTest) ... skipped 'bmv2 has no second queue'
runTest (port_roles.D.runTest) ...
  runTest (port_roles.D.runTest) (case=1) ... FAIL
  runTest (port_roles.D.runTest) (case=2) ... FAIL
runTest (port_roles.E.runTest) ... a line the test printed
ok
runTest (port_roles.F.runTest) ... ERROR

----------------------------------------------------------------------
Ran 6 tests in 3.536s

FAILED (failures=3, errors=1, skipped=1)
"""

GREEN = """\
runTest (a.A.runTest) ... ok

----------------------------------------------------------------------
Ran 1 test in 0.148s

OK
"""


@pytest.mark.parametrize(
    ("output", "exit_code", "totals", "green"),
    [
        (MIXED, 1, Totals(2, 3, 1), False),
        (GREEN, 0, Totals(1, 0, 0), True),
        (GREEN, 1, Totals(1, 1, 0), False),
        ("Traceback (most recent call last):\n", 1, Totals(0, 1, 0), False),
        (
            GREEN.replace("Ran 1 test", "Ran 0 tests").replace("... ok", ""),
            0,
            Totals(0, 0, 0),
            False,
        ),
    ],
    ids=["mixed", "green", "exit code wins", "ended early", "nothing ran"],
)
def test_totals(output: str, exit_code: int, totals: Totals, green: bool) -> None:
    assert totals_of(output, exit_code) == totals
    assert totals.green is green


def test_totals_read_like_a_sentence() -> None:
    assert str(Totals(3, 2, 1)) == "3 passed, 2 failed, 1 skipped"
    assert Totals.read("3 passed, 2 failed, 1 skipped\n") == Totals(3, 2, 1)


@pytest.mark.parametrize("line", ["", "OK", "bmv2: not installed", "1 passed, 0 failed"])
def test_other_lines_are_no_totals(line: str) -> None:
    assert Totals.read(line) is None
