"""Which port numbers interfaces can have."""

import pytest

from fcn.contract.targets import TOFINO1, TOFINO2, V1MODEL, Target


@pytest.mark.parametrize(
    ("target", "port", "problem"),
    [
        (V1MODEL, 0, None),
        (V1MODEL, 506, None),
        (V1MODEL, 507, "is the clock port"),
        (V1MODEL, 508, "is the parking port"),
        (V1MODEL, 509, "is the recirculation port"),
        (V1MODEL, 510, "is the CPU port"),
        (V1MODEL, 511, "is the drop port"),
        (V1MODEL, 512, "is not a front-panel port; those are 0 to 511"),
        (TOFINO1, 0, None),
        (TOFINO1, 63, None),
        (TOFINO1, 64, "is the CPU port"),
        (TOFINO1, 68, "is the recirculation port"),
        (TOFINO1, 100, "is not a front-panel port; those are 0 to 63, 128 to 191,"),
        (TOFINO1, 447, None),
        (TOFINO1, 448, "is not a front-panel port"),
        (TOFINO2, 0, "is the CPU port"),
        (TOFINO2, 6, "is the recirculation port"),
        (TOFINO2, 7, "is not a front-panel port; those are 8 to 71, 136 to 199,"),
        (TOFINO2, 8, None),
        (TOFINO2, 455, None),
        (TOFINO2, 456, "is not a front-panel port"),
    ],
)
def test_front_panel_ports(target: Target, port: int, problem: str | None) -> None:
    found = target.ports.problem(port)
    if problem is None:
        assert found is None
    else:
        assert found is not None
        assert found.startswith(problem)


def test_first_ports_are_front_panel() -> None:
    assert V1MODEL.ports.first(5) == TOFINO1.ports.first(5) == (1, 2, 3, 4, 5)
    assert TOFINO2.ports.first(5) == (8, 9, 10, 11, 12)
    ports = TOFINO1.ports.first(70)
    assert len(ports) == 70
    assert [port for port in ports if TOFINO1.ports.problem(port)] == []
