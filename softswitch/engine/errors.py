"""Errors of loading and building a program."""

from fcn.softswitch.api import EngineError


class ProgramError(EngineError):
    """The JSON is not what p4c-bm2-ss writes; the message names the place."""


class UnsupportedError(ProgramError):
    """The program uses something outside the documented subset; the message names it."""


class BuildError(EngineError):
    """The system compiler failed; the message holds its output."""
