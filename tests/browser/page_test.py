#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Uses the pages in a directory as a person would: page_test.py DIR [--shots DIR] [--only NAME]

DIR holds CASE.html, CASE.folded and CASE.wall of make_page. Prints one line for each failure and "N passed, N failed".
"""
import argparse
import base64
import json
import os
import re
import sys
import time
import zlib

sys.dont_write_bytecode = True
from devtools import Browser, find_axe, find_chromium  # noqa: E402

CTRL, SHIFT = 2, 8
HELPERS = """
window.id = i => document.getElementById(i);
window.middle = e => { const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] };
window.labelled = t => [...document.querySelectorAll("button, [role=tab]")].find(e => e.textContent === t);
window.rows = () => [...document.querySelectorAll("#functions tbody tr")].map(
	r => [r.cells[2].textContent, r.cells[0].children[1].textContent, r.cells[1].children[1].textContent]);
"""


class Data:
    """An independent reader of the data in a page (formats/render/page_data.h)."""

    def __init__(self, path):
        with open(path) as page:
            text = re.search(r'id="data">([^<]*)<', page.read()).group(1)
        self.bytes, self.at = zlib.decompress(base64.b64decode(text)), 0
        self.head = json.loads(self.section())
        self.strings = self.section().decode().split("\n")
        self.section()
        self.section()
        self.strips = []
        self.events = [self.event(head) for head in self.head["events"]]

    def uv(self):
        value = shift = 0
        while True:
            byte = self.bytes[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def column(self, n):
        return [self.uv() for _ in range(n)]

    def section(self):
        size = self.uv()
        self.at += size
        return self.bytes[self.at - size:self.at]

    def enter(self):
        self.uv()

    def event(self, head):
        self.enter()
        functions = self.columns(7)
        self.enter()
        depths, of, _ = self.columns(3)
        path, stacks = [], []
        for code, function in zip(depths, of):
            path = path[:max(0, len(path) - code)] + [self.strings[functions[0][function]]]
            stacks.append(";".join(name.replace(";", ":") for name in path[1:]))
        return self.folded(head, stacks)

    def columns(self, nr):
        n = self.uv()
        return [self.column(n) for _ in range(nr)]

    def folded(self, head, stacks):
        self.enter()
        n, runs = self.uv(), self.uv()
        self.column(2 * runs + n)
        nodes, _, _, counts, _, weights = (self.column(n) for _ in range(6))
        sums = {}
        for node, count, weight in zip(nodes, counts, weights):
            weight = weight - 1 if weight else head["usual"] * count
            before = sums.get(stacks[node], (0, 0))
            sums[stacks[node]] = (before[0] + count, before[1] + weight)
        end = self.uv() + self.at
        strip = []
        while self.at < end:
            strip.append(self.uv())
        self.strips.append(strip)
        return sums


class Tests:
    def __init__(self, browser, pages, shots):
        self.page = browser.page(1200, 700)
        self.pages, self.shots = os.path.abspath(pages), shots
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
        self.page.js(HELPERS)
        self.page.settle()

    def open(self, case, fragment="", width=1200, height=700):
        if (width, height) != (self.page.width, self.page.height):
            self.page.resize(width, height)
        self.page.open(f"file://{self.pages}/{case}.html{fragment}")
        if self.page.has_scripts:
            self.ready()

    def shot(self, name):
        if self.shots:
            self.page.settle()
            with open(os.path.join(self.shots, name + ".png"), "wb") as out:
                out.write(self.page.screenshot())

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

    # One method per behaviour.

    def test_totals(self):
        for case in ("typical", "one", "hostile"):
            data = Data(f"{self.pages}/{case}.html")
            for event, suffix in zip(data.events, ("folded", "wall")):
                with open(f"{self.pages}/{case}.{suffix}") as folded:
                    wanted = {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in folded}
                self.equal(f"{case}: the samples are those of the {suffix} text",
                           {stack: count for stack, (count, _) in event.items()}, wanted)
            for event, head in zip(data.events, data.head["events"]):
                self.equal(f"{case}: weights are whole", sum(w for _, w in event.values()), int(head["weight"]))
            self.equal(f"{case}: so are those of the time line", [sum(s) for s in data.strips],
                       [int(head["weight"]) for head in data.head["events"]])

    def test_flame(self):
        page = self.page
        self.open("typical")
        self.equal("title", page.js("document.querySelector('h1').textContent"), "CPU time, 10.1 s, 1,000 samples")
        self.equal("the root is described", self.foot(), "all10.1 s, 100.0 % \u00b7 1,000 samples")
        page.js("document.querySelector('.flame').focus()")
        self.key("ArrowUp")
        self.equal("the widest child is above", self.foot()[:10], "shop10.0 s")
        self.key("ArrowUp")
        self.key("ArrowUp")
        self.check("names are whole", self.foot().startswith("parse"), self.foot())
        self.check("the place is told", "src/shop.cc:20" in self.foot(), self.foot())
        self.check("a reader hears it", "level 4" in self.text("said"), self.text("said"))
        self.key("ArrowRight")
        self.check("right is the neighbour", "::draw(int)" in self.foot(), self.foot())
        self.key("Enter")
        self.check("enter zooms", "of the zoom" in self.foot(), self.foot())
        zoomed = self.fragment()
        self.check("the zoom is in the URL", re.match(r"#zoom=g\d+\.\d+\.\d+$", zoomed), zoomed)
        self.shot("zoomed")
        page.reload()
        self.ready()
        self.check("the zoom survives reload", "::draw(int)" in self.foot(), self.foot())
        self.key("Escape")
        self.equal("escape leaves the zoom", self.fragment(), "")
        page.js("history.back()")
        page.settle()
        self.equal("back zooms again", self.fragment(), zoomed)
        self.check("and shows that", "::draw(int)" in self.foot(), self.foot())

    def test_search(self):
        page = self.page
        self.open("typical")
        self.key("f", "KeyF", CTRL)
        page.type("parse|shop")
        page.settle()
        self.equal("matches count once", self.text("matched"), "Matched: 99.0 %, 10.0 s")
        self.equal("search is in the URL", self.fragment(), "#q=parse%7Cshop")
        page.key("Enter")
        self.check("enter goes to a match", self.foot().startswith("shop"), self.foot())
        self.shot("searched")
        self.open("typical", "#q=vector::draw$")
        self.equal("the short form is found, too", self.text("matched"), "Matched: 49.5 %, 5.00 s")
        self.open("typical", "#q=(")
        self.equal("what is no pattern is said", self.text("matched"), "Not a pattern")
        self.open("typical", "#q=PARSE")
        self.equal("a capital makes case count", self.text("matched"), "Matched: 0.0 %, 0 ns")

    def test_functions(self):
        page = self.page
        self.open("typical")
        self.key("2")
        rows = page.js("rows()")
        self.equal("first by self", rows[0], ["parse", "5.00 s", "5.00 s"])
        self.equal("callers have a total", [r for r in rows if r[0] == "shop_main"], [["shop_main", "0 ns", "10.0 s"]])
        self.press("Total")
        self.equal("sorted by total", page.js("rows()[0][0]"), "shop_main")
        self.equal("and told", page.js("document.querySelector('[aria-sort]').textContent"), "Total \u25be")
        self.shot("functions")
        page.click(*page.js("middle([...document.querySelectorAll('#functions .link')].find(e => e.textContent === 'parse'))"))
        page.settle()
        self.equal("a click shows callers and callees", self.text("sandwich-title"), "parse")
        self.shot("sandwich")

    def test_time(self):
        page = self.page
        self.open("typical")
        box = page.js("(r => [r.x, r.y, r.width, r.height])(id('timeline').getBoundingClientRect())")
        y = box[1] + 30
        page.mouse("mousePressed", box[0] + 20, y, button="left", clickCount=1, buttons=1)
        page.mouse("mouseMoved", box[0] + 200, y, button="left", buttons=1)
        page.mouse("mouseMoved", box[0] + box[2] / 3, y, button="left", buttons=1)
        page.mouse("mouseReleased", box[0] + box[2] / 3, y, button="left", clickCount=1)
        page.settle()
        self.check("a drag chooses a window", re.match(r"#from=\d+&to=\d+$", self.fragment()), self.fragment())
        begin, end = (int(v) / 1e9 for v in re.findall(r"\d+", self.fragment()))
        self.check("the window is what was dragged", 0 < begin < 0.3 and 3.1 < end < 3.5, (begin, end))
        self.key("2")
        self.check("the functions are those of the window",
                   [r[0] for r in page.js("rows()")] in (["parse", "cron_main", "shop_main"], ["parse", "shop_main"]),
                   page.js("rows()"))
        self.shot("window")
        self.press("All of the time")
        self.check("all of the time again", "from" not in self.fragment(), self.fragment())
        self.open("typical", "#view=functions&from=6000000000&to=9000000000")
        self.check("a link chooses it, too", page.js("rows()[0][0]").endswith("::draw(int)"), page.js("rows()"))
        self.equal("its sum", page.js("rows()[0][1]"), "3.00 s")
        self.open("typical", "#view=functions&from=4000000000&to=6000000000")
        self.equal("times are exact", sorted(r[:2] for r in page.js("rows()"))[1:3], [["parse", "990 ms"], ["shop_main", "0 ns"]])
        page.js("id('timeline').focus()")
        self.key("Escape")
        self.check("escape shows all", "from" not in self.fragment(), self.fragment())
        self.open("typical", "#heat=1")
        self.shot("heat")

    def choose(self, key, text):
        self.page.js(f"""(() => {{ const s = id("choose-{key}");
            s.selectedIndex = [...s.options].findIndex(o => o.textContent.startsWith({text!r}));
            s.dispatchEvent(new Event("change")); }})()""")
        self.page.settle()

    def test_filters(self):
        page = self.page
        self.open("typical", "#view=functions")
        self.choose("process", "cron")
        self.equal("one process", page.js("rows()"), [["cron_main", "101 ms", "101 ms"]])
        self.open("typical", "#view=functions&thread=101")
        self.equal("one thread", page.js("rows().find(r => r[0] === 'shop_main')[2]"), "5.00 s")
        self.open("typical", "#view=functions&cpu=0")
        self.equal("one CPU", page.js("rows().find(r => r[0] === 'shop_main')[2]"), "5.00 s")
        self.choose("event", "snapshots")
        self.equal("snapshots have sums of their own", page.js("rows().find(r => r[0] === 'parse')[1]"), "20.0 s")
        self.choose("activity", "waiting for a lock")
        self.equal("one state", page.js("rows()[0]"), ["futex_wait", "10.0 s", "10.0 s"])

    def test_wishes(self):
        self.open("wishes")
        self.check("--callers shows that function at first", self.text("sandwich-title").endswith("::draw(int)"),
                   self.text("sandwich-title"))
        self.open("wishes", "#view=flame&inverted=0")
        self.equal("--by is a choice of its own", self.page.js("id('choose-group').value"), "user, state")
        self.page.js("document.querySelector('.flame').focus()")
        self.key("ArrowUp")
        self.check("users are the first level", self.foot().startswith("uid 0"), self.foot())
        self.open("wishes", "#view=flame")
        self.page.js("document.querySelector('.flame').focus()")
        self.key("ArrowUp")
        self.check("--inverted has functions there", self.foot().startswith("parse"), self.foot())

    def test_threads(self):
        page = self.page
        self.open("typical", "#event=1&view=threads")
        page.js("document.querySelector('.tracks').focus()")
        self.key("ArrowDown")
        self.check("a cell has a state", "till (101)" in self.text("said") and "waiting for" in self.text("said"), self.text("said"))
        self.check("and its stack", "parse" in self.text("stacks"), self.text("stacks"))
        before = self.text("said")
        self.key("ArrowRight")
        self.check("the next snapshot differs", self.text("said") != before, before)
        self.shot("threads")

    def test_waits(self):
        self.open("typical", "#view=waits")
        items = self.page.js("[...document.querySelectorAll('.waits > li > ul b')].map(e => e.textContent)")
        self.equal("who waits stands below whom", items, ["lock (102)"])
        self.equal("and in the drawing, with an arrow", self.page.js(
            "[...document.querySelectorAll('.waits-graph .who')].map(e => e.textContent).join() + "
            "document.querySelectorAll('.waits-graph > path').length"), "till (101),lock (102)1")
        self.check("for what", "futex 0x7f00" in self.text("panel-waits"), self.text("panel-waits"))
        self.shot("waits")

    def test_views_by_key(self):
        self.open("typical")
        for key, view in zip("12345", ("flame", "functions", "sandwich", "threads", "waits")):
            self.key(key)
            self.equal(f"{key} shows {view}", self.page.js("id('view').firstElementChild.id"), "panel-" + view)
        self.key("?")
        self.equal("? opens the help", self.page.js("id('help').hidden"), False)
        self.shot("help")
        self.key("Escape")
        self.equal("escape closes it", self.page.js("id('help').hidden"), True)

    def test_strange_links(self):
        for fragment in (
                "#event=99&view=x&group=y&zoom=g9.9&fn=-4&cpu=abc", "#from=5&to=1", "#fn=1e9&view=sandwich", "#group=constructor&fn=0.5&thread=-1"):
            self.open("typical", fragment)
            self.equal(f"{fragment} is survived", self.page.js("id('view').children.length"), 1)

    def test_dark(self):
        page = self.page
        page.media(prefers_color_scheme="dark")
        self.open("typical")
        self.equal("dark where it is preferred", page.js("getComputedStyle(document.body).backgroundColor"), "rgb(20, 22, 27)")
        self.shot("dark")
        self.key("d")
        self.equal("d turns it light", page.js("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.equal("in the URL", self.fragment(), "#theme=light")
        page.media(prefers_color_scheme="light")

    def test_print(self):
        page = self.page
        self.open("typical")
        page.js("dispatchEvent(new Event('beforeprint'))")
        page.media_type("print")
        self.equal("no buttons on paper", page.js("getComputedStyle(id('bar')).display"), "none")
        self.check("all rows on paper", page.js("document.querySelector('.flame canvas').height >= 4 * 19 * 2"))
        self.shot("print")
        page.media_type("")
        page.js("dispatchEvent(new Event('afterprint'))")

    def test_small(self):
        self.open("one", width=420)
        self.equal("one sample", self.foot(), "all10.1 ms, 100.0 % \u00b7 1 sample")
        self.shot("one")
        self.open("empty")
        self.check("no sample is said", "no samples" in self.page.js("document.body.textContent"))
        self.shot("empty")

    def test_hostile(self):
        page = self.page
        for view in ("flame", "functions", "sandwich", "threads", "waits"):
            self.open("hostile", f"#event=1&view={view}")
            self.equal(f"nothing foreign was run in {view}", page.js("'owned' in window || document.images.length"), 0)
            self.shot("hostile_" + view)
        self.open("hostile", "#view=functions")
        self.check("names are there, and visible", "</script><img src=x onerror=owned=1>\\x1b[31m" in page.js("rows()[0][0]"),
                   page.js("rows()[0][0]"))

    def test_without_script(self):
        page = self.page
        page.scripts(False)
        self.open("typical")
        self.equal("a table of functions", page.count("#static tbody tr"), 4)
        self.shot("no_script")
        page.scripts(True)

    def test_axe(self):
        """Accessibility by axe-core, if it is installed (tests/consumers/install.sh)."""
        axe = find_axe()
        if not axe:
            return
        for fragment in ("", "#view=functions&theme=dark", "#view=sandwich", "#event=1&view=threads", "#view=waits&theme=dark"):
            self.open("typical", fragment)
            self.equal(f"axe finds nothing in {fragment or 'the flame graph'}", self.page.axe(axe), [])

    def test_quiet(self):
        """Last: what all the others left behind."""
        urls = {e["request"]["url"] for e in self.page.take_events("Network.requestWillBeSent")}
        self.equal("no network", sorted(u for u in urls if not u.startswith("file:")), [])
        self.equal("no exceptions", self.page.take_events("Runtime.exceptionThrown"), [])
        self.equal("no complaints", [e["entry"]["text"] for e in self.page.take_events("Log.entryAdded")], [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pages")
    parser.add_argument("--shots")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    if not find_chromium():
        print("SKIP: chromium is missing\n0 passed, 0 failed")
        return 77
    if args.shots:
        os.makedirs(args.shots, exist_ok=True)
    with Browser() as browser:
        tests = Tests(browser, args.pages, args.shots)
        for name in [n for n in vars(Tests) if n.startswith("test_") and args.only in n]:
            try:
                getattr(tests, name)()
            except (RuntimeError, TimeoutError, EOFError, TypeError, ValueError) as error:
                tests.check(name, False, repr(error))
    print(f"{tests.passed} passed, {tests.failed} failed")
    return 1 if tests.failed or not tests.passed else 0


if __name__ == "__main__":
    sys.exit(main())
