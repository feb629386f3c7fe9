"""A page in headless Chromium, driven through the DevTools protocol over a pair of pipes: no websocket, no port."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")


class BrowserMissing(RuntimeError):
    pass


def find_browser():
    for name in NAMES:
        if path := shutil.which(name):
            return path
    raise BrowserMissing("no browser was found; scripts/bootstrap.sh installs Debian's 'chromium'")


class Browser:
    """One tab. `problems` gathers what the page logs as an error, throws, or fails to load."""

    def __init__(self, timeout_s=60):
        self.timeout_s = timeout_s
        self.problems = []
        self.events = []
        self.next_id = 0
        self.buffer = b""
        self.profile = tempfile.TemporaryDirectory(prefix="attune_browser_", ignore_cleanup_errors=True)  # it may still write
        to_browser, self.out = os.pipe()
        self.inp, from_browser = os.pipe()

        def wire():  # Chromium reads commands from 3 and writes answers to 4
            os.dup2(to_browser, 3)
            os.dup2(from_browser, 4)

        # The sandbox refuses root, which CI runs as; /dev/shm is tiny in containers.
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-extensions", "--disable-background-networking", "--hide-scrollbars",
                   f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"]
        high = [os.dup(fd) for fd in (to_browser, from_browser)]  # so that dup2 cannot overwrite one by the other
        os.close(to_browser), os.close(from_browser)
        to_browser, from_browser = [fd if fd > 9 else os.dup2(fd, fd + 20) for fd in high]
        self.process = subprocess.Popen([find_browser(), *options], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, preexec_fn=wire, close_fds=False)
        for fd in {*high, to_browser, from_browser}:
            os.close(fd)
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.command(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.out), os.close(self.inp)
        self.process.stderr.close()
        self.profile.cleanup()

    def command(self, method, **params):
        return self.call(method, self.session, **params)

    def call(self, method, session=None, **params):
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            reply = self.read()
            if reply.get("id") != self.next_id:
                continue
            if "error" in reply:
                raise RuntimeError(f"{method}: {reply['error']['message']}")
            return reply["result"]

    def read(self):
        deadline = time.monotonic() + self.timeout_s
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.inp], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self.inp, 1 << 20) if ready else b""
            if not data:
                why = "did not answer in time" if not ready else "ended"
                self.process.kill()
                raise RuntimeError(f"the browser {why}: {self.process.stderr.read().decode(errors='replace')[-2000:]}")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        self.note(message)
        return message

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(f"thrown: {details.get('exception', {}).get('description', details['text'])}")
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"logged: {params['entry']['text']}")
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append("console: " + " ".join(str(a.get("value")) for a in params["args"]))
        elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(("file:", "data:", "about:")):
            self.problems.append(f"asked the network for {params['request']['url']}")

    def show(self, width, height, scheme):
        """The size of the window in CSS pixels, and `light` or `dark`."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path):
        self.events.clear()
        self.command("Page.navigate", url="file://" + os.path.abspath(path))
        while "Page.loadEventFired" not in self.events:
            self.read()

    def evaluate(self, expression):
        result = self.command("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def point_at(self, x, y):
        self.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path):
        data = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
