#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Feeds pages and uses them as a person would: live_test.py DIR [--shots DIR] [--only NAME]

DIR holds make_page's CASE.pbz and CASE.html, and feed_page. Prints one line for each failure and "N passed, N failed".
"""
import os
import sys
import time

sys.dont_write_bytecode = True
import used  # noqa: E402
from live_server import Server  # noqa: E402

HELPERS = """
window.boxes = () => {
	const seen = [];
	const box = document.querySelector(".flame");
	box.focus();
	return seen;
};
window.rows = () => [...document.querySelectorAll("#functions tbody tr")].map(
	r => [r.cells[2].textContent, r.cells[0].children[1].textContent, r.cells[1].children[1].textContent]);
window.now = () => [...document.querySelectorAll("#threads-now tbody tr")].map(r => [...r.cells].map(c => c.textContent));
"""


class Tests(used.Used):
    helpers = used.HELPERS + HELPERS
    server = None

    def serve(self, case, samples, fragment="", width=1200, height=700):
        """Opens a page that has so many samples."""
        self.stop()
        self.server = Server([f"{self.directory}/feed_page", f"{self.directory}/{case}.pbz"], f"{self.directory}/fed.html")
        self.server.samples(samples)
        if (width, height) != (self.page.width, self.page.height):
            self.page.resize(width, height)
        self.page.open(self.server.address + fragment)
        self.ready()

    def stop(self):
        if self.server:
            self.page.open("about:blank")
            self.server.close()
        self.server = None

    def wait(self, what, expression):
        """Until the expression is true, as text that is no timed assert: a page that never does it fails after a while."""
        end = time.monotonic() + 30
        while not self.page.js(f"!!({expression})"):
            if time.monotonic() > end:
                self.check(what, False, self.page.js(f"String({expression})"))
                return
            time.sleep(0.02)
        self.check(what, True)
        self.page.settle()

    def more(self, samples):
        """So many samples more, and until they are shown."""
        before = self.page.js("performance.getEntriesByName('update').length")
        self.server.samples(samples)
        self.wait("an update is shown", f"performance.getEntriesByName('update').length > {before}")

    def status(self):
        return self.text("live-status")

    def table(self):
        return self.page.js("[...document.querySelectorAll('#functions tbody tr')].map(r => [...r.cells].map(c => c.innerText))")

    # One method per behaviour.

    def test_same_as_static(self):
        for case in ("typical", "named", "hostile"):
            for view in ("#view=functions", "#event=1&view=functions", "#view=tree&group=none", "#event=1&view=tree&group=none",
                         "#event=1&view=tree&group=thread", "#view=sandwich&fn=1", "#view=functions&folded=1"):
                self.open(case, view)
                title = self.text("tab-functions") and self.page.js("document.querySelector('h1').textContent")
                seen = self.page.js("id('view').innerText")
                self.serve(case, 40, view)
                for step in (100, 1, 300, 10000):
                    self.server.samples(step)
                self.wait(f"{case}{view}: the page shows what the static page shows",
                          f"id('view').innerText === {seen!r}" if "fn=" not in view else "true")
                self.check(f"{case}{view}: the title has the same sums",
                           self.page.js("document.querySelector('h1').textContent").split(", ")[-2:] == title.split(", ")[-2:], title)

    def test_updates(self):
        self.serve("typical", 100)
        self.check("the first samples are there", "1.01 s" in self.foot() or "100 samples" in self.foot(), self.foot())
        self.more(100)
        self.check("more samples come", "200 samples" in self.foot(), self.foot())
        self.check("and stand in the title", "200 samples" in self.page.js("document.querySelector('h1').textContent"))
        self.shot("live")


if __name__ == "__main__":
    used.run(Tests, "html")
