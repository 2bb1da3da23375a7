"""The version of the installed distribution."""

from importlib.metadata import version

DISTRIBUTION = "fcn-rocev2"
"""For pip: `fcn` is somebody else's on PyPI."""


def fcn_version() -> str:
    """As `fcn --version` prints it."""
    return version(DISTRIBUTION)
