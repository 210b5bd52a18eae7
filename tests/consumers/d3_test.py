# SPDX-License-Identifier: GPL-2.0-or-later
"""d3_test.py MODULES DIR: draws DIR/*.json with d3-flame-graph and compares titles and colours with the file."""
import glob
import json
import os
import re
import sys

sys.path.insert(0, "tests/browser")
from devtools import Browser  # noqa: E402

modules, directory = sys.argv[1:]
bad = 0

PAGE = """<!doctype html><meta charset="utf-8"><body><div id="chart"></div>
<script src="file://{modules}/d3/dist/d3.min.js"></script>
<script src="file://{modules}/d3-flame-graph/dist/d3-flamegraph.umd.js"></script>
<script type="application/json" id="data">{data}</script>
<script>
const make = flamegraph.default ?? flamegraph;
const chart = make().width(1000).minFrameSize(0);
if ({has_delta})
	chart.setColorMapper(flamegraph.colorMapper.differentialColorMapper);
d3.select("#chart").datum(JSON.parse(document.getElementById("data").textContent)).call(chart);
</script>"""
BOXES = """[...document.querySelectorAll("#chart g")].map(g => [
	g.querySelector("title")?.textContent, g.querySelector("rect")?.getAttribute("fill")])"""


def check(what, seen, wanted):
    global bad
    if seen != wanted:
        bad += 1
        print(f"{what}: {seen!r} instead of {wanted!r}")


def nodes_of(tree):
    nodes = [tree]
    for n in nodes:
        nodes += n.get("children", [])
    return nodes


def colour(n):
    """As differentialColorMapper has it: red for more, blue for less, paler the smaller the delta is."""
    delta, whole = n["delta"], max(n["value"], abs(n["delta"]))
    pale = int(235 * (1 - abs(delta) / whole) + 0.5)
    rgb = (220, 220, 220)
    if delta > 0:
        rgb = (220, pale, pale) if delta != whole else (255, 190, 90)
    elif delta < 0:
        rgb = (pale, pale, 220)
    return "rgb(%d,%d,%d)" % rgb


with Browser() as browser:
    for path in sorted(glob.glob(os.path.join(directory, "*.json"))):
        name = os.path.basename(path)
        with open(path) as f:
            data = f.read()
        nodes = nodes_of(json.loads(data))
        has_delta = "delta" in nodes[0]
        html = path + ".html"
        with open(html, "w") as f:
            f.write(PAGE.format(modules=modules, data=data, has_delta=str(has_delta).lower()))
        page = browser.page()
        page.open("file://" + html)
        boxes = [b for b in page.js(BOXES) if b[0]]
        # The title is "name (12.345%, 160 samples)"; a node of no weight has no box.
        seen = sorted((title[:title.rindex(" (")], int(re.search(r"(\d+) samples\)$", title)[1])) for title, _ in boxes)
        check(f"{name}: boxes", seen, sorted((n["name"], n["value"]) for n in nodes if n["value"]))
        if has_delta:
            wanted = {(n["name"], n["value"]): colour(n) for n in nodes}
            for title, fill in boxes:
                key = title[:title.rindex(" (")], int(re.search(r"(\d+) samples\)$", title)[1])
                check(f"{name}: colour of {key[0]}", fill, wanted[key])
raise SystemExit(bool(bad))
