"""Tests that are the same in every mode."""

from typing import Any, get_args

import pytest

from fcn.lab.modes import Mode


def modes(*everyday: str) -> list[Any]:
    """Parameters of a test: every mode; all but these are exhaustive."""
    return [
        pytest.param(mode, marks=[] if mode in everyday else pytest.mark.exhaustive)
        for mode in get_args(Mode)
    ]
