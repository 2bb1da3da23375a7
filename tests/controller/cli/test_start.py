"""Commands start soon: they import what they need, and no more."""

import subprocess
import sys

import pytest

SLOW = ("asyncio", "finsy", "grpc", "scapy", "yaml")

SCRIPT = """
import sys
from fcn.controller.cli.commands import app
try:
    app(sys.argv[1:])
except SystemExit:
    pass
print("imported", *sorted(set({slow}) & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        (("--help",), set()),
        (("flows", "--help"), set()),
        (("status", "--api", "127.0.0.1:1"), {"asyncio", "grpc"}),
        (("check", "--config", "/dev/null"), {"asyncio", "yaml"}),
    ],
    ids=["help", "help of a group", "status", "a refused file"],
)
def test_a_command_imports_what_it_needs(command: tuple[str, ...], needed: set[str]) -> None:
    script = SCRIPT.format(slow=SLOW)
    done = subprocess.run(
        [sys.executable, "-c", script, *command], capture_output=True, text=True, check=True
    )
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("imported"))
    assert set(line.split()[1:]) <= needed
