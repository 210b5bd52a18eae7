# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless Chromium, driven over a pipe with the DevTools protocol. Standard library only.

    with Browser() as browser:
        page = browser.page()
        page.open("file:///tmp/x.svg")
        page.js("document.title")
"""
import base64
import fcntl
import json
import os
import select
import shutil
import signal
import struct
import tempfile
import time
import zlib

FLAGS = """--headless=new --no-sandbox --disable-gpu --no-first-run --no-default-browser-check
 --disable-background-networking --disable-component-update --disable-sync --disable-extensions
 --disable-default-apps --disable-dev-shm-usage --hide-scrollbars --force-color-profile=srgb
 --mute-audio --remote-debugging-pipe about:blank""".split()


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    return None


def find_axe():
    """The text of axe-core in $NODE_PATH (tests/consumers/install.sh); None: it is not there."""
    path = os.path.join(os.environ.get("NODE_PATH", ""), "axe-core/axe.min.js")
    if not os.path.exists(path):
        print("# axe-core is not installed: accessibility was not checked by it")
        return None
    with open(path, encoding="utf-8") as source:
        return source.read()


def high_pipe():
    """A pipe whose ends stay clear of the numbers 3 and 4, which the browser wants."""
    ends = os.pipe()
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in ends]
    for fd in ends:
        os.close(fd)
    return high


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="browser-test-")
        to_read, self.commands = high_pipe()
        self.answers, to_write = high_pipe()
        null = os.open(os.devnull, os.O_RDWR)
        path = find_chromium()
        self.pid = os.posix_spawn(
            path, [path, *FLAGS[:-1], "--user-data-dir=" + self.profile, FLAGS[-1]], os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)] +
            [(os.POSIX_SPAWN_DUP2, to_read, 3), (os.POSIX_SPAWN_DUP2, to_write, 4)], setpgroup=0)
        for fd in (to_read, to_write, null):
            os.close(fd)
        self.buffer = b""
        self.last_id = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        os.killpg(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.commands)
        os.close(self.answers)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, timeout):
        """One message, or None when there is none in time."""
        end = time.monotonic() + timeout
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                return None
            data = os.read(self.answers, 1 << 20)
            if not data:
                raise EOFError("the browser went away")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, params=None, session=None, timeout=60):
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data):]
        while True:
            answer = self.receive(timeout)
            if answer is None:
                raise TimeoutError(method)
            if answer.get("id") == self.last_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def page(self, width=1200, height=800):
        return Page(self, width, height)


class Page:
    def __init__(self, browser, width, height):
        self.browser = browser
        target = browser.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = browser.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "DOM"):
            self.call(domain + ".enable")
        self.has_scripts = True
        self.resize(width, height)

    def call(self, method, params=None):
        return self.browser.call(method, params, self.session)

    def resize(self, width, height):
        self.width, self.height = width, height
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.settle()

    def scripts(self, enabled):
        self.has_scripts = enabled
        self.call("Emulation.setScriptExecutionDisabled", {"value": not enabled})

    def media(self, **features):
        self.call("Emulation.setEmulatedMedia", {"features": [
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()]})
        self.settle()

    def media_type(self, name):
        """"print", or "" for the screen."""
        self.call("Emulation.setEmulatedMedia", {"media": name})
        self.settle()

    def settle(self):
        """Lets a frame be drawn: layout, resize and scroll events are behind it."""
        if not self.has_scripts:
            time.sleep(0.3)
            return
        self.call("Runtime.evaluate", {"awaitPromise": True, "expression":
                  "new Promise(r => { setTimeout(r, 300); requestAnimationFrame(() => setTimeout(r, 0)) })"})

    def wait_load(self, navigate):
        before = len(self.browser.events)
        navigate()
        end = time.monotonic() + 60
        while not any(e.get("method") == "Page.loadEventFired" and e.get("sessionId") == self.session
                      for e in self.browser.events[before:]):
            if time.monotonic() > end:
                raise TimeoutError("load")
            event = self.browser.receive(1)
            if event:
                self.browser.events.append(event)

    def open(self, url):
        self.wait_load(lambda: self.call("Page.navigate", {"url": "about:blank"}))
        self.wait_load(lambda: self.call("Page.navigate", {"url": url}))

    def reload(self):
        self.wait_load(lambda: self.call("Page.reload"))

    def js(self, expression):
        answer = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True,
                                                "awaitPromise": True, "userGesture": True})
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def count(self, selector):
        """Number of elements; works with scripts off, too."""
        root = self.call("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
        return len(self.call("DOM.querySelectorAll", {"nodeId": root, "selector": selector})["nodeIds"])

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def key(self, key, code=None, modifiers=0, commands=()):
        """One key pressed and released; modifiers: 1 Alt, 2 Ctrl, 8 Shift."""
        codes = {"Enter": 13, "Escape": 27, "Tab": 9, "Home": 36, " ": 32,
                 "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        event = {"key": key, "code": code or key, "modifiers": modifiers,
                 "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        if len(key) == 1 and not modifiers & 3:
            event["text"] = key
        elif key == "Enter":
            event["text"] = "\r"
        self.call("Input.dispatchKeyEvent", {"type": "keyDown", **event, "commands": list(commands)})
        event.pop("text", None)
        self.call("Input.dispatchKeyEvent", {"type": "keyUp", **event})

    def type(self, text):
        self.call("Input.insertText", {"text": text})

    def screenshot(self, whole=False):
        """Of the window, or of the window's size from where the document begins, as chromium --screenshot takes it."""
        params = {"format": "png"}
        if whole:
            params["captureBeyondViewport"] = True
            params["clip"] = {"x": 0, "y": 0, "width": self.width, "height": self.height, "scale": 1}
        return base64.b64decode(self.call("Page.captureScreenshot", params)["data"])

    def axe(self, source):
        """What axe-core finds in the page: "rule: element"."""
        self.js(source + "; 0")
        return self.js("axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes[0].html))")

    def pdf(self):
        """What the browser prints on paper of its usual size."""
        return base64.b64decode(self.call("Page.printToPDF", {"preferCSSPageSize": True})["data"])

    def take_events(self, method):
        """Parameters of the events of this kind since the last time."""
        events = self.browser.events
        mine = [e for e in events if e.get("method") == method and e.get("sessionId") == self.session]
        self.browser.events = [e for e in events if e not in mine]
        return [e["params"] for e in mine]


def png_pixels(data):
    """Width, height and a function (x, y) -> (r, g, b) of an 8-bit PNG as the browser writes it."""
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", data[at + 8:at + 18])
        elif kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    step = {2: 3, 6: 4}[colour]
    raw, line = zlib.decompress(packed), bytearray(width * step)
    rows = []
    for y in range(height):
        start = y * (width * step + 1)
        line = unfilter(raw[start], bytearray(raw[start + 1:start + 1 + width * step]), line, step)
        rows.append(line)
    return width, height, lambda x, y: tuple(rows[y][x * step:x * step + 3])


def unfilter(kind, line, above, step):
    for i in range(len(line)) if kind else ():
        left = line[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        if kind == 1:
            add = left
        elif kind == 2:
            add = above[i]
        elif kind == 3:
            add = (left + above[i]) // 2
        else:
            add = min((left, above[i], corner), key=lambda v: abs(left + above[i] - corner - v))
        line[i] = (line[i] + add) & 255
    return line
