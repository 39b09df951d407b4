"""Takes the pictures of the documentation from a small real run: `make screenshots`. Needs Chromium on the PATH.

The run has no list of known failures, so that its findings look like new ones.
"""

from __future__ import annotations

import argparse
import base64
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.reports.tests.browser import Browser

IMAGES = ROOT / "docs" / "images"
SPECS = ("elu", "exp", "floor", "gather-batch1-int64-out-of-range", "maximum", "maximum-nan")
#: The record of the second picture: case, device, mode, quantity, oracle.
RECORD = ("elu-bfloat16-small", "cpu", "eager", "output[0]", "numpy")
#: CSS pixels; a picture has as many pixels. In a window of the second width, the details of a record fill the window.
WIDTH, NARROW, HEIGHT, MARGIN = 1200, 960, 820, 16


def main() -> int:
    """Makes the run, unless one is given, and the pictures; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m docs.screenshots", description=__doc__)
    parser.add_argument("--run", type=Path, metavar="RUN", help="take the pictures of this run; default: a new one")
    chosen = parser.parse_args().run
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        print("python -m docs.screenshots: expected chromium on the PATH, found none", file=sys.stderr)
        return 4
    with tempfile.TemporaryDirectory() as folder:
        run = chosen or _run(Path(folder))
        browser = Browser(program, Path(folder, "profile"))
        try:
            browser.call("Emulation.setScrollbarsHidden", hidden=True)
            browser.look(width=WIDTH, height=HEIGHT)
            browser.open(run / "index.html")
            _picture(browser, "report", until="section:has(#matrix-title)")
            browser.look(width=NARROW, height=HEIGHT)
            browser.open(run / "index.html", f"#record={quote('|'.join(RECORD))}")
            _picture(browser, "finding")
        finally:
            browser.close()
    return 0


def _run(folder: Path) -> Path:
    """A run of the specs on the CPU; it ends with status 1, since it finds differences."""
    run = folder / "run"
    options = [word for spec in SPECS for word in ("--op", spec)]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "auto",
        "-q",
        "--no-sweep",
        "--repro=all",
        "-p",
        "no:cacheprovider",
        *options,
    ]
    command += ["--device", "cpu", f"--run-dir={run}", "-o", f"opdiff_known={os.devnull}", "suites"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode != 1:
        raise RuntimeError(f"expected a run with exit status 1, got {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return run


def _picture(browser: Browser, name: str, until: str = "") -> None:
    """Writes a picture of the window, or of the page from its top to the end of the element `until`."""
    settings: dict[str, object] = {"format": "webp", "quality": 75}
    if until:
        end = browser.js(f"document.querySelector({until!r}).getBoundingClientRect().bottom + scrollY")
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": end + MARGIN, "scale": 1}
        settings |= {"captureBeyondViewport": True, "clip": clip}
    data = browser.call("Page.captureScreenshot", **settings)
    (IMAGES / f"{name}.webp").write_bytes(base64.b64decode(data["data"]))


if __name__ == "__main__":
    sys.exit(main())
