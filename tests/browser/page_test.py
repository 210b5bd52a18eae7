#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Uses the pages in a directory as a person would: page_test.py DIR [--shots DIR] [--only NAME]

DIR holds CASE.html, CASE.folded and CASE.wall of make_page. Prints one line for each failure and "N passed, N failed".
"""
import base64
import json
import os
import re
import sys
import zlib

sys.dont_write_bytecode = True
import used  # noqa: E402
from devtools import find_axe  # noqa: E402

CTRL, SHIFT = 2, 8
STRIP = 800
HELPERS = """
window.rows = () => [...document.querySelectorAll("#functions tbody tr")].map(
	r => [r.cells[2].textContent, r.cells[0].children[1].textContent, r.cells[1].children[1].textContent]);
"""


class Data:
    """An independent reader of the data in a page (formats/render/page/page_message.h, page_data.h)."""

    def __init__(self, path):
        with open(path) as page:
            text = re.search(r'id="data">([^<]*)<', page.read()).group(1)
        message, self.at = base64.b64decode(text), 0
        self.bytes = zlib.decompress(message[1:]) if message[0] else message[1:]
        sections = []
        while self.at < len(self.bytes):
            sections.append((self.part().decode(), self.part()))
        self.once = dict(sections)
        self.head = json.loads(self.once["facts"])
        self.sums = json.loads(self.once["now"])["events"]
        self.strings = self.table("strings").decode().split("\n")
        self.table("functions")
        self.functions = self.columns(9)
        self.trees, self.used, self.events, self.strips = {}, {}, {}, {}
        for name, section in sections:
            if name in ("nodes", "samples", "strip"):
                self.bytes, self.at = section, 0
                getattr(self, name)()
        self.events, self.strips = ([d[i] for i in range(len(self.sums))] for d in (self.events, self.strips))

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

    def part(self):
        size = self.uv()
        self.at += size
        return self.bytes[self.at - size:self.at]

    def table(self, name):
        self.bytes, self.at = self.once[name], 0
        assert self.uv() == 0, "a page that is made once has all rows"
        return self.bytes[self.at:]

    def columns(self, nr):
        n = self.uv()
        return [self.column(n) for _ in range(nr)]

    def nodes(self):
        event = self.uv() - 1
        assert self.uv() == 0, "a page that is made once has all nodes"
        ups, of, _ = self.columns(3)
        stacks = []
        for i, (up, function) in enumerate(zip(ups, of)):
            name = self.strings[self.functions[0][function]].replace(";", ":")
            stacks.append("" if not i else name if up == i else stacks[i - up] + ";" + name)
        self.trees[event] = stacks
        self.used[event] = {self.functions[8][function] for function in of}

    def samples(self):
        event = self.uv()
        self.column(2)
        n, runs = self.uv(), self.uv()
        self.column(2 * runs + n)
        nodes, _, _, counts, _, weights = (self.column(n) for _ in range(6))
        sums, stacks = {}, self.trees[event]
        for node, count, weight in zip(nodes, counts, weights):
            weight = weight - 1 if weight else self.head["events"][event]["usual"] * count
            before = sums.get(stacks[node], (0, 0))
            sums[stacks[node]] = (before[0] + count, before[1] + weight)
        self.events[event] = sums

    def strip(self):
        event = self.uv()
        self.strips[event] = self.column(len(self.head["activities"]) * STRIP)
        assert self.at == len(self.bytes)


class Tests(used.Used):
    helpers = used.HELPERS + HELPERS

    # One method per behaviour.

    def test_totals(self):
        for case in ("typical", "one", "hostile"):
            data = Data(f"{self.directory}/{case}.html")
            for event, suffix in zip(data.events, ("folded", "wall")):
                with open(f"{self.directory}/{case}.{suffix}") as folded:
                    wanted = {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in folded}
                self.equal(f"{case}: the samples are those of the {suffix} text",
                           {stack: count for stack, (count, _) in event.items()}, wanted)
            for event, head in zip(data.events, data.sums):
                self.equal(f"{case}: weights are whole", sum(w for _, w in event.values()), int(head["weight"]))
            self.equal(f"{case}: so are those of the time line", [sum(s) for s in data.strips],
                       [int(head["weight"]) for head in data.sums])

    def test_flame(self):
        page = self.page
        self.open("typical")
        self.equal("title", page.js("document.querySelector('h1').textContent"), "CPU time, 10.1 s, 1,000 samples")
        self.check("the first answer stands in the head", page.js("document.querySelector('#head .answer').textContent").startswith(
            "10.1 s of CPU time in "), page.js("document.querySelector('#head').textContent"))
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
        self.open("typical", "#event=1&" + self.fragment()[1:])
        self.equal("another event keeps the function", self.text("sandwich-title"), "parse")
        data = Data(f"{self.directory}/typical.html")
        lacking = min(data.used[0] - data.used[1], default=None)
        self.check("one event has a function that the other lacks", lacking is not None)
        self.open("typical", f"#event=1&view=sandwich&fn={lacking}")
        self.check("which is said", "No stack that is shown has this function" in self.text("panel-sandwich"), self.text("panel-sandwich"))

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
        self.open("named", "#event=0")
        self.equal("a thread that was renamed is one choice", page.js(
            "(id('choose-event').selectedIndex = 1, id('choose-event').dispatchEvent(new Event('change')), "
            "[...id('choose-thread').options].map(o => o.textContent.split('  ')[0]).sort().join())"),
            "all threads,late (302),main (300),main (301)")

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

    def test_waits_of_any_snapshot(self):
        page = self.page
        self.open("named", "#view=waits")
        self.check("the last snapshot is there at first", self.text("scan-text").startswith("Snapshot 6 at 5."), self.text("scan-text"))
        self.equal("in which one waits", page.js("document.querySelectorAll('.waits-graph .box').length"), 2)
        page.click(*page.js("middle(id('worst-scan'))"))
        page.settle()
        self.check("the worst one is a click away", "Snapshot 3" in self.text("scan-text") and "1 deadlock" in self.text("scan-text"),
                   self.text("scan-text"))
        self.equal("and in the URL", self.fragment(), "#view=waits&scan=3")
        self.check("with its ring", "Deadlock of 2 threads" in self.text("panel-waits"), self.text("panel-waits"))
        self.shot("waits_deadlock")
        page.js("id('choose-scan').focus()")
        self.key("ArrowLeft")
        self.check("an arrow goes to the one before", self.text("scan-text").startswith("Snapshot 2 "), self.text("scan-text"))
        self.check("the list is that of it", "Deadlock of" not in self.text("panel-waits"), self.text("panel-waits"))
        self.press("Follow the time")
        page.js("location.hash = '#view=waits&from=0&to=3500000000'")
        page.settle()
        self.check("it follows the end of the window", self.text("scan-text").startswith("Snapshot 4 "), self.text("scan-text"))
        self.equal("nothing is left out", page.js("document.querySelector('.left-out').textContent"), "")
        page.js("location.hash = '#view=waits&from=0&to=1000'")
        page.settle()
        self.check("nor is one made up", "no snapshot before" in self.text("scan-text"), self.text("scan-text"))

    def test_waits_of_many_snapshots(self):
        page = self.page
        self.open("many", "#view=waits")
        self.check("what is left out is said", re.match(r"\d+ snapshots of 300 are not", page.js(
            "document.querySelector('.left-out').textContent")), page.js("document.querySelector('.left-out').textContent"))
        self.check("the last is there", self.text("scan-text").startswith("Snapshot 300 "), self.text("scan-text"))
        self.press("Most waiting")
        self.check("and the deadlock", self.text("scan-text").startswith("Snapshot 3 "), self.text("scan-text"))
        self.check("the page stays small", os.path.getsize(f"{self.directory}/many.html") < 1.5e6,
                   os.path.getsize(f"{self.directory}/many.html"))

    def grid(self):
        return self.page.js("""[...document.querySelectorAll('.grid-row')].sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map(
            r => [r.querySelector('.label').textContent, r.getAttribute('aria-level'), r.getAttribute('aria-posinset') + '/' +
            r.getAttribute('aria-setsize'), r.getAttribute('aria-expanded')])""")

    def active(self):
        return self.page.js("document.getElementById(id('call-tree').getAttribute('aria-activedescendant'))?.querySelector('.label').textContent")

    def test_call_tree(self):
        page = self.page
        self.open("typical", "#view=tree&group=none")
        rows = self.grid()
        self.equal("rows have levels, places and are open or not", [rows[0], rows[1], rows[2]],
                   [["all", "1", "1/1", "true"], ["shop_main", "2", "1/2", "true"], ["parse", "3", "1/2", None]])
        self.equal("the number of rows is told", page.js("id('call-tree').ariaRowCount"), str(len(rows) + 1))
        row = page.js("[...document.querySelectorAll('.grid-row')].find(r => r.textContent.includes('parse')).textContent")
        self.equal("with total, share, interval, self and samples", row, "parse5.00 s49.5 %46.4\u201352.6 %5.00 s49.5 %495")
        page.js("id('call-tree').focus()")
        self.key("ArrowDown")
        self.equal("down goes to the next row", self.active(), "shop_main")
        self.check("which is described", self.foot().startswith("shop_main10.0 s"), self.foot())
        self.key("ArrowLeft")
        self.equal("left closes it", [r[0] for r in self.grid()][1:], ["shop_main", "cron_main"])
        self.key("ArrowRight")
        self.key("ArrowRight")
        self.equal("right opens it and goes in", self.active(), "parse")
        self.key("ArrowLeft")
        self.key("End")
        self.equal("the end is the last row", self.active(), "cron_main")
        self.key("*", "Digit8", SHIFT)
        self.equal("* opens all below", [r[0] for r in self.grid()][-2:], ["cron_main", "cron_main"])
        self.shot("tree")
        page.click(*page.js("middle([...document.querySelectorAll('.twisty')][1])"))
        page.settle()
        self.equal("so does a click", [r[0] for r in self.grid()][:3], ["all", "shop_main", "cron_main"])
        page.js("id('search').value = 'draw'; id('search').dispatchEvent(new Event('input'))")
        page.settle()
        page.js("id('call-tree').focus()")
        self.key("n")
        self.check("n opens the way to a match", (self.active() or "").endswith("::draw(int)"), self.active())
        self.equal("which is marked", page.js("document.querySelectorAll('.grid-row.hit').length"), 1)
        self.key("Enter")
        self.check("enter shows it in the flame graph", re.search(r"zoom=\d+\.\d+$", self.fragment()), self.fragment())
        self.open("typical", "#view=tree&group=none&from=6000000000&to=9000000000")
        self.check("the window holds here, too", not any(r[0] == "parse" for r in self.grid()), self.grid())

    def test_recursion(self):
        self.open("named", "#view=tree&group=none")
        self.page.js("id('call-tree').focus()")
        self.key("*", "Digit8", SHIFT)
        draw = "std::vector<int>::draw(int)"  # as people read it
        self.equal("recursion is there at first", [r[0] for r in self.grid()], ["all", "parse", "parse", draw, "parse", draw])
        self.press("No recursion")
        self.equal("and gone on demand", [r[0] for r in self.grid()], ["all", "parse", draw])
        self.equal("sums stay", self.page.js("[...document.querySelectorAll('.grid-row')].map(r => r.children[1].children[1].textContent).join()"),
                   "6.00 s,6.00 s,5.00 s")
        self.open("few", "#view=tree&group=none")
        self.equal("--collapse-recursion asks for it", self.page.js("labelled('No recursion').ariaPressed"), "true")

    def test_few(self):
        self.open("few", "#view=functions")
        self.equal("--top has so many rows at first", len(self.page.js("rows()")), 2)
        self.open("few", "#view=tree&group=none")
        self.check("--min-percent hides what is narrower", not any(r[0] == "cron_main" for r in self.grid()), self.grid())
        self.equal("and is a choice", self.page.js("id('choose-least').selectedOptions[0].textContent"), "10 %")
        self.choose("least", "any")
        self.check("that can be undone", any(r[0] == "cron_main" for r in self.grid()), self.grid())
        self.page.scripts(False)
        self.open("few")
        self.equal("the table without scripts has two, too", self.page.count("#static tbody tr"), 2)
        self.page.scripts(True)

    def tracks(self):
        """The names of the rows, by walking them."""
        self.page.js("document.querySelector('.tracks').focus()")
        names = []
        for key in ["Enter"] + ["ArrowDown"] * 12:
            self.key(key)
            names.append(self.page.js("id('stacks').querySelector('h2')?.textContent"))
        return names

    def test_renamed_threads(self):
        self.open("named", "#event=1&view=threads")
        self.equal("a row for each thread, by its last name", sorted(set(self.tracks())),
                   ["late (302), main", "main (300)", "main (301)"])
        self.page.js("document.querySelector('.tracks').focus()")
        said = []
        for key in ["ArrowUp"] * 3 + ["ArrowDown"] * 3:
            self.key(key)
            said.append(self.text("said"))
        self.check("the earlier name is told", any("late (302)" in s and "earlier early" in s for s in said), said)

    def test_two_events(self):
        page = self.page
        self.open("typical", "#view=threads")
        before = page.js("id('timeline').clientHeight")
        self.choose("also", "snapshots")
        self.check("a second strip is there", page.js("id('timeline').clientHeight") > before, before)
        self.equal("it is in the URL", self.fragment(), "#view=threads&also=1")
        names = self.tracks()
        self.equal("lanes of one thread stand together", [names[0] == names[1], names[1] == names[2], names[2] == names[3]], [True, False, True])
        self.check("threads of the second event alone, too", "lock (102), shop" in names, names)
        self.key("ArrowUp")
        page.js("document.querySelector('.tracks').scrollTop = 0")
        box = page.js("(r => [r.x, r.y, r.width])(document.querySelector('.tracks').getBoundingClientRect())")
        width = page.js("document.querySelector('.tracks').clientWidth") - 226
        page.click(box[0] + 220 + width * 0.75, box[1] + 27)
        page.settle()
        self.check("both lanes have one axis", re.search(r"([67])\.\d+ s: ", self.text("stacks")), self.text("stacks"))
        page.click(box[0] + 220 + width * 0.75, box[1] + 9)
        page.settle()
        self.check("of time", re.search(r"7\.\d+ s: ", self.text("stacks")), self.text("stacks"))
        self.shot("two_events")

    def test_views_by_key(self):
        self.open("typical")
        for key, view in zip("123456", ("flame", "functions", "sandwich", "threads", "waits", "tree")):
            self.key(key)
            self.equal(f"{key} shows {view}", self.page.js("id('view').firstElementChild.id"), "panel-" + view)
        self.key("?")
        self.equal("? opens the help", self.page.js("id('help').hidden"), False)
        self.shot("help")
        self.key("Escape")
        self.equal("escape closes it", self.page.js("id('help').hidden"), True)

    def test_strange_links(self):
        for fragment in (
                "#event=99&view=x&group=y&zoom=g9.9&fn=-4&cpu=abc", "#also=99&scan=-5&view=waits", "#also=x&least=1e9&view=tree&zoom=1.2",
                "#event=1&also=0&view=threads&from=1&to=2", "#from=5&to=1", "#fn=1e9&view=sandwich", "#group=constructor&fn=0.5&thread=-1"):
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

    def test_room(self):
        for width in (900, 500):
            for case in ("typical", "many", "hostile"):
                self.open(case, width=width, height=700)
                self.has_room(f"{case}, {width}x700", width, 700)
            self.open("typical", width=width, height=700)
            self.shot(f"room_{width}")
            self.check("what was lost is said in a line", self.page.js("id('brief').textContent"))
            self.equal("and in the details", self.page.js("document.querySelectorAll('#facts > p').length > 0"), True)
            self.press("Inverted")
            self.check(f"a choice that does not fit in {width} is scrolled to", "inverted" in self.fragment(), self.fragment())
            self.page.js("id('controls').scrollLeft = 0")
            x, y = self.page.js("(r => [r.x + 100, r.y + 10])(id('controls').getBoundingClientRect())")
            self.page.call("Input.dispatchMouseEvent", {"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": 120})
            self.page.settle()
            self.check("the wheel scrolls a row", self.page.js("id('controls').scrollLeft") > 0)

    def test_hostile(self):
        page = self.page
        for view in ("flame", "functions", "sandwich", "threads", "waits", "tree"):
            self.open("hostile", f"#event=1&view={view}")
            self.equal(f"nothing foreign was run in {view}", page.js("'owned' in window || document.images.length"), 0)
            self.equal(f"nor turns text around in {view}", page.js(r"/[\u202a-\u202e\x1b]/.test(document.body.innerText)"), False)
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
        for fragment in ("", "#view=functions&theme=dark", "#view=sandwich", "#event=1&view=threads", "#view=waits&theme=dark",
                         "#view=tree", "#view=tree&theme=dark&q=parse", "#also=1&view=threads"):
            self.open("typical", fragment)
            self.equal(f"axe finds nothing in {fragment or 'the flame graph'}", self.page.axe(axe), [])

    def test_quiet(self):
        self.quiet()


if __name__ == "__main__":
    used.run(Tests, "html")
