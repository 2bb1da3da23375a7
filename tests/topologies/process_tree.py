"""Processes and interfaces of topologies, as the machine outside sees them."""

import subprocess
from contextlib import suppress
from pathlib import Path


def descendants(pid: int) -> set[int]:
    """Processes started by a process, directly or not."""
    found: set[int] = set()
    with suppress(FileNotFoundError, ProcessLookupError):  # what ends while this looks
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, children.read_text().split()):
                found |= {child} | descendants(child)
    return found


def is_running(pid: int) -> bool:
    """Whether a process exists and is more than an exit status nobody asked for."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def ended(pids: set[int]) -> bool:
    """Whether none of these processes is running."""
    return not any(map(is_running, pids))


def interfaces() -> set[str]:
    """Interfaces of the topologies' switches that are visible outside of it."""
    shown = subprocess.run(["ip", "-br", "link"], capture_output=True, text=True, check=True)
    names = {line.split()[0].split("@")[0] for line in shown.stdout.splitlines()}
    return {name for name in names if name.startswith(("pe1-", "pe2-", "p1-", "p2-"))}
