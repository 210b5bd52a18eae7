#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/serve src/live formats/render
# timeout: 180
# A browser at a real `probee serve`: the page comes to life, offers downloads, breaks no policy, says when the recording has ended and
# comes back when the server is started anew. What the page does with what it is fed is in live_page.sh.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/lib.sh
need_library
make_fixture "$TMP/fixture.pbz"
TREE=$PWD exec python3 - "$TMP" <<'END'
import os, sys, time
tree, tmp = os.environ["TREE"], sys.argv[1]
sys.dont_write_bytecode = True
sys.path[:0] = [tree + "/tests/browser", tree + "/tests/cli"]
from devtools import Browser, find_chromium
from serve_client import Server

if not find_chromium():
    print("chromium is not installed")
    sys.exit(77)
os.chdir(tmp)
with open(os.open("token", os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
    f.write("the-token-of-this-test\n")
checks = failed = 0


def check(what, ok, got=""):
    global checks, failed
    checks += 1
    failed += not ok
    print("%s %d - %s%s" % ("ok" if ok else "not ok", checks, what, "" if ok else ": %s" % (got,)))


def wait(page, what, expression, seconds=15):
    end = time.monotonic() + seconds
    while not (got := page.js(expression)) and time.monotonic() < end:
        time.sleep(0.05)
    check(what, got, got)
    return got


STATUS = 'document.getElementById("live-status")?.textContent'
TITLE = 'document.querySelector("h1").textContent'
with Browser() as browser:
    page = browser.page(1200, 800)
    page.call("Log.enable")
    server = Server("fixture.pbz", "--token-file", "token")
    page.open(server.url)
    wait(page, "the page comes to life", 'document.documentElement.dataset.ready === "yes"')
    wait(page, "the recording has ended", STATUS + ' === "the recording has ended"')
    first = page.js(TITLE)
    check("there are samples", "sample" in first, first)
    wait(page, "downloads are offered", 'document.getElementById("download")?.options.length > 10')
    wait(page, "a report can be asked for as the page does",
         'window.got ?? (fetch("report/collapse?event=cpu-clock").then(r => r.text()).then(t => window.got = t), "")')
    check("it has stacks", "hot_loop" in page.js("window.got"), page.js("window.got"))
    page.js('document.body.append(Object.assign(document.createElement("script"), { textContent: "window.broken = 1" }))')
    check("no other script runs", page.js("window.broken ?? 0") == 0)
    server.process.kill()
    server.process.wait()
    again = Server("fixture.pbz", "--token-file", "token", listen=server.address)
    page.open(again.url)
    wait(page, "a server that was started anew is known by the same address", STATUS + ' === "the recording has ended"')
    check("and shows the same", page.js(TITLE) == first, page.js(TITLE))
    page.open(again.url + "report/html")
    wait(page, "a report as a page of its own", 'document.documentElement.dataset.ready === "yes"')
    check("which is shut in", page.js("window.origin") == "null", page.js("window.origin"))
    page.open(again.url.rstrip("/"))
    wait(page, "without the slash, too", 'document.documentElement.dataset.ready === "yes"')
    code, err = again.stop()
    check("the server ends well", code == 0, err)
print("1..%d" % checks)
sys.exit(failed != 0)
END
