#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A picture of a page: shot.py FILE OUT.png [--size 1200x600] [--dark]

FILE is SVG or HTML, and may have a fragment (a.html#view=threads); a text file (.txt) is shown as a terminal would.
"""
import argparse
import html
import os
import sys
import tempfile

sys.dont_write_bytecode = True
from devtools import Browser, find_chromium  # noqa: E402

TERMINAL = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; background: #14161b; color: #e6e8ec }
pre { margin: 0; padding: 12px 14px; font: 13px/17px "DejaVu Sans Mono", monospace; white-space: pre }
b { color: #9fd88f; font-weight: normal }</style><pre>%s</pre>"""


def terminal(path, folder):
    """A page that shows a text; lines that begin with $ are what was typed."""
    with open(path, encoding="utf-8") as text:
        lines = [html.escape(line.rstrip("\n")) for line in text]
    page = os.path.join(folder, "terminal.html")
    with open(page, "w", encoding="utf-8") as out:
        out.write(TERMINAL % "\n".join(f"<b>{s}</b>" if s.startswith("$") else s for s in lines))
    return page


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("out")
    parser.add_argument("--size", default="1200x600")
    parser.add_argument("--dark", action="store_true")
    args = parser.parse_args()
    if not find_chromium():
        print("shot.py: chromium is missing. Try: apt-get install chromium", file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        page = browser.page(*map(int, args.size.split("x")))
        if args.dark:
            page.media(prefers_color_scheme="dark")
        path, _, fragment = args.file.partition("#")
        if path.endswith(".txt"):
            path = terminal(path, folder)
        page.open(f"file://{os.path.abspath(path)}#{fragment}")
        page.settle()
        with open(args.out, "wb") as out:
            out.write(page.screenshot())
    return 0


if __name__ == "__main__":
    sys.exit(main())
