#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""page_frames.py ROOT PAGE: CPU time in ms that the main thread of Chromium's renderer needs to open a page, to move its
brush by a step, and to zoom. Wall time would tell how busy the machine is."""
import glob
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(sys.argv[1], "tests/browser"))
from devtools import Browser  # noqa: E402

STEPS = 34
READY = "new Promise(r => { const f = () => document.documentElement.dataset.ready ? r() : setTimeout(f, 5); f() })"
FRAME = "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def main_threads(group):
    """ns of CPU time of the main threads of a browser's renderers, by process."""
    times = {}
    for process in glob.glob("/proc/[0-9]*"):
        stat = read(process + "/stat").rsplit(")", 1)[-1].split()
        if len(stat) > 2 and int(stat[2]) == group and "--type=renderer" in read(process + "/cmdline"):
            times[process] = int((read(process + "/schedstat") or "0").split()[0])
    return times


class Clock:
    def __init__(self, browser):
        self.group = browser.pid
        self.before = main_threads(self.group)

    def ms(self):
        now = main_threads(self.group)
        spent = max(now[p] - self.before.get(p, 0) for p in now) / 1e6
        self.before = now
        return spent


def place(page, element):
    return page.js(f"(r => [r.x, r.y, r.width, r.height])(document.querySelector({element!r}).getBoundingClientRect())")


def brush(page):
    x, y, width, _ = place(page, "#timeline")
    page.mouse("mousePressed", x + 200, y + 30, button="left", clickCount=1, buttons=1)
    for step in range(STEPS):
        page.mouse("mouseMoved", x + 220 + step * (width - 250) / STEPS, y + 30, button="left", buttons=1)
        page.js(FRAME)
    page.mouse("mouseReleased", x + width - 30, y + 30, button="left", clickCount=1)
    page.js(FRAME)


def zoom(page):
    x, y, _, tall = place(page, ".flame")
    for step in range(STEPS // 2):
        page.click(x + 100 + 30 * step, y + tall - 60 - 19 * (step % 4))
        page.js(FRAME)
        page.key("Escape")
        page.js(FRAME)


def main():
    with Browser() as browser:
        page, clock = browser.page(1400, 800), Clock(browser)
        page.open("file://" + sys.argv[2])
        page.js(READY)
        print("open", f"{clock.ms():.1f}")
        page.settle()
        clock.ms()
        for name, act in (("brush", brush), ("zoom", zoom)):
            act(page)
            print(name, f"{clock.ms() / STEPS:.1f}")


if __name__ == "__main__":
    main()
