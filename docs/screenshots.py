"""Takes the pictures of the documentation: `make screenshots`. Needs Chromium on the PATH.

The pictures of a run's pages are those of the run that `--run` names, such as a default run; without it, of a small run
that is made here. Another run has three planted faults of different severity: see `docs.planted`.
"""

from __future__ import annotations

import argparse
import base64
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from tf_opdiff import reports
from tf_opdiff.command_line import main as tf_opdiff
from tf_opdiff.harness.paths import ROOT, SUITES
from tf_opdiff.reports.tests.browser import Browser

IMAGES = ROOT / "docs" / "images"
SPECS = ("elu", "exp", "floor", "gather-batch1-int64-out-of-range", "maximum", "maximum-nan", "cast-integer-to-int4")
CLAIMS = ("claim-c08-binarize-naive", "claim-c09-binarize")
PLANTED = ("planted-crash", "planted-rounding", "planted-wrong-value")
#: The record of the picture of a failure: case, device, mode, quantity, oracle.
RECORD = ("planted-wrong-value-float32-plain", "cpu", "eager", "output[0]", "numpy")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One picture.

    name       that of the file in `docs/images/`.
    page       the page, relative to the folder of the runs.
    fragment   what follows the page's address.
    part       the CSS selector of the element that the picture shows; empty for the window.
    width, height  of the window, in CSS pixels, which are those of the picture; a part may be shorter.
    dark       whether the user prefers dark colours.
    script     a JavaScript expression that is evaluated before.
    """

    name: str
    page: str
    fragment: str = ""
    part: str = ""
    width: int = 1200
    height: int = 900
    dark: bool = False
    script: str = ""


PICTURES = (
    Picture(name="report", page="run/index.html", height=1100),
    Picture(name="report-phone", page="run/index.html", width=390, height=844),
    Picture(name="report-dark", page="run/index.html", dark=True),
    Picture(name="planted", page="planted/index.html"),
    Picture(name="finding", page="planted/index.html", fragment=f"#record={quote('|'.join(RECORD))}", width=960),
    Picture(name="matrix", page="run/index.html", fragment="#matrix.show=ulp", part="#ops"),
    Picture(name="op", page="run/ops/Exp.html", height=1400),
    Picture(name="claims", page="run/claims.html"),
    Picture(
        name="claim",
        page="run/claims.html",
        part="#C08",
        height=1400,
        script="document.querySelectorAll('#C08 > details').forEach(part => part.open = true)",
    ),
    Picture(
        name="glossary", page="run/index.html", part="#glossary", script="document.querySelector('#glossary').open=1"
    ),
    Picture(name="history", page="history.html"),
    Picture(name="notebook", page="notebook.html", height=760),
)


def main() -> int:
    """Makes the runs and the pictures; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m docs.screenshots", description=__doc__)
    parser.add_argument(
        "--run", type=Path, metavar="RUN", help="take the pictures of this run; default: a small new one"
    )
    chosen = parser.parse_args().run
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        print("python -m docs.screenshots: expected chromium on the PATH, found none", file=sys.stderr)
        return 4
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _pages(folder, chosen)
        browser = Browser(program, Path(folder, "profile"))
        try:
            browser.call("Emulation.setScrollbarsHidden", hidden=True)
            for picture in PICTURES:
                _take(browser, picture, folder)
        finally:
            browser.close()
    return 0


def _pages(folder: Path, chosen: Path | None) -> None:
    """Makes the runs, their history and a notebook's view in a folder."""
    small = [*SPECS, *CLAIMS]
    for name in ("first", "second"):
        _run(folder / name, small, SUITES, status=0)
    _run(folder / "planted", [*small, *PLANTED], f"{SUITES} docs.planted", status=1)
    tf_opdiff(["history", str(folder), "--html", str(folder / "history.html")])
    shutil.copytree(chosen or folder / "second", folder / "run")
    view = reports.run(folder / "run")._repr_html_()
    plot = reports.plot(folder / "second", op="Exp", dtype="float32", quantity="output[0]")._repr_html_()
    head = '<!doctype html><meta charset="utf-8"><body style="font: 14px sans-serif">'
    (folder / "notebook.html").write_text(head + view + plot)


def _run(run: Path, names: list[str], suites: str, *, status: int) -> None:
    """Runs some specs on the CPU, with the programs of their findings; checks the exit status."""
    options = [word for name in names for word in ("--op", name)]
    command = [sys.executable, "-m", "pytest", "-n", "auto", "-q", "-p", "no:cacheprovider", *options]
    command += ["--repro=all", "--device", "cpu", f"--run-dir={run}", "-o", f"opdiff_suites={suites}", "suites"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode != status:
        output = f"{done.stdout}\n{done.stderr}"
        raise RuntimeError(f"expected a run with exit status {status}, got {done.returncode}:\n{output}")


def _take(browser: Browser, picture: Picture, folder: Path) -> None:
    """Writes a picture."""
    page = folder / picture.page
    browser.look(width=picture.width, height=picture.height, dark=picture.dark)
    browser.call("Page.navigate", url="about:blank")
    browser.call("Page.navigate", url=page.resolve().as_uri() + picture.fragment)
    browser.until("document.readyState === 'complete'")
    if 'id="data"' in page.read_text():
        browser.until("document.documentElement.dataset.ready")
    if picture.script:
        browser.js(picture.script)
    settings: dict[str, object] = {"format": "webp", "quality": 70}
    if picture.part:
        box = browser.js(f"document.querySelector({picture.part!r}).getBoundingClientRect().toJSON()")
        top = browser.js("scrollY") + box["y"]
        height = min(box["height"], picture.height)
        clip = {"x": box["x"], "y": top, "width": box["width"], "height": height, "scale": 1}
        settings |= {"captureBeyondViewport": True, "clip": clip}
    data = browser.call("Page.captureScreenshot", **settings)
    (IMAGES / f"{picture.name}.webp").write_bytes(base64.b64decode(data["data"]))


if __name__ == "__main__":
    sys.exit(main())
