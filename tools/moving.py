"""`python -m tools.moving`: the moving picture of README.md, from a run of the laboratory.

Chromium shows the run as `fcn lab play` serves it, and its clock stands still between two pictures:
how fast this machine is does not matter.
"""

import io
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import sync_playwright

SCENARIO = "dumbbell"
UNTIL = "24ms"
BEGIN_MS = 10.4
"""When the first packets wait; the first notification follows 0.3 ms later."""

PICTURES = 100
EVERY_MS = 125
WIDTH = 880
QUALITY = 55
MOST = 1_000_000
"""Octets of the file."""

FILE = Path(__file__).parents[1] / "docs" / "live.webp"
STEADY = "let n = 1; Math.random = () => (n = (n * 16807) % 2147483647) / 2147483647;"


@contextmanager
def played(folder: Path) -> Iterator[str]:
    """A run of the scenario in a folder, served; yields the address."""
    lab = [sys.executable, "-m", "fcn.lab"]
    subprocess.run([*lab, "run", SCENARIO, "--until", UNTIL, "--out", folder], check=True)
    command = [*lab, "play", str(folder), "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().split()[-1]
        finally:
            server.terminate()


def pictures(address: str) -> Iterator[Image.Image]:
    """The page, one moment after the other."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": WIDTH, "height": 900})
        tab.add_init_script(STEADY)
        tab.clock.install()
        tab.goto(address)
        tab.wait_for_function("Number(document.querySelector('#moment').max) > 0")
        at = f"""() => {{ const slider = document.querySelector("#moment");
            slider.value = Math.round(slider.max * {BEGIN_MS / float(UNTIL.removesuffix("ms"))});
            slider.dispatchEvent(new Event("input")); }}"""
        tab.evaluate(at)
        tab.click("#replay")
        box = tab.locator("#picture").bounding_box()
        assert box is not None
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": box["y"] + box["height"] + 8}
        for _ in range(PICTURES):
            tab.clock.run_for(EVERY_MS)
            yield Image.open(io.BytesIO(tab.screenshot(clip=clip))).convert("RGB")
        browser.close()


def main() -> None:
    with TemporaryDirectory() as scratch, played(Path(scratch) / "run") as address:
        first, *others = pictures(address)
    out = io.BytesIO()
    first.save(
        out, "WEBP", save_all=True, append_images=others, duration=EVERY_MS, loop=0,
        quality=QUALITY, method=4, minimize_size=True,
    )  # fmt: skip
    size = len(out.getvalue())
    if size > MOST:
        sys.exit(f"error: {size} octets are too many: lower QUALITY, WIDTH or PICTURES")
    FILE.write_bytes(out.getvalue())
    print(f"{FILE}: {size:,} octets, {first.width} x {first.height}")


if __name__ == "__main__":
    main()
