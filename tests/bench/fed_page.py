#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""fed_page.py ROOT FEEDER TRACE [SAMPLES STEP [VIEW]]: what a page that is fed from a trace costs.

Prints the size of messages, in octets of base64: "whole N"; "second N", the median of those of a second each, and "most N".
With SAMPLES, feeds Chromium so many samples at once and then STEP at a time, and prints how long it took from a message to
after the next frame, in ms: "update N", the median, and "worst N"; and "cpu N", the CPU time of the thread that draws.
"""
import os
import statistics
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(sys.argv[1], "tests/browser"))
from devtools import Browser  # noqa: E402
from live_server import Server  # noqa: E402
from page_frames import Clock  # noqa: E402

UPDATES = 40
COUNT = "performance.getEntriesByName('update').length"


def sizes(server):
    """Of a message each second, in the page's steady state: after the first ten."""
    seen = []
    while not server.has_ended:
        before = server.version
        answer = server.ask("seconds 1").split()
        server.version, server.has_ended = int(answer[0]), len(answer) > 1
        if before and server.version != before:
            seen.append(len(server.ask(f"message {before}").split(" ")[1]))
    print("whole", len(server.ask("message 0").split(" ")[1]))
    if len(seen) > 12:
        print("second", statistics.median(seen[10:-1]))
        print("most", max(seen[10:-1]))


def updates(server, samples, step, view):
    server.samples(samples)
    with Browser() as browser:
        page = browser.page(1400, 800)
        page.open(server.address + view)
        while not page.js("document.documentElement.dataset.ready || ''"):
            time.sleep(0.05)
        page.settle()
        clock = Clock(browser)
        for _ in range(UPDATES):
            before = page.js(COUNT)
            server.samples(step)
            while page.js(COUNT) == before:
                time.sleep(0.02)
        times = page.js("performance.getEntriesByName('update').map((e) => e.duration)")
        print("update", f"{statistics.median(times):.1f}")
        print("worst", f"{max(times):.1f}")
        print("cpu", f"{clock.ms() / UPDATES:.1f}")


def main():
    feeder, trace = sys.argv[2:4]
    with tempfile.TemporaryDirectory() as scratch:
        server = Server([feeder, trace], scratch + "/page.html")
        if len(sys.argv) > 5:
            updates(server, int(sys.argv[4]), int(sys.argv[5]), sys.argv[6] if len(sys.argv) > 6 else "")
        else:
            sizes(server)
        server.close()


main()
