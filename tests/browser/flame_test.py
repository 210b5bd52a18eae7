#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Uses the flame graphs in a directory as a person would: flame_test.py DIR [--shots DIR]

DIR holds CASE.svg for every case of make_svg. Prints one line for each failure and "N passed, N failed".
"""
import os
import re
import sys
import time
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True
import colours  # noqa: E402
from colours import contrast  # noqa: E402
from devtools import find_axe, png_pixels  # noqa: E402
import used  # noqa: E402

CTRL, SHIFT = 2, 8
HELPERS = """
window.box = name => [...document.querySelectorAll(".f")].find(
	e => e.firstElementChild.textContent.split("\\n")[0] === name);
"""


def rgb(text):
    return [float(v) for v in re.findall(r"[\d.]+", text)[:3]]


class Tests(used.Used):
    helpers = used.HELPERS + HELPERS

    def ready(self):
        self.page.js(self.helpers)

    def open(self, case, fragment="", width=1200, height=600):
        self.page.resize(width, height)
        super().open(case, fragment, width, height)
        self.page.settle()

    def click(self, name):
        self.page.click(*self.page.js(f"middle(box({name!r}))"))
        self.page.settle()

    def width(self, name):
        return self.page.js(f"box({name!r}).children[1].getAttribute('width')")

    def focused(self):
        return self.page.js("document.activeElement.closest('.f')?.firstElementChild.textContent.split('\\n')[0]")

    # One method per behaviour.

    def test_zoom(self):
        page = self.page
        self.open("typical")
        self.equal("reset is off before a zoom", page.js("id('reset').disabled"), True)
        self.click("main")
        self.equal("clicked box fills the width", self.width("main"), "100%")
        self.equal("ancestor is faded", page.js("box('_start').classList.contains('a')"), True)
        self.equal("sibling is hidden", page.js("getComputedStyle(box('start_thread')).display"), "none")
        self.equal("share of a child", self.width("net::Server::run()"), "100%")
        self.equal("place is exact", self.width("recv"), page.js("100 * (530 / 2390) + '%'"))
        self.equal("zoom is in the URL", self.fragment(), "#x=430&d=4")
        page.mouse("mouseMoved", *page.js("middle(box('recv'))"))
        title = page.js("box('recv').firstElementChild.textContent").split("\n")
        self.equal("a title has the share of all", title[1], "530 samples, 13.95%")
        self.equal("and that of the zoom", title[-1], "22.18% of the zoom")
        self.check("so do the details", "22.18% of the zoom" in self.text("foot"), self.text("foot"))
        page.key("/", "Slash")
        page.type("^recv$")
        self.equal("a match has both", self.text("matched"), "Matched: 13.9%, 22.2% of the zoom")
        page.key("Escape")
        self.shot("zoomed")
        page.reload()
        self.ready()
        self.equal("zoom survives reload", self.width("main"), "100%")
        page.js("history.back()")
        page.settle()
        self.equal("back leaves the zoom", page.js("id('reset').disabled"), True)
        self.equal("back shows everything", page.js("getComputedStyle(box('start_thread')).display"), "inline")
        page.js("history.forward()")
        page.settle()
        self.equal("forward zooms again", self.width("main"), "100%")
        page.mouse("mouseMoved", *page.js("middle(box('recv'))"))
        page.click(*page.js("middle(id('reset'))"))
        page.mouse("mouseMoved", *page.js("middle(box('recv'))"))
        self.check("without a zoom there is no share of it", "zoom" not in page.js(
            "box('recv').firstElementChild.textContent"))
        self.equal("reset empties the URL", self.fragment(), "")
        self.equal("reset shows everything", self.width("all"), "100%")
        self.click("recv")
        page.key("Escape")
        self.equal("escape leaves the zoom", self.fragment(), "")
        self.click("recv")
        self.click("server [1201]")
        self.equal("an ancestor can be clicked", self.width("server [1201]"), "100%")

    def test_search(self):
        page = self.page
        self.open("typical")
        page.key("f", "KeyF", CTRL)
        page.type("json|malloc")
        self.equal("matches count once", self.text("matched"), "Matched: 36.3%")
        self.equal("matches are marked", page.js("box('malloc').classList.contains('m')"), True)
        self.equal("others are not", page.js("box('recv').classList.contains('m')"), False)
        self.equal("search is in the URL", self.fragment(), "#q=json%7Cmalloc")
        self.shot("searched")
        self.check_heading("with a search")
        page.key("Enter")
        self.check("enter goes to a match", self.focused().startswith("json::Parser"), self.focused())
        before = self.focused()
        page.key("n", "KeyN")
        self.check("n goes to the next match", self.focused() != before, before)
        page.key("N", "KeyN", SHIFT)
        self.equal("N goes back", self.focused(), before)
        page.reload()
        self.ready()
        self.equal("search survives reload", self.text("matched"), "Matched: 36.3%")
        self.equal("its text, too", page.js("id('search').value"), "json|malloc")
        page.click(*page.js("middle(id('clear'))"))
        self.equal("clear forgets", (self.text("matched"), self.fragment(), page.count(".m")), ("", "", 0))
        page.key("/", "Slash")
        page.type("JSON")
        self.equal("a capital makes case count", self.text("matched"), "Matched: 0.0%")
        page.key("Escape")
        page.type("^MAIN$")
        self.equal("escape empties the field", page.js("id('search').value"), "^MAIN$")
        page.key("Escape")
        page.type("^main$|start")
        self.equal("regular expressions work", self.text("matched"), "Matched: 88.7%")
        page.key("Escape")
        page.type("^std::sort<.*>$")
        self.equal("without parameters and return type as well", self.text("matched"), "Matched: 7.1%")
        page.key("Escape")
        page.type("(")
        self.equal("a bad pattern is said", self.text("matched"), "Not a pattern")

    def test_url(self):
        self.open("typical", "#x=430&d=4&q=recv&v=icicle")
        self.equal("zoom from a URL", self.width("main"), "100%")
        self.equal("search from a URL", self.text("matched"), "Matched: 13.9%, 22.2% of the zoom")
        self.equal("icicle from a URL", self.text("invert"), "Show as flame")
        self.open("typical", "#x=7&d=99&q=%ff&v=%3Cb%3E")
        self.equal("nonsense is ignored", self.page.js("id('reset').disabled"), True)

    def test_icicle(self):
        page = self.page
        self.open("typical")
        above = "box('main').getBoundingClientRect().y < box('_start').getBoundingClientRect().y"
        self.equal("flames grow upwards", page.js(above), True)
        self.equal("the button says what it does", self.text("invert"), "Show as icicle")
        page.click(*page.js("middle(id('invert'))"))
        self.equal("icicles grow downwards", page.js(above), False)
        self.equal("it is in the URL", self.fragment(), "#v=icicle")
        self.shot("icicle")

    def test_print(self):
        """The whole graph on one page: neither its root nor its tips are behind an edge, and no frame scrolls."""
        page = self.page
        for case in "typical", "deep", "lossy", "tips":
            self.open(case)
            pdf = page.pdf()
            self.equal(f"{case}: is one page", len(re.findall(rb"/Type\s*/Page\b", pdf)), 1)
            if self.shots:
                with open(os.path.join(self.shots, f"print-{case}.pdf"), "wb") as out:
                    out.write(pdf)
            page.media_type("print")
            size = page.js("innerHeight")
            top, bottom = page.js("(r => [r.top, r.bottom])(id('chart').getBoundingClientRect())")
            tips = page.js("[...document.querySelectorAll('.f')].map(e => e.getBoundingClientRect())"
                           ".reduce((m, r) => [Math.min(m[0], r.top), Math.max(m[1], r.bottom)], [1e9, -1e9])")
            self.check(f"{case}: the picture is on the page", 0 <= top < bottom <= size, (top, bottom, size))
            if case != "tips":
                self.check(f"{case}: every box is in the picture", top - 1 <= tips[0] < tips[1] <= bottom + 1,
                           (tips, top, bottom))
            self.equal(f"{case}: nothing scrolls", page.js("id('page').scrollHeight <= id('page').clientHeight + 1"), True)
            shown = {i: page.js(f"id({i!r}).getClientRects().length") for i in ("search", "invert", "foot", "details")}
            self.equal(f"{case}: facts are printed, buttons are not", shown, {**dict.fromkeys(shown, 0), "details": 1})
            self.check(f"{case}: the legend is printed", page.js("document.querySelector('#top li').getClientRects().length"))
            page.media_type("")

    def test_keyboard(self):
        page = self.page
        self.open("typical")
        for _ in range(8):
            page.key("Tab")
            if self.focused():
                break
        self.equal("Tab reaches the tree", self.focused(), "all")
        page.key("ArrowUp")
        self.equal("up is the widest callee", self.focused(), "server [1201]")
        page.key("ArrowRight")
        self.equal("right is the neighbour", self.focused(), "swapper/0 [0]")
        page.key("ArrowLeft")
        page.key("ArrowLeft")
        self.equal("left is the other one", self.focused(), "kworker/0:1 [77]")
        page.key("ArrowDown")
        self.equal("down is the caller", self.focused(), "all")
        page.key("ArrowDown")
        self.equal("nothing is below the root", self.focused(), "all")
        page.key("ArrowUp")
        self.check("details name the box", self.text("foot").startswith("server [1201]"), self.text("foot"))
        self.equal("focus can be seen", page.js("id('focus').style.display"), "")
        page.key("ArrowUp")
        page.key("Enter")
        self.equal("enter zooms", self.width("_start"), "100%")
        self.equal("focus stays", self.focused(), "_start")
        page.key("ArrowRight")
        self.equal("hidden boxes are skipped", self.focused(), "_start")
        self.equal("one box takes Tab", page.count(".f[tabindex]"), 1)
        self.equal("boxes are a tree", page.js("id('chart').getAttribute('role') + box('all').getAttribute('role')"),
                   "treetreeitem")
        copied = page.js("""(() => { const d = new DataTransfer(); document.dispatchEvent(
            new ClipboardEvent("copy", { clipboardData: d, cancelable: true })); return d.getData("text/plain") })()""")
        self.equal("the name can be copied", copied, "_start")

    def test_details(self):
        page = self.page
        self.open("typical")
        page.mouse("mouseMoved", *page.js("middle(box('main'))"))
        self.check("details on hover", self.text("foot").startswith("main2,390 samples, 62.89%"), self.text("foot"))
        self.check("details name file and line", "src/main.cc:42" in self.text("foot"), self.text("foot"))
        page.mouse("mouseMoved", 5, 5)
        self.check("hint otherwise", self.text("foot").startswith("Click"), self.text("foot"))

    def test_facts(self):
        page = self.page
        self.open("typical")
        self.check("the head is small", page.js("id('head').offsetHeight") <= 90, page.js("id('head').offsetHeight"))
        self.open("deep")
        self.equal("facts are folded", page.js("id('details').getClientRects().length"), 0)
        root = "box('all').getBoundingClientRect().bottom"
        before = page.js(root)
        page.click(*page.js("middle(id('facts-button'))"))
        page.settle()
        self.equal("a click opens them", page.js("id('facts-button').getAttribute('aria-expanded')"), "true")
        self.check("all of them are there", "during the walk;" in page.js("id('details').innerText"))
        self.equal("the boxes stay", page.js(root), before)
        self.shot("facts")
        page.key("d", "KeyD")
        self.equal("a key folds them", page.js("id('details').getClientRects().length"), 0)

    def test_tips(self):
        page = self.page
        self.open("tips")
        self.equal("the tips of two deep stacks are cut off", page.js("id('chart').height.baseVal.value"), 40 * 18 + 2)
        self.check("and it is said", "127 narrow rows above not shown: 0.52%" in self.text("head"), self.text("head"))
        self.shot("tips")
        page.click(*page.js("middle(id('tall'))"))
        self.equal("a click shows them", page.js("id('chart').height.baseVal.value"), 167 * 18 + 2)
        self.equal("then nothing is said", page.js("id('head').innerText.includes('not shown')"), False)
        page.click(*page.js("middle(id('tall'))"))
        page.js("box('load [7]').dispatchEvent(new MouseEvent('click', { bubbles: true }))")
        page.settle()
        self.equal("so does a zoom", page.js("id('chart').height.baseVal.value"), 167 * 18 + 2)
        page.key("Escape")
        page.js("box('load [7]').focus()")
        for _ in range(45):
            page.key("ArrowUp")
        page.settle()
        self.equal("and a key that goes there", page.js("id('chart').height.baseVal.value"), 167 * 18 + 2)

    def check_labels(self, what):
        """No label is wider than its box; wide boxes have one."""
        worst = self.page.js("""Math.max(...[...document.querySelectorAll(".f text")].map(t =>
            t.getBoundingClientRect().right - t.parentNode.children[1].getBoundingClientRect().right))""")
        self.check(f"labels stay in their boxes {what}", worst <= 0.5, worst)
        strange = self.page.js("""[...document.querySelectorAll(".f text")].map(t => [t.textContent,
            t.parentNode.firstElementChild.textContent]).filter(([s, name]) => { let at = -1;
            return ![...s.replace("\u2026", "")].every(c => (at = name.indexOf(c, at + 1)) >= 0) })""")
        self.equal(f"labels are made of letters of the name, in their order {what}", strange, [])
        blank = self.page.js("""[...document.querySelectorAll(".f")].filter(e => e.style.display !== "none" &&
            e.children[1].getBoundingClientRect().width > 40 && !e.children[2]?.textContent).length""")
        self.equal(f"wide boxes have labels {what}", blank, 0)
        strange = self.page.js("""[...document.querySelectorAll(".f text")].filter(t => t.textContent &&
            !t.textContent.split("\u2026").every(p => t.parentNode.firstElementChild.textContent.includes(p[0] ?? ""))).length""")
        self.equal(f"labels are of their names {what}", strange, 0)

    def check_heading(self, what):
        self.page.settle()
        worst = self.page.js("""Math.max(...[...id("bar").querySelectorAll("*")].map(e =>
            e.getBoundingClientRect().bottom)) - id("chart").getBoundingClientRect().top""")
        self.check(f"heading is clear of the boxes {what}", worst <= 0, worst)
        spill = self.page.js("id('head').scrollWidth - id('head').clientWidth")
        self.check(f"heading fits {what}", spill <= 0, spill)

    def test_resize(self):
        page = self.page
        for width in (1200, 420, 2400):
            self.open("lossy", width=width)
            self.check_labels(f"at {width}")
            used = page.js("box('all').children[1].getBoundingClientRect().width")
            self.check(f"width is used at {width}", abs(used - (width - 20)) < 1, used)
            self.check_heading(f"at {width}")
            page.key("/", "Slash")
            page.type("a")
            self.check_heading(f"at {width} with a search")
            page.key("Escape")
            self.shot(f"lossy_{width}")
        page.resize(700, 600)
        self.check_labels("after a resize")
        self.equal("names are shortened from the outside", page.js(
            "box('net::Server::poll(std::chrono::duration<long, std::ratio<1l, 1000l> >)').children[2].textContent"),
            "poll")

        self.open("typical", width=950)
        self.equal("a return type goes before the name", page.js("""[...document.querySelectorAll(".f")].find(e =>
            e.firstElementChild.textContent.startsWith("void std::sort<")).children[2].textContent"""), "std::sort")

    def test_names(self):
        """A narrow box keeps the method of a name, whatever the language."""
        page = self.page
        self.open("names")
        seen = page.js("""[...document.querySelectorAll(".f")].filter(e => e.dataset.d === "2").map(e => [
            e.firstElementChild.textContent.split("\\n")[0], e.children[2]?.textContent])""")
        self.equal("names are cut so that the method stays", dict(seen), {
            "java.util.concurrent.ConcurrentHashMap.computeIfAbsent(java.lang.Object, int)": "computeIfAbsent",
            "Lcom/acme/billing/Bank;::transfer": "Bank::transfer",
            "github.com/acme/agent/metrics.(*Registry).Collect": "(*Registry).Collect",
            "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop": "drop",
            "app::server::connection::run::{{closure}}": "run::{{closure}}",
            "LazyCompile:~handler /srv/www/app.js:14": "handler",
            "schedule_hrtimeout_range_clock": self.text_of(seen, "schedule_hrtimeout_range_clock"),
        })
        cut = self.text_of(seen, "schedule_hrtimeout_range_clock")
        self.check("one word loses its middle", re.fullmatch(r"schedu\w*\u2026\w*_clock", cut), cut)
        self.check_labels("with names of all kinds")
        self.shot("names")

    @staticmethod
    def text_of(seen, name):
        return dict(seen).get(name)

    def test_colours(self):
        page = self.page
        for scheme in ("light", "dark"):
            page.media(prefers_color_scheme=scheme)
            self.open("lossy")
            self.shot(scheme)
            for search, zoom in (("", ""), (".", ""), ("", "recv"), (".", "recv")):
                self.open("lossy")
                if zoom:
                    self.click(zoom)
                page.key("/", "Slash")
                page.type(search)
                pairs = page.js("""[...document.querySelectorAll(".f")].filter(e => e.children[2]).map(e => [
                    getComputedStyle(e.children[1]).fill, +getComputedStyle(e.children[1]).fillOpacity,
                    getComputedStyle(e.children[2]).fill, getComputedStyle(id("head")).backgroundColor])""")
                worst = min(contrast(rgb(text), [f * alpha + b * (1 - alpha) for f, b in zip(rgb(fill), rgb(back))])
                            for fill, alpha, text, back in pairs)
                self.check(f"labels can be read, {scheme} {search} {zoom}", worst >= 4.5, worst)
            worst = min(contrast(rgb(a), rgb(b)) for a, b in page.js("""
                [...document.querySelectorAll("#head h1, #head p, #head li, #matched, #foot, #details")].map(e => [
                getComputedStyle(e).color, getComputedStyle(id("head")).backgroundColor])"""))
            self.check(f"the heading can be read, {scheme}", worst >= 4.5, worst)
            warn = rgb(page.js("getComputedStyle(document.querySelector('.warn')).color"))
            self.check(f"the warning is red, {scheme}", warn[0] > warn[1] * 1.5 and warn[0] > warn[2] * 1.5, warn)
        page.media()

    def test_palette(self):
        """All shades, not only those of the test's names."""
        self.equal("distances are those of the formula's authors", colours.check(), "")
        for scheme in ("light", "dark"):
            self.page.media(prefers_color_scheme=scheme)
            self.open("one")
            fills = self.page.js("""(() => { const e = box("main"), r = []; for (const f of "uikjnbs")
                for (let n = 0; n < 8; n++) { e.setAttribute("class", "f " + f + n);
                r.push([getComputedStyle(e.children[1]).fill, getComputedStyle(e.children[2]).fill]) } return r })()""")
            self.equal(f"no shade is missing, {scheme}", len({f for f, _ in fills}), 56)
            worst = min(contrast(rgb(a), rgb(b)) for a, b in fills)
            self.check(f"all shades can be read on, {scheme}", worst >= 4.5, worst)
            families = {f: [rgb(c) for c, _ in fills[8 * i:8 * i + 8]] for i, f in enumerate("uikjnbs")}
            for vision in colours.VISIONS:
                worst = colours.nearest(families, vision)
                self.check(f"families can be told apart, {scheme}, {vision}", worst[0] >= 9, worst)
        self.page.media()

    def test_differences(self):
        """More, less and neither can be told apart, and read on."""
        for scheme in ("light", "dark"):
            self.page.media(prefers_color_scheme=scheme)
            self.open("one")
            fills = dict(self.page.js("""(() => { const e = box("main"), r = [];
                for (const f of ["r1", "r2", "r3", "r4", "l1", "l2", "l3", "l4", "q0", "q7", "e0", "e7"]) {
                e.setAttribute("class", "f " + f);
                r.push([f, [getComputedStyle(e.children[1]).fill, getComputedStyle(e.children[2]).fill]]) }
                return r })()"""))
            worst = min(contrast(rgb(a), rgb(b)) for a, b in fills.values())
            self.check(f"differences can be read on, {scheme}", worst >= 4.5, worst)
            families = {f: [rgb(fill) for name, (fill, _) in fills.items() if name[0] == f] for f in "rlq"}
            for vision in colours.VISIONS:
                worst = colours.nearest(families, vision)
                self.check(f"differences can be told apart, {scheme}, {vision}", worst[0] >= 8, worst)
        self.page.media()

    def test_deep(self):
        page = self.page
        self.open("deep")
        self.equal("the document does not scroll", page.js("""[scrollY,
            document.documentElement.scrollHeight - innerHeight]"""), [0, 0])
        _, height, pixel = png_pixels(self.page.screenshot(whole=True))
        root = {pixel(x, height - 36) for x in range(100, 1180, 20)}
        self.check("a picture of the document shows the root", len(root) == 1 and (255, 255, 255) not in root, root)
        self.check("the root is in sight", page.js("box('all').getBoundingClientRect().bottom <= innerHeight"))
        self.check("so is the heading", abs(page.js("id('head').getBoundingClientRect().top")) < 1)
        self.check("so are the details", page.js("id('foot').getBoundingClientRect().bottom") <= 601)
        self.shot("deep")
        page.media(prefers_reduced_motion="reduce")
        self.click("main")
        for _ in range(60):
            page.key("ArrowUp")
        page.settle()
        self.check("focus is scrolled into sight", page.js("""(() => {
            const r = document.activeElement.getBoundingClientRect(), h = id("head").getBoundingClientRect();
            return r.top >= h.bottom - 1 && r.bottom <= id("foot").getBoundingClientRect().top + 1 })()"""))
        self.shot("deep_scrolled")
        page.media()

    def test_small(self):
        self.open("one", height=300)
        self.equal("one sample", self.page.js("box('wait4').firstElementChild.textContent"),
                   "wait4\n1 sample, 100.00%; self 1 sample, 100.00%")
        self.shot("one")
        self.open("empty", height=300)
        self.check("no samples are said", "No samples" in self.page.js("document.documentElement.textContent"))
        self.shot("empty")

    def test_big(self):
        page = self.page
        self.open("big")
        self.equal("boxes are limited", page.count(".f"), 20000)
        self.check("and it is said", re.search(r"[\d,]+ narrow frames hidden: [\d.]+%", page.js("id('head').textContent")))
        self.shot("big")

    def test_speed(self):
        """Says how long it takes, of four times the shortest, and asserts no more than that it came to an end."""
        for case in ("medium", "big"):
            times = [self.measure(case) for _ in range(4)]
            first, all_drawn, into, out = (min(t[i] for t in times) for i in range(4))
            print(f"# {self.page.count('.f')} boxes: first paint after {first:.0f} ms, all drawn after {all_drawn:.0f} ms, "
                  f"a click zooms in {into:.0f} ms and out in {out:.0f} ms")

    def measure(self, case):
        page = self.page
        begin = time.monotonic()
        page.open(f"file://{self.directory}/{case}.svg")
        page.js("new Promise(r => requestAnimationFrame(() => setTimeout(r, 0)))")
        drawn = 1000 * (time.monotonic() - begin)
        zooms = page.js("""(async () => {
            const all = document.querySelectorAll(".f"), times = [];
            const drawn = () => new Promise(r => requestAnimationFrame(() => setTimeout(r, 0)));
            for (const e of [all[25], all[0]]) {
                await drawn();
                const begin = performance.now();
                e.dispatchEvent(new MouseEvent("click", { bubbles: true }));
                await drawn();
                times.push(performance.now() - begin, e.children[1].getAttribute("width"));
            }
            return times })()""")
        self.equal(f"{case}: each click zooms", zooms[1::2], ["100%", "100%"])
        first = page.js("performance.getEntriesByType('paint')[0].startTime")
        return first, drawn, zooms[0], zooms[2]

    def test_hostile(self):
        self.open("hostile")
        self.equal("nothing foreign was run", self.page.js(
            "document.documentElement.hasAttribute('owned') || 'owned' in window"), False)
        self.equal("nor made an element", self.page.count("body, x"), 0)
        self.shot("hostile")

    def test_without_script(self):
        page = self.page
        page.scripts(False)
        self.open("lossy", width=1200, height=420)
        self.equal("heading stays text", (page.count("#head-text"), page.count("#head")), (1, 0))
        self.check("labels are there", page.count(".f text") > 30)
        _, _, pixel = png_pixels(self.shot("no_script"))
        tree = ET.parse(os.path.join(self.directory, "lossy.svg"))
        svg = "{http://www.w3.org/2000/svg}"
        chart = tree.find(f"{svg}svg")
        rect = chart.findall(f"{svg}g/{svg}rect")[-1]
        x = 10 + 1180 * (float(rect.get("x")[:-1]) + float(rect.get("width")[:-1]) - 0.2) / 100
        colour = pixel(int(x), int(float(chart.get("y"))) + int(rect.get("y")) + 8)
        self.check("boxes are drawn in colour", max(colour) - min(colour) > 40, colour)
        page.scripts(True)

    def test_axe(self):
        """Accessibility by axe-core, if it is installed."""
        axe = find_axe()
        for case, fragment in ("lossy", ""), ("tips", "#q=main&v=icicle"), ("empty", ""):
            self.open(case, fragment)
            self.equal(f"axe finds nothing in {case}", self.page.axe(axe) if axe else [], [])

    def test_quiet(self):
        self.quiet()


if __name__ == "__main__":
    used.run(Tests, "svg")
