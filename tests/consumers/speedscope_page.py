# SPDX-License-Identifier: GPL-2.0-or-later
"""speedscope of npm in a headless Chromium: loads files as if they were dropped on its page, and gives back what it
understood.

    with Browser() as browser:
        scope = Speedscope(browser, modules)
        name, profiles = scope.load("x.speedscope.json", data)

profiles are those of speedscope's own export: {name, unit, startValue, endValue, events}, with frames by number.
"""
import base64
import os
import tempfile
import time

WATCH = """
window.blobs = []; window.alerts = []; window.alert = text => alerts.push(text);
URL.createObjectURL = blob => { blobs.push(blob); return "#" };
HTMLAnchorElement.prototype.click = () => {};
"""
EXPORT = """(async () => {
	blobs.length = 0;
	window.dispatchEvent(new KeyboardEvent("keydown", { key: "s", ctrlKey: true }));
	window.dispatchEvent(new KeyboardEvent("keypress", { key: "s", ctrlKey: true }));
	return blobs.length ? await blobs[0].text() : null;
})()"""


class Refused(Exception):
    """speedscope does not take the file; its message."""


class Speedscope:
    def __init__(self, browser, modules):
        self.page = browser.page()
        self.dir = tempfile.mkdtemp(prefix="speedscope-")
        self.index = os.path.join(modules, "speedscope/dist/release/index.html")

    def load(self, name, data):
        """(name, {frames, profiles}) of a file; Refused if speedscope says that it cannot read it."""
        import json
        script = os.path.join(self.dir, "load.js")
        with open(script, "w") as out:
            out.write(WATCH + f"speedscope.loadFileFromBase64({name!r}, '{base64.b64encode(data).decode()}')")
        self.page.open(f"file://{self.index}#localProfilePath={script[1:]}")
        end = time.monotonic() + 20
        while time.monotonic() < end:
            alerts = self.page.js("window.alerts || []")
            if alerts:
                raise Refused(alerts[0])
            title = self.page.js("document.title")
            if title.endswith(" - speedscope"):
                return title[:-len(" - speedscope")], json.loads(self.page.js(EXPORT))
            time.sleep(0.05)
        raise TimeoutError(name)
