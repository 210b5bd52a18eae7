#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# foreign_screen.py PROBEE TRACE...: shows each trace in a terminal, all views of it, and looks at what the terminal gets: besides what
# ncurses itself uses there is no control, bidirectional, invisible or tag character and nothing that is no UTF-8.
import os, re, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from terminal import Terminal

VIEWS = "Flame", "Top", "Threads", "Waits", "Time", "Health"
OWN = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>78M])|[\r\n\b\t\x0e\x0f]")
ACTED_ON = re.compile("[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]")

for trace in sys.argv[2:]:
    t = Terminal([sys.argv[1], "tui", trace], rows=40, cols=140)
    t.until("Flame")
    for view in VIEWS:
        t.send("j", "j", "enter", "esc", "tab")
    t.send("q")
    t.ends()
    text = OWN.sub("", t.raw.decode("utf-8"))   # raises where it is no UTF-8
    found = ACTED_ON.search(text)
    assert not found, "%r" % text[max(0, found.start() - 30):found.end() + 10]
    # A colour that is ours has other digits behind it than the name has.
    assert "\\x1b[31m" in text, "no foreign name was on the screen"
