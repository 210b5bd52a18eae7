# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For tests of what threads are called. To be sourced behind lib.sh.

# in_dump: "TID|NAME" of each thread of $pid, as probee dump has them.
in_dump() { "$PROBEE" dump -p "$pid" --json 2>/dev/null | python3 -c '
import json, sys
def walk(v):
    if isinstance(v, dict):
        if "tid" in v and "comm" in v:
            print(v["tid"], v["comm"], sep="|")
        v = list(v.values())
    if isinstance(v, list):
        for x in v:
            walk(x)
walk(json.load(sys.stdin))'; }
