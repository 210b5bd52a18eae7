#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Uses the pages of `probee diff --html` in a directory as a person would: diff_test.py DIR [--shots DIR] [--only NAME]

DIR holds CASE.html and CASE.json, the same comparison by another renderer.
"""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
from devtools import find_axe  # noqa: E402
from used import HELPERS, Used, run  # noqa: E402

ROWS = """
window.rows = () => [...document.querySelectorAll("#functions tbody tr")].map(r => ({ name: r.cells[4].textContent,
	change: r.cells[0].querySelector(".number").textContent, relative: r.cells[0].querySelector(".share").textContent,
	verdict: r.cells[0].title, before: +r.cells[1].textContent, after: +r.cells[2].textContent,
	total: +r.cells[3].textContent, isChance: r.classList.contains("chance") }));
window.colours = () => {
	const from = document.querySelector(".flame canvas"), canvas = document.createElement("canvas"), seen = {};
	canvas.width = from.width;
	canvas.height = from.height;
	const c = canvas.getContext("2d", { willReadFrequently: true });
	c.drawImage(from, 0, 0);
	const d = c.getImageData(0, 0, canvas.width, canvas.height).data;
	for (let i = 0; i < d.length; i += 4)
		seen[d[i] > d[i + 2] + 40 ? "red" : d[i + 2] > d[i] + 40 ? "blue" : "grey"] = true;
	return Object.keys(seen).sort().join(" ");
};
"""


class Tests(Used):
    helpers = HELPERS + ROWS

    def json(self, case):
        with open(os.path.join(self.directory, case + ".json"), encoding="utf-8") as f:
            return json.load(f)

    def functions(self, case):
        """Own weights before and after by function, from the tree of --json."""
        sums, nodes = {}, [self.json(case)]
        for n in nodes:
            children = n.get("children", [])
            nodes += children
            after = n["value"] - sum(c["value"] for c in children)
            before = n["before"] - sum(c["before"] for c in children)
            if n["name"].startswith("f"):
                old = sums.get(n["name"], (0, 0))
                sums[n["name"]] = (old[0] + before, old[1] + after)
        return {name: pair for name, pair in sums.items() if any(pair)}

    def test_totals(self):
        for case in ("slow", "same"):
            self.open(case, "#view=functions")
            wanted = self.functions(case)
            seen = {r["name"]: (r["before"], r["after"]) for r in self.page.js("rows()")}
            self.equal(f"{case}: functions", sorted(seen), sorted(wanted))
            for name, (before, after) in wanted.items():
                self.check(f"{case}: weights of {name} as --json has them", abs(seen[name][0] - before / 1e6) <= 0.06 and
                           abs(seen[name][1] - after / 1e6) <= 0.06, (seen[name], before, after))

    def test_flame(self):
        page = self.page
        self.open("slow")
        self.check("the result stands in the head", "differ by more than chance" in self.text("result"), self.text("result"))
        self.check("the root is described", "before " in self.foot() and "\u00b1" in self.foot(), self.foot())
        self.shot("diff_flame")
        self.check("what differs is red", "red" in page.js("colours()"), page.js("colours()"))
        page.js("document.querySelector('.flame').focus()")
        for _ in range(3):
            self.key("ArrowUp")
        self.check("keys walk the boxes", "level 4" in self.text("said"), self.text("said"))
        self.key("Enter")
        zoomed = self.fragment()
        self.check("the zoom is in the URL", zoomed.startswith("#zoom="), zoomed)
        page.reload()
        self.ready()
        self.equal("and survives reload", self.fragment(), zoomed)
        self.key("Escape")
        page.js("const s = id('choose-side'); s.selectedIndex = 2; s.dispatchEvent(new Event('change'))")
        page.settle()
        self.equal("the width is that of before", self.fragment(), "#side=before")
        self.key("v")
        self.check("inverted", "inverted=1" in self.fragment(), self.fragment())

    def test_same(self):
        self.open("same")
        self.check("equal loads do not differ", self.text("result").startswith("No significant difference"), self.text("result"))
        self.equal("and nothing is coloured", self.page.js("colours()"), "grey")
        self.shot("diff_same")
        self.open("same", "#view=functions")
        self.check("all rows are within chance", all(r["isChance"] for r in self.page.js("rows()")))

    def test_functions(self):
        page = self.page
        self.open("slow")
        self.press("Functions")
        rows = page.js("rows()")
        self.equal("what differs most is first", (rows[0]["name"], rows[0]["verdict"]), ("f15", "more than before"))
        self.check("with its error", "\u00b1" in rows[0]["change"] and rows[0]["change"].startswith("+"), rows[0])
        self.check("in the line above, all are counted", f"{len(rows)} functions: " in page.js("document.querySelector('.panel .note').textContent"))
        self.shot("diff_functions")
        self.press("Function")
        names = [r["name"] for r in page.js("rows()")]
        self.equal("sorted by name", names, sorted(names))
        self.equal("said so", page.js("document.querySelectorAll('#functions thead [aria-sort]')[0].textContent"), "Function \u25be")
        self.key("f", "KeyF", 2)
        page.type("^f1")
        page.settle()
        self.check("search leaves rows", all(r["name"].startswith("f1") for r in page.js("rows()")) and page.js("rows().length"))
        self.check("and says before and after", "Matched: before" in self.text("matched"), self.text("matched"))

    def test_sandwich(self):
        page = self.page
        self.open("slow", "#view=sandwich")
        self.equal("begins with what differs most", self.text("sandwich-title"), "f15")
        note = page.js("document.querySelector('.sandwich .note').textContent")
        self.check("says both weights", "self before" in note and "more than before" in note, note)
        self.shot("diff_sandwich")

    def test_links(self):
        self.open("slow", "#view=waits&event=7&group=thread&side=nonsense&sort=x")
        self.equal("what this page has not is the first view", self.page.js("document.querySelector('[aria-selected=true]').textContent"),
                   "Flame graph")

    def test_hostile(self):
        self.open("hostile", "#view=functions")
        self.check("names are text", any("</script>\\x1b[31m" in r["name"] for r in self.page.js("rows()")), self.page.js("rows()[0]"))

    def test_without_script(self):
        self.page.scripts(False)
        self.open("slow")
        self.check("a table of functions", self.page.count("#static tbody tr") > 5)
        self.page.scripts(True)

    def test_palette(self):
        """The page has the colours of the picture, which flame_test.py holds against what people can tell apart."""
        with open("formats/render/assets/flame.css", encoding="utf-8") as f:
            light, dark = f.read().split("@media (prefers-color-scheme: dark)")
        with open("formats/render/assets/page/labels.js", encoding="utf-8") as f:
            kinds = re.findall(r'text: "[^"]*",\s*light: "([^"]*)",\s*dark: "([^"]*)"', f.read())
        for letter, (of_light, of_dark) in zip("uikjbsrlqen", kinds):
            for css, seen in (light, of_light), (dark, of_dark):
                wanted = re.findall(r"\.%s\d\{fill:#(\w+)\}" % letter, css)
                self.equal(f"shades of {letter}", list(dict.fromkeys(seen.split())), wanted)
                self.equal("their number", len(seen.split()), 8)

    def test_axe(self):
        """Accessibility by axe-core, if it is installed (tests/consumers/install.sh)."""
        axe = find_axe()
        for fragment in ("", "#view=functions&theme=dark", "#view=sandwich", "#theme=dark&inverted=1") if axe else ():
            self.open("slow", fragment)
            self.equal(f"axe finds nothing in {fragment or 'the flame graph'}", self.page.axe(axe), [])

    def test_quiet(self):
        self.quiet()


if __name__ == "__main__":
    run(Tests, "html")
