"""A headless Chromium driven through chromedriver, in W3C WebDriver commands over HTTP: nothing has to be installed."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

MISSING = "needs chromium and chromedriver (apt-get install chromium chromium-driver)"

ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)

KEYS = {"right": "\ue014", "left": "\ue012", "up": "\ue013", "down": "\ue015", "end": "\ue010", "home": "\ue011"}


def programs():
    """Return where browser and driver are, or None."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


class Browser:
    """One browser window; its commands as methods."""

    def __init__(self, browser, driver):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        log = open(Path(self._folder.name) / "driver.log", "w+")  # noqa: SIM115, it is open as long as the driver runs
        self._driver = subprocess.Popen([driver, "--port=0"], stdout=log, stderr=subprocess.STDOUT)
        self._log = log
        try:
            self._base = f"http://127.0.0.1:{self._port()}"
            arguments = [*ARGUMENTS, f"--user-data-dir={self._folder.name}/profile"]
            options = {"goog:chromeOptions": {"binary": browser, "args": arguments}}
            wanted = {"alwaysMatch": options | {"goog:loggingPrefs": {"browser": "ALL"}}}
            session = self._send("POST", "/session", {"capabilities": wanted})
        except BaseException:
            self._driver.kill()
            raise
        self._base += f"/session/{session['sessionId']}"

    def _port(self):
        """Return the port that the driver says it listens on; at first it says that it was told to take port 0."""
        for _ in range(600):
            text = Path(self._log.name).read_text()
            found = re.search(r"on port ([1-9]\d*)\b", text)
            if found:
                return int(found.group(1))
            time.sleep(0.1)
        raise RuntimeError(f"chromedriver did not start: {text}")

    def _send(self, method, path, body=None):
        content = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._base + path, content, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            with error:
                raise RuntimeError(error.read().decode()) from None

    def close(self):
        """End browser and driver."""
        try:
            self._send("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.wait(20)
            self._log.close()
            self._folder.cleanup()

    def open(self, path, fragment=""):
        """Open a file; a blank page first, so that it is loaded anew."""
        self._send("POST", "/url", {"url": "about:blank"})
        self._send("POST", "/url", {"url": path.as_uri() + fragment})

    def run(self, script, *arguments):
        """Run a script in the page and return what it returns."""
        return self._send("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def resize(self, width, height):
        self._send("POST", "/window/rect", {"width": width, "height": height})

    def emulate(self, command, **parameters):
        """Send a command of the DevTools."""
        return self._send("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def press(self, selector, *keys):
        """Give an element the focus and press keys."""
        found = self._send("POST", "/element", {"using": "css selector", "value": selector})
        self.run("arguments[0].focus({ preventScroll: true })", found)
        down_up = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self._send("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": down_up}]})
        self.settle()

    def click(self, x, y, kind="mouse"):
        """Click, or tap, at a place of the window."""
        steps = [
            {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        pointer = {"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": steps}
        self._send("POST", "/actions", {"actions": [pointer]})
        self.settle()

    def settle(self):
        """Wait for the next picture."""
        wait = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));"
        self._send("POST", "/execute/async", {"script": wait, "args": []})

    def console(self):
        """Return what the browser wrote to its console since the last time."""
        return [entry["message"] for entry in self._send("POST", "/se/log", {"type": "browser"})]

    def screenshot(self):
        """Return what is seen, a PNG file."""
        return base64.b64decode(self._send("GET", "/screenshot"))
