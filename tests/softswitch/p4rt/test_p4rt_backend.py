"""The backend of the packet engine."""

import pytest
from p4rt_testing import P4BLOB

from fcn.softswitch.engine import Program, ProgramError, make_program
from fcn.softswitch.p4rt import backend
from fcn.softswitch.p4rt.backend import RealBackend


def test_the_program_built_last_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made once for building and opening, and for whoever sends it again."""
    made: list[bytes] = []

    def counted(device_config: bytes) -> Program:
        made.append(device_config)
        return make_program(device_config)

    monkeypatch.setattr(backend, "make_program", counted)
    real = RealBackend({}, cpu_port=510, drop_port=511, queues=1)
    one, bad = P4BLOB.read_bytes(), b"{}"
    other = one + b"\n"
    for device_config in (one, one):
        real.build(device_config)
        real.close(real.open(device_config))
    assert made == [one]
    real.build(other)
    with pytest.raises(ProgramError):
        real.build(bad)
    real.build(one)
    assert made == [one, other, bad, one]
