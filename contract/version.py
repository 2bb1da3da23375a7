"""The version of the installed distribution."""

from functools import cache

DISTRIBUTION = "fcn-rocev2"
"""For pip: `fcn` is somebody else's on PyPI."""


@cache
def fcn_version() -> str:
    """As `fcn --version` prints it; `unknown` in a checkout that is not installed by this name."""
    # Takes longer to start than a command that never asks.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "unknown"
