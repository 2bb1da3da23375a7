"""The core and the hosts under AddressSanitizer and UndefinedBehaviorSanitizer."""

import os
import subprocess
import sys
from pathlib import Path

import lab_sanitized

from fcn.contract.pipeline import load_pipeline
from fcn.contract.profiles import LEAST

SCRIPT = Path(lab_sanitized.__file__)


def sanitized(script: str | Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the sanitizers' run-time library."""
    compiler = os.environ.get("CC", "cc")
    library = subprocess.run(
        [compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    # Python itself is not clean of leaks.
    environment = {**os.environ, "LD_PRELOAD": library, "ASAN_OPTIONS": "detect_leaks=0"}
    return subprocess.run(
        [sys.executable, str(script), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=600,
    )


def test_nothing_to_report_and_the_same_digest() -> None:
    """Malformed frames, cut links, a replaced engine; other code, the same simulation."""
    # Compiled here: with the sanitizer's library in it, a compiler needs more memory than it may.
    for role in ("pe", "p"):
        blob = load_pipeline(role, profile=LEAST).blob
        assert blob is not None
        lab_sanitized.sanitized(blob)
    result = sanitized(SCRIPT, "--sanitize")
    assert result.returncode == 0, result.stderr[-4000:]
    assert int(result.stdout) == lab_sanitized.run(sanitize=False)


def test_a_defect_is_reported(tmp_path: Path) -> None:
    """The sanitizers work this way: a frame shorter than its length says."""
    script = tmp_path / "defect.py"
    script.write_text(
        "from fcn.lab.core import Simulation\n"
        "s = Simulation(sanitize=True)\n"
        "host = s.add_host('host')\n"
        "n, short = s.native, s.native.ffi.new('uint8_t[9]')\n"
        "n.lib.lab_send_frame(n.handle, host.number, 9000, short)\n"
    )
    result = sanitized(script)
    assert result.returncode != 0
    assert "AddressSanitizer" in result.stderr
