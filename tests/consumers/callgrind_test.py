# SPDX-License-Identifier: GPL-2.0-or-later
"""callgrind_test.py BASE: what callgrind_annotate says (BASE.self, BASE.inclusive) is what --json says (BASE.json)."""
import collections
import json
import re
import sys

base = sys.argv[1]
bad = 0


def check(what, seen, wanted):
    global bad
    if seen != wanted:
        bad += 1
        print(f"{what}: {seen!r} instead of {wanted!r}")


def functions(path):
    """Weights by {file, name}, without the binary and without the number of the activation; the outermost one counts."""
    weights = collections.Counter()
    total = 0
    for line in open(path, encoding="utf-8"):
        m = re.match(r" *([0-9,]+) \([0-9. ]+%\)  *(?:[0-9,]+ \([0-9. ]+%\) )? *(.*)$", line)
        if not m:
            continue
        weight = int(m[1].replace(",", ""))
        if m[2] == "PROGRAM TOTALS":
            total = weight
            continue
        name = re.sub(r" \[[^ ]*\]$", "", m[2])
        if "inclusive" in path and re.search(r"'[0-9]+$", name):
            continue
        weights[re.sub(r"'[0-9]+$", "", name)] += weight
    return total, weights


def visible(name):
    """Names that no format changes."""
    return name.isprintable() and "\ufffd" not in name and not name.startswith(" ") and name.isascii()


def count(node, running, own, inclusive):
    key = f"{node.get('file') or '???'}:{node['name']}"
    own[key] += node.get("self", 0)
    if key not in running:
        inclusive[key] += node["value"]
    for child in node.get("children", ()):
        count(child, running | {key}, own, inclusive)


with open(base + ".json", encoding="utf-8") as f:
    tree = json.load(f)
own, inclusive = collections.Counter(), collections.Counter()
count(tree, frozenset(), own, inclusive)
for kind, want in (("self", own), ("inclusive", inclusive)):
    total, seen = functions(f"{base}.{kind}")
    check(f"{kind}: total", total, tree["value"])
    if kind == "self":
        check("self: sum", sum(seen.values()), tree["value"])
    for key, weight in want.items():
        if weight and visible(key):
            check(f"{kind}: {key}", seen[key], weight)
sys.exit(bad != 0)
