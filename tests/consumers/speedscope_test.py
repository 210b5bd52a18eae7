# SPDX-License-Identifier: GPL-2.0-or-later
"""speedscope_test.py MODULES DIR: loads DIR/*.speedscope.json[.gz] and compares with DIR/*.want, which --json made."""
import glob
import gzip
import json
import os
import re
import sys

sys.path.insert(0, "tests/browser")
from devtools import Browser  # noqa: E402
from speedscope_page import Refused, Speedscope  # noqa: E402

modules, directory = sys.argv[1:]
bad = 0


def check(what, seen, wanted):
    global bad
    if seen != wanted:
        bad += 1
        print(f"{what}: {seen!r} instead of {wanted!r}")


def drawn(profile):
    """Time with a stack."""
    total = depth = at = 0
    for event in profile["events"]:
        if depth:
            total += event["at"] - at
        at = event["at"]
        depth += 1 if event["type"] == "O" else -1
    return total


def names(tree, above=""):
    """Of functions: what --json's own roots, the threads, are called does not count."""
    for child in tree.get("children", ()):
        if above:
            yield child["name"]
        yield from names(child, child["name"])


def perf_samples(directory, name):
    with open(os.path.join(directory, name + ".perf"), "rb") as f:
        return [line for line in f if not line.startswith((b"#", b"\t", b"\n"))]


UNITS = {"ns": "nanoseconds", "bytes": "bytes"}
with Browser() as browser:
    scope = Speedscope(browser, modules)
    for path in sorted(glob.glob(os.path.join(directory, "*.want"))):
        name = os.path.basename(path)[:-len(".want")]
        with open(path) as f:
            want = json.load(f)
        with open(glob.glob(os.path.join(directory, name + ".speedscope.json*"))[0], "rb") as f:
            data = f.read()
        title, seen = scope.load(os.path.basename(f.name), data)
        data = gzip.decompress(data) if f.name.endswith(".gz") else data
        check(f"{name}: title", title, json.loads(data)["name"])
        check(f"{name}: total", sum(drawn(p) for p in seen["profiles"]), want["value"])
        check(f"{name}: axes longer than their recordings", [p["name"] for p in seen["profiles"] if p["endValue"] > 10e9], [])
        units = {p["unit"] for p in seen["profiles"]}
        check(f"{name}: unit", units, {UNITS.get(want["probee"]["unit"], "none")})
        shown = {f["name"] for f in seen["shared"]["frames"]}
        lost = {n for n in names(want) if n.isprintable() and "\ufffd" not in n} - shown
        check(f"{name}: names that are not shown", lost, set())
        # From text of perf script speedscope takes no weights, but one profile for each thread, and all stacks.
        with open(os.path.join(directory, name + ".perf"), "rb") as f:
            title, text = scope.load(name + ".perf", f.read())
        check(f"{name}: threads in perf script", len(text["profiles"]),
              len({re.match(rb".*?[0-9]+/[0-9]+ ", line)[0] for line in perf_samples(directory, name)}))
        check(f"{name}: names that do not show", [n for n in shown if not n.isprintable()], [])
    try:
        scope.load("x.json", b'{}')
        check("a broken file", "accepted", "refused")
    except Refused:
        pass
    check("errors of the page", scope.page.take_events("Runtime.exceptionThrown"), [])
sys.exit(bad != 0)
