"""A headless Chromium, driven over the pipe of its remote debugging protocol (messages of JSON, each ended by a zero byte).
The standard library alone."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


def find():
    """The path of a Chromium, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Page:
    """One page. `problems` collects what the console, scripts and the content policy complain about, `requests` what it
    loads."""

    def __init__(self, width=1200, height=900):
        self.folder = tempfile.mkdtemp(prefix="chromium.")
        to_read, self.to = os.pipe()  # Chromium reads from its 3 and writes to its 4
        self.of, of_write = os.pipe()

        def places():
            # Neither copy may overwrite what the other still needs.
            a, b = os.dup(to_read), os.dup(of_write)
            while a < 5 or b < 5:
                a, b = (os.dup(a) if a < 5 else a), (os.dup(b) if b < 5 else b)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [find(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--disable-extensions", "--user-data-dir=" + self.folder, "--remote-debugging-pipe",
             f"--window-size={width},{height}", "about:blank"],
            preexec_fn=places, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(of_write)
        self.number, self.rest, self.session = 0, b"", None
        self.problems, self.requests, self.loaded = [], [], False
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.size(width, height)

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, EOFError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- messages ----

    def _read(self):
        while b"\0" not in self.rest:
            part = os.read(self.of, 1 << 20)
            if not part:
                raise EOFError("chromium has ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        about = message.get("params", {})
        if message.get("method") == "Page.loadEventFired":
            self.loaded = True
        elif message.get("method") == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(about["exceptionDetails"])[:1000])
        elif message.get("method") == "Runtime.consoleAPICalled":
            self.problems.append(json.dumps(about["args"])[:1000])
        elif message.get("method") == "Log.entryAdded":
            self.problems.append(about["entry"]["text"])
        elif message.get("method") == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        return message

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    # ---- what a reader does ----

    def open(self, url):
        """Returns the seconds until it was loaded."""
        start = time.monotonic()
        self.loaded = False
        self.call("Page.navigate", url=url)
        while not self.loaded:
            self._read()
        return time.monotonic() - start

    def eval(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:1000])
        return result["result"].get("value")

    def rest_a_moment(self):
        """Until what waits for a frame or a fraction of a second has been done."""
        self.eval("new Promise(done => setTimeout(() => requestAnimationFrame(() => done()), 400))")

    def key(self, name, code=0):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def picture(self, path, whole=True):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]))

    def paper(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"]))
