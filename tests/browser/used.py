# SPDX-License-Identifier: GPL-2.0-or-later
"""What all tests of files in a browser have in common: opening them, keys and clicks, verdicts.

A test is a class below Used, with methods test_...; run(Tests, "html") has them called in their order.
"""
import argparse
import os
import sys
import time

from devtools import Browser, find_chromium

HELPERS = """
window.id = i => document.getElementById(i);
window.middle = e => { e.scrollIntoView({ block: "nearest", inline: "center", behavior: "instant" }); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] };
window.labelled = t => [...document.querySelectorAll("button, [role=tab]")].find(e => e.textContent === t);
"""


class Used:
    """Files directory/CASE.suffix; shots: where screenshots go, or None."""

    helpers = HELPERS

    def __init__(self, browser, directory, suffix, shots):
        self.page = browser.page(1200, 700)
        self.directory, self.suffix, self.shots = os.path.abspath(directory), suffix, shots
        self.passed = self.failed = 0

    def check(self, what, is_true, seen=""):
        if is_true:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {what}: {seen}")

    def equal(self, what, seen, wanted):
        self.check(what, seen == wanted, f"{seen!r} instead of {wanted!r}")

    def ready(self):
        end = time.monotonic() + 60
        while not self.page.js("document.documentElement.dataset.ready || ''"):
            if time.monotonic() > end:
                raise TimeoutError("the page is not ready")
            time.sleep(0.02)
        self.page.js(self.helpers)
        self.page.settle()

    def open(self, case, fragment="", width=1200, height=700):
        if (width, height) != (self.page.width, self.page.height):
            self.page.resize(width, height)
        self.page.open(f"file://{self.directory}/{case}.{self.suffix}{fragment}")
        if self.page.has_scripts:
            self.ready()

    def has_room(self, what, width, height):
        """The graph has most of a small window: choices stand in rows that scroll, and what was lost is behind a click."""
        self.equal(f"{what}: the page is as wide as the window", self.page.js("document.documentElement.scrollWidth"), width)
        room = self.page.js("id('view').getBoundingClientRect().height")
        self.check(f"{what}: the graph has 70 % of the window", room >= 0.7 * height, room)
        heights = self.page.js("[...document.querySelectorAll('.row')].map(e => e.getBoundingClientRect().height)")
        self.check(f"{what}: each row of choices is one line", heights and max(heights) <= 40, heights)
        head = self.page.js("id('head').getBoundingClientRect().height")
        self.check(f"{what}: the head is two lines", head <= 60, head)
        self.equal(f"{what}: nothing is red", self.page.js("""[...document.querySelectorAll("body *")].filter(e => e.getClientRects().length
            && getComputedStyle(e).color === "rgb(179, 19, 15)").map(e => e.textContent)"""), [])

    def shot(self, name):
        """A screenshot, as PNG."""
        self.page.settle()
        picture = self.page.screenshot()
        if self.shots:
            with open(os.path.join(self.shots, name + ".png"), "wb") as out:
                out.write(picture)
        return picture

    def press(self, text):
        self.page.click(*self.page.js(f"middle(labelled({text!r}))"))
        self.page.settle()

    def key(self, key, code=None, modifiers=0):
        self.page.key(key, code, modifiers)
        self.page.settle()

    def text(self, element):
        return self.page.js(f"id({element!r}).textContent")

    def fragment(self):
        return self.page.js("location.hash")

    def foot(self):
        return self.text("foot")

    def quiet(self):
        """Last: what all the others left behind."""
        urls = {e["request"]["url"] for e in self.page.take_events("Network.requestWillBeSent")}
        self.equal("no network", sorted(u for u in urls if not u.startswith("file:")), [])
        self.equal("no exceptions", self.page.take_events("Runtime.exceptionThrown"), [])
        self.equal("no complaints", [e["entry"]["text"] for e in self.page.take_events("Log.entryAdded")], [])


def run(tests_class, suffix):
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--shots")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    if not find_chromium():
        print("SKIP: chromium is missing\n0 passed, 0 failed")
        sys.exit(77)
    if args.shots:
        os.makedirs(args.shots, exist_ok=True)
    with Browser() as browser:
        tests = tests_class(browser, args.directory, suffix, args.shots)
        for name in [n for n in vars(tests_class) if n.startswith("test_") and args.only in n]:
            try:
                getattr(tests, name)()
            except (RuntimeError, TimeoutError, EOFError, TypeError, ValueError) as error:
                tests.check(name, False, repr(error))
    print(f"{tests.passed} passed, {tests.failed} failed")
    sys.exit(1 if tests.failed or not tests.passed else 0)
