"""Jitter and bit errors of links."""

from dataclasses import dataclass

from fcn.lab.core import Link, Simulation
from fcn.lab.errors import LabError

MOST_BIT_ERRORS = 1e-3
"""As a rate: beyond, hardly a frame arrives."""

LEAST_BIT_ERRORS = 1e-17


@dataclass(frozen=True, slots=True)
class Impairment:
    """jitter_ns: what a frame takes longer at most, at random and alike likely; frames stay in
    order. bit_errors: the share of bits that are wrong, each by itself; a frame with one is lost.
    Both follow from the simulation's seed, in each direction by themselves. Flow control of the
    link has room for the jitter that is set before it."""

    jitter_ns: int = 0
    bit_errors: float = 0.0


def impair(simulation: Simulation, link: Link, impairment: Impairment) -> None:
    """Let a link be so from now on. Raises LabError."""
    errors, jitter = impairment.bit_errors, impairment.jitter_ns
    if errors and not LEAST_BIT_ERRORS <= errors <= MOST_BIT_ERRORS:
        raise LabError(
            f"a share of {errors} wrong bits: give 0, or {LEAST_BIT_ERRORS} to {MOST_BIT_ERRORS}"
        )
    if jitter < 0:
        raise LabError(f"a jitter of {jitter} ns: give 0 or more")
    simulation.native.call(
        "set_impairment", link.number, jitter, round(1 / errors) if errors else 0
    )
    link.jitter_ns = jitter
