"""Random early detection: how often a port marks at each depth is the closed form."""

from collections import Counter

import pytest

from fcn.contract.ecn import Ecn
from fcn.lab.errors import LabError
from fcn.lab.marking import FRAME, binomial_error, measure_marks, plain_config
from fcn.lab.red import Red

PACKETS = 10_000
"""At each depth."""

ERROR = 1e-3
"""How likely the test refuses a fair switch at any depth, for a seed chosen at random."""

SEED = 20261125


@pytest.mark.parametrize(
    "red",
    [
        pytest.param(Red(4 * FRAME, 20 * FRAME, 0.2), id="linear"),
        pytest.param(
            Red(4 * FRAME + 7, 21 * FRAME - 1, 0.01),
            id="between-packets",
            marks=pytest.mark.exhaustive,
        ),
        pytest.param(Red(8 * FRAME, 8 * FRAME, 1.0), id="all-or-nothing"),
        pytest.param(Red(2 * FRAME, 22 * FRAME, 1.0), id="up-to-all", marks=pytest.mark.exhaustive),
    ],
)
def test_the_share_of_marked_packets_is_the_closed_form(red: Red) -> None:
    """At 24 depths, 10,000 packets each: exactly none up to Kmin, exactly all beyond Kmax."""
    measured = measure_marks(plain_config(), deepest=23, bursts=PACKETS, seed=SEED, red=red)
    assert len(measured) == 24
    for at in measured:
        octets = at.depth * FRAME
        assert at.packets == PACKETS
        assert set(at.codepoints) <= {Ecn.ECT0, Ecn.CE}
        if red.kmin < octets <= red.kmax:
            expected = red.pmax * (octets - red.kmin) / (red.kmax - red.kmin)
        else:
            expected = float(octets > red.kmax)
        assert red.probability(octets) == pytest.approx(expected, abs=2**-31)
        error = binomial_error(PACKETS, at.codepoints[Ecn.CE], expected)
        assert error > ERROR / len(measured), (at.depth, at.codepoints, expected)


@pytest.mark.parametrize(
    ("sent", "left"),
    [
        (Ecn.NOT_ECT, {Ecn.NOT_ECT}),
        (Ecn.ECT0, {Ecn.ECT0, Ecn.CE}),
        (Ecn.ECT1, {Ecn.ECT1, Ecn.CE}),
        (Ecn.CE, {Ecn.CE}),
    ],
)
def test_what_is_not_ecn_capable_is_never_marked(sent: Ecn, left: set[Ecn]) -> None:
    """RFC 3168, section 5."""
    red = Red(2 * FRAME, 6 * FRAME, 0.5)
    measured = measure_marks(plain_config(), deepest=9, bursts=50, seed=1, sent=sent, red=red)
    assert set(sum((at.codepoints for at in measured), Counter[Ecn]())) == left


def test_the_seed_decides_which_packets_are_marked() -> None:
    red = Red(FRAME, 5 * FRAME, 0.5)
    first, again, other = (
        measure_marks(plain_config(), deepest=5, bursts=200, seed=seed, red=red)
        for seed in (7, 7, 8)
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize("red", [Red(2, 1, 0.5), Red(1, 1 << 32, 0.5), Red(1, 2, 1.5)])
def test_what_cannot_be_is_refused(red: Red) -> None:
    with pytest.raises(LabError, match="RED"):
        measure_marks(plain_config(), deepest=1, bursts=1, seed=1, red=red)
