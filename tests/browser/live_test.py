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
from devtools import find_axe  # noqa: E402
from live_server import Server  # noqa: E402

HELPERS = """
window.now = () => [...document.querySelectorAll("#threads-now tbody tr")].map(r => [...r.cells].map(c => c.textContent));
window.ink = e => {
	const { data } = e.getContext("2d").getImageData(0, 0, e.width, e.height), colours = new Set();
	for (let i = 0; i < data.length; i += 4)
		colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
	return colours.size;
};
"""
VIEWS = ("#view=functions", "#event=1&view=functions", "#view=tree&group=none", "#view=tree&group=program",
         "#event=1&view=tree&group=state", "#event=1&view=tree&group=thread", "#view=functions&folded=1", "#view=tree&inverted=1")


class Tests(used.Used):
    helpers = used.HELPERS + HELPERS
    server = None

    def serve(self, case, samples, fragment="", width=1200, height=700, late=()):
        """Opens a page that has so many records of samples."""
        self.stop()
        self.server = Server([f"{self.directory}/feed_page", f"{self.directory}/{case}.pbz", *late], f"{self.directory}/fed.html")
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
        """until the expression is true; a page that never does it fails after a while."""
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

    def more(self, samples):
        """So many records of samples more, and until they are shown."""
        before = self.page.js("performance.getEntriesByName('update').length")
        self.server.samples(samples)
        self.wait("an update is shown", f"performance.getEntriesByName('update').length > {before}")

    def choose(self, key, text):
        self.page.js(f"""(() => {{ const s = id("choose-{key}");
            s.selectedIndex = [...s.options].findIndex(o => o.textContent.startsWith({text!r}));
            s.dispatchEvent(new Event("change")); }})()""")
        self.page.settle()

    def focus_flame(self, *keys):
        self.page.js("document.querySelector('.flame').focus()")
        for key in keys:
            self.key(key)

    # One method per behaviour.

    def test_same_as_static(self):
        """However many messages it takes, the page shows what the page of the whole file shows."""
        for case in ("typical", "named", "hostile"):
            for view in VIEWS:
                self.open(case, view, height=1500)
                seen = self.page.js("id('view').innerText")
                self.serve(case, 40, view, height=1500)
                for step in (100, 1, 300, 10000):
                    self.server.samples(step)
                self.wait(f"{case}{view}: the same as the static page", f"id('view').innerText === {seen!r}")
        self.check("names are harmless", self.page.js("window.owned === undefined && !document.querySelector('img')"))

    def test_updates(self):
        self.serve("typical", 100)
        self.check("the first samples are there", "97 samples" in self.foot(), self.foot())
        self.more(100)
        self.check("more samples come", "194 samples" in self.foot(), self.foot())
        self.check("and stand in the title", self.page.js("document.querySelector('h1').textContent").endswith("194 samples"),
                   self.page.js("document.querySelector('h1').textContent"))
        self.check("the time line is drawn", self.page.js("ink(document.querySelector('#timeline canvas'))") > 2)
        facts = self.page.js("document.querySelector('#facts').textContent")
        self.check("facts are told", "Lost samples0" in facts and "Lasted" in facts, facts)
        self.check("messages are differences", self.server.sent[0][0] == 0 and all(s > 0 for s, _ in self.server.sent[1:]),
                   self.server.sent)
        self.shot("live")
        self.server.samples(10000)
        self.wait("the end is told", "id('live-status').textContent === 'the recording has ended'")
        self.key("2")
        self.check("and the page is still of use", "parse" in self.text("functions"), self.text("functions"))

    def test_room(self):
        for width in (900, 500):
            self.serve("typical", 100, width=width, height=700)
            self.has_room(f"{width}x700", width, 700)
            self.check("the button that pauses is in reach", self.page.js("""(r => r.left >= 0 && r.right <= innerWidth && r.width > 0)(
                id("pause").getBoundingClientRect())"""))
            self.shot(f"room_{width}")

    def test_zoom_stays(self):
        self.serve("typical", 20)		# functions that come later stand before parse
        self.focus_flame("ArrowUp", "ArrowUp", "ArrowUp", "Enter")
        self.check("zoomed", self.foot().startswith("parse") and "of the zoom" in self.foot(), self.foot())
        zoomed = self.fragment()
        self.server.samples(10000)
        self.wait("what is focused is the same, and counts more", "id('foot').textContent.startsWith('parse') && "
                  "id('foot').textContent.includes('495 samples')")
        self.equal("the zoom stays", self.fragment(), zoomed)
        self.key("ArrowDown")
        self.check("the keys go on from there", self.foot().startswith("shop_main"), self.foot())

    def test_rows_of_functions(self):
        """Rows are used again for other functions: what the user does is for the function that he sees."""
        focused = "document.activeElement.textContent"
        self.serve("typical", 100, "#view=functions")
        all_links = "[...document.querySelectorAll('#functions .link')]"
        link, parse = [f"{all_links}.find(e => e.textContent === {name!r})" for name in ("cron_main", "parse")]
        self.page.js(f"{link}.focus()")
        before = self.page.js(f"{link}.closest('tr').rowIndex")
        self.server.samples(600)
        self.wait("another function is there now", f"{link}.closest('tr').rowIndex > {before}")
        self.equal("the keyboard is where it was", self.page.js(focused), "cron_main")
        self.page.js(f"{parse}.focus()")
        self.page.js("location.hash = 'view=functions&last=1'")
        self.wait("a function is gone", f"!{parse}")
        self.equal("and the keyboard is at no other", self.page.js("document.activeElement.localName"), "body")
        self.serve("typical", 100, "#view=functions")
        x, y = self.page.js(f"middle({link})")
        self.page.mouse("mousePressed", x, y, button="left", clickCount=1, buttons=1)
        self.server.samples(600)
        self.wait("another function is under the mouse", f"document.elementFromPoint({x}, {y}).textContent !== 'cron_main'")
        self.page.mouse("mouseReleased", x, y, button="left", clickCount=1)
        self.page.settle()
        self.equal("a click is for what was there", self.text("sandwich-title"), "cron_main")

    def test_pause(self):
        self.serve("typical", 100)
        self.key(" ")
        self.equal("paused", self.text("live-status"), "paused")
        self.equal("the button resumes", self.text("pause"), "Resume")
        seen, sent = self.foot(), len(self.server.sent)
        self.server.samples(100)
        self.wait_for("the message is sent", lambda: len(self.server.sent) > sent)
        self.server.samples(100)
        self.page.js("new Promise(r => setTimeout(r, 300))")
        self.equal("the page stands still", self.foot(), seen)
        self.key("i")
        self.equal("also when something else is chosen", self.foot(), seen)
        self.press("Resume")
        self.wait("it catches up", "id('foot').textContent.includes('291 samples')")

    def wait_for(self, what, is_true):
        end = time.monotonic() + 30
        while not is_true() and time.monotonic() < end:
            time.sleep(0.02)
        self.check(what, is_true())

    def test_window_follows(self):
        self.serve("typical", 700, "#view=functions")
        self.check("all at first", "parse" in self.text("functions") and "draw" in self.text("functions"))
        self.choose("last", "last 10 s")
        self.equal("in the URL", self.fragment(), "#view=functions&last=10")
        self.page.js("location.hash = 'view=functions&last=1'")
        self.page.settle()
        self.check("only the last second", "parse" not in self.text("functions"), self.text("functions"))
        window = self.text("window").split(" to ")[0]
        self.more(200)
        self.check("the window follows", self.text("window").split(" to ")[0] != window and "parse" not in self.text("functions"), self.text("window"))
        box = self.page.js("(r => [r.x, r.y, r.width, r.height])(id('timeline').getBoundingClientRect())")
        for kind, x in (("mousePressed", 20), ("mouseMoved", 60), ("mouseMoved", 200), ("mouseReleased", 200)):
            self.page.mouse(kind, box[0] + x, box[1] + 30, button="left", clickCount=1, buttons=0 if kind == "mouseReleased" else 1)
        self.page.settle()
        self.check("a brush makes it stand still", "from=" in self.fragment() and "last" not in self.fragment(), self.fragment())
        self.check("there", "parse" in self.text("functions") and "draw" not in self.text("functions"), self.text("functions"))
        window = self.text("window").split("\u00b7")[0]
        self.more(50)
        self.equal("when more comes, too", self.text("window").split("\u00b7")[0], window)
        self.press("Follow")
        self.check("a button follows again", "last=1" in self.fragment() and "parse" not in self.text("functions"), self.fragment())

    def test_accumulate(self):
        self.serve("typical", 600)
        self.press("Accumulate")
        self.equal("in the URL", self.fragment(), "#last=0")
        self.more(100)
        self.check("only what came", self.foot().startswith("all") and 90 <= int(self.foot().split()[-2].replace(",", "")) <= 200, self.foot())
        self.key("a")
        self.check("all again", "679 samples" in self.foot(), self.foot())

    def test_reconnects(self):
        self.serve("typical", 100)
        version = f"{self.server.epoch}-{self.server.version}"
        self.server.drop()
        self.wait_for("it comes back", lambda: len(self.server.asked) == 2)
        self.equal("and says what it has", self.server.asked[-1], version)
        self.more(100)
        self.check("nothing is lost or counted twice", "194 samples" in self.foot(), self.foot())
        self.check("the rest was a difference", self.server.sent[-1][0] > 0, self.server.sent)
        self.server.is_refusing = True
        self.server.drop()
        self.wait("a lost connection is said", "id('live-status').textContent.startsWith('connection lost')")
        self.shot("lost")
        self.server.is_refusing = False
        self.server.samples(100)
        self.wait("and found again", "id('foot').textContent.includes('291 samples')")

    def test_names_come_late(self):
        self.serve("typical", 300, late=["late"])
        self.focus_flame("ArrowUp", "ArrowUp")
        self.check("addresses at first", self.foot().startswith("[shop+0x1040]"), self.foot())
        self.server.names()
        self.wait("names then", "document.querySelector('#foot').textContent.startsWith('all')")
        self.focus_flame("Home", "ArrowUp", "ArrowUp")
        self.check("with all samples", self.foot().startswith("shop_main") and "288 samples" in self.foot(), self.foot())
        self.key("2")
        self.check("and nothing is left at the addresses", "[shop+" not in self.text("functions"), self.text("functions"))

    def test_begins_anew(self):
        self.serve("typical", 300, late=["late"])
        self.server.names()
        self.wait("names are there", "document.querySelector('#view') && id('tab-functions')")
        self.server.samples(400)
        self.wait("more came", "id('foot').textContent.includes('679 samples')")
        self.focus_flame("ArrowUp", "ArrowUp", "ArrowUp", "Enter")
        self.check("zoomed", self.foot().startswith("parse") and "of the zoom" in self.foot(), self.foot())
        self.server.again()
        self.wait_for("all is sent anew", lambda: self.server.sent[-1][0] == 0)
        self.more(100)
        self.check("the zoom is found by its names", self.foot().startswith("parse") and "of the zoom" in self.foot(), self.foot())
        self.key("Escape")
        self.focus_flame("Home")
        self.check("nothing is counted twice", "776 samples" in self.foot(), self.foot())

    def test_threads_now(self):
        self.serve("typical", 110, "#view=now")
        rows = {r[1]: r for r in self.page.js("now()")}
        self.equal("every thread that has a row", sorted(rows), ["lock (102)", "shop (100)", "till (101)"])
        self.check("who waits, for what, held by whom", rows["lock (102)"][2] == "SLEEP" and
                   "futex 0x7f00, held by till (101)" in rows["lock (102)"][5], rows["lock (102)"])
        self.check("who runs takes CPU time", float(rows["shop (100)"][3]) > 30, rows["shop (100)"])
        self.page.click(*self.page.js("middle([...document.querySelectorAll('#threads-now .link')].find(e => e.textContent === 'lock (102)'))"))
        self.page.settle()
        self.check("a click shows the stack", self.page.js("[...document.querySelectorAll('#stack-now li')].map(e => e.textContent).join()")
                   .startswith("futex_wait,"), self.text("stack-now"))
        self.shot("threads-now")
        self.press("Thread")
        self.equal("sorted by name", [r[1] for r in self.page.js("now()")], ["lock (102)", "shop (100)", "till (101)"])
        self.page.js("(id('search').value = 'futex', id('search').dispatchEvent(new Event('input')))")
        self.page.settle()
        self.equal("the search chooses", [r[1] for r in self.page.js("now()")], ["lock (102)"])
        self.page.js("(id('search').value = '', id('search').dispatchEvent(new Event('input')))")
        self.page.settle()
        before = self.page.js("now()")
        self.more(100)
        self.check("rows change", self.page.js("now()") != before, before)

    def test_waits(self):
        self.serve("typical", 110, "#view=waits")
        items = "[...document.querySelectorAll('.waits > li > ul b')].map(e => e.textContent).join()"
        self.equal("who waits stands below whom", self.page.js(items), "lock (102)")
        self.check("of the newest snapshot", self.text("scan-text").startswith("Snapshot 1 at 0."), self.text("scan-text"))
        self.more(300)
        self.check("of the newest one when more has come", self.text("scan-text").startswith("Snapshot 4 at 3."), self.text("scan-text"))
        self.shot("waits")
        self.serve("named", 242, "#view=waits")
        self.check("a deadlock is there", "Deadlock of 2 threads" in self.text("panel-waits"), self.text("panel-waits"))

    def test_looks(self):
        for name, fragment, width in (("dark", "#theme=dark", 1200), ("narrow", "", 500), ("narrow-now", "#view=now", 500),
                                      ("threads", "#event=1&view=threads", 1200), ("dark-now", "#view=now&theme=dark", 1200)):
            self.serve("typical", 700, fragment, width=width)
            self.shot(name)
            self.check(f"{name}: nothing is wider than the window", self.page.js("document.documentElement.scrollWidth") <= width)

    def test_axe(self):
        """Accessibility by axe-core, if it is installed (tests/consumers/install.sh)."""
        axe = find_axe()
        for fragment in ("", "#view=now", "#view=waits", "#view=now&theme=dark") if axe else ():
            self.serve("typical", 700, fragment)
            self.equal(f"axe finds nothing in {fragment or 'the flame graph'}", self.page.axe(axe), [])

    def test_zz_quiet(self):
        """Last: what all the others left behind."""
        self.stop()
        urls = {e["request"]["url"].split("/")[2] for e in self.page.take_events("Network.requestWillBeSent")
                if e["request"]["url"].startswith("http")}
        self.check("no other server is asked", all(u.startswith("127.0.0.1:") for u in urls), urls)
        self.equal("no exceptions", self.page.take_events("Runtime.exceptionThrown"), [])
        complaints = [e["entry"]["text"] for e in self.page.take_events("Log.entryAdded")]
        self.equal("no complaints, such as of the policy", [c for c in complaints if "Failed to load" not in c], [])


if __name__ == "__main__":
    used.run(Tests, "html")
