"""Help of the laboratory is there soon: what runs and reports need is imported when they begin."""

import subprocess
import sys

import pytest

SLOW = {"asyncio", "cffi", "finsy", "grpc", "matplotlib", "numpy", "pandas", "yaml"}

SCRIPT = """
import sys
from fcn.lab.cli.main import app
try:
    app(sys.argv[1:])
except SystemExit:
    pass
print("imported", *sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize("command", [(), ("run",), ("show",), ("compare",), ("play",), ("list",)])
def test_help_imports_nothing_slow(command: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *command, "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Usage:" in done.stdout
    assert SLOW & set(done.stderr.split()) == set()
