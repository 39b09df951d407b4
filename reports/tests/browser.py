"""Browser: headless Chromium, driven over a pipe by the DevTools protocol."""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any

from tf_opdiff.harness.tests.patience import PATIENCE

#: Seconds between two looks at a page.
FRAME = 0.016
#: The accessibility checker that pages are tested with.
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe"),
)


class Browser:
    """One page in a Chromium of its own; `said` holds what its console and exceptions said, `asked` its requests."""

    def __init__(self, program: str, profile: Path) -> None:
        to_us, from_it = os.pipe()
        from_us, to_it = os.pipe()
        for fd in (from_us, from_it):
            os.set_inheritable(fd, True)
        # Chromium reads from descriptor 3 and writes to 4.
        shell = f'exec "$0" "$@" 3<&{from_us} 4>&{from_it}'
        command = ["bash", "-c", shell, program, *OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        with (profile.parent / "chromium.log").open("wb") as log:
            self._process = subprocess.Popen(command, pass_fds=(from_us, from_it), stdout=log, stderr=log)
        os.close(from_us)
        os.close(from_it)
        self._read, self._write, self._rest, self._id = to_us, to_it, b"", 0
        self._session = ""
        self.said: list[str] = []
        self.asked: list[str] = []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Sends one command and waits for its answer."""
        self._id += 1
        message: dict[str, Any] = {"id": self._id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self._next(end)
            if answer.get("id") == self._id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _next(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            if not select.select([self._read], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError(f"chromium did not answer within {PATIENCE:.0f} s")
            data = os.read(self._read, 1 << 20)
            if not data:
                raise RuntimeError(f"chromium ended with status {self._process.wait()}; see chromium.log")
            self._rest += data
        text, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(text)
        about = message.get("params", {})
        if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
            self.said.append(json.dumps(about))
        elif message.get("method") == "Network.requestWillBeSent":
            self.asked.append(about["request"]["url"])
        return message

    def open(self, path: Path, fragment: str = "") -> None:
        """Loads a file afresh and waits until its table stands."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=path.resolve().as_uri() + fragment)
        self.until("(about => about?.ready || about?.failed)(document.documentElement?.dataset)")

    def js(self, expression: str) -> Any:
        """The value of a JavaScript expression, awaited."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{expression}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def until(self, expression: str) -> Any:
        """Waits until an expression is truthy; looks once a frame, also without scripts or between pages."""
        end = time.monotonic() + PATIENCE
        while not (value := self._looked(expression)):
            if time.monotonic() > end:
                raise TimeoutError(f"never true: {expression}")
            time.sleep(FRAME)
        return value

    def _looked(self, expression: str) -> Any:
        """The value of an expression; None while the browser goes to another page."""
        try:
            return self.js(expression)
        except RuntimeError as error:
            if "navigated" not in str(error):
                raise
            return None

    def key(self, key: str, code: int) -> None:
        """Presses a key; `code` is its Windows virtual key code."""
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        about = {"key": key, "windowsVirtualKeyCode": code, "code": key}
        self.call("Input.dispatchKeyEvent", type="keyDown", **about, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def click(self, selector: str) -> None:
        """Clicks with the mouse in the middle of the first element that a CSS selector finds."""
        box = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect().toJSON()"
        self.js(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        at = self.js(box)
        where = {"x": at["x"] + at["width"] / 2, "y": at["y"] + at["height"] / 2, "button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type="mousePressed", **where)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", **where)

    def type(self, text: str) -> None:
        """Types a text where the focus is."""
        self.call("Input.insertText", text=text)

    def violations(self) -> list[str]:
        """The violations of WCAG 2.2 (levels A and AA) and of good practice that axe-core sees, one line each."""
        if not self.js("typeof axe === 'object'"):
            self.js(AXE.read_text())
        own = "!document.querySelector('link[rel=stylesheet]')"  # axe would fetch the sheet, which a page may not
        found = self.js(f"axe.run({{preload: {own}}}).then(done => done.violations)")
        return [
            f"{rule['id']} ({rule['impact']}): {len(rule['nodes'])} × {rule['help']}: {rule['nodes'][0]['html'][:200]}"
            for rule in found
        ]

    def look(self, *, width: int = 1400, height: int = 900, dark: bool = False, printed: bool = False) -> None:
        """Sets the window's size in CSS pixels, the colour scheme that the user prefers, and screen or print."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="print" if printed else "", features=[scheme])

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Writes a PNG of the window, or of the whole page."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))

    def close(self) -> None:
        """Ends the browser."""
        self._process.terminate()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)
