#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/base/habits.def src/base/opt.c
# No row of habits.def that fits any value has the name of an option that the command itself has: habits are asked first, so the option could not
# be used any more.
. tests/cli/lib.sh
command -v python3 >/dev/null || skip 'no python3'
need_library
cat >"$TMP/look.py" <<'END'
import re, subprocess, sys

def options(command, known={}):
    if command not in known:
        text = subprocess.run([sys.argv[2], command, "--help=all"], capture_output=True, text=True).stdout
        known[command] = {o for line in text.split("\n") for o in re.findall(r"^ {2,8}(-\w)(?:,|$)|^ {2,8}(?:-\w, )?(--[\w-]+)", line)
                          for o in o if o}
    return known[command]

text = re.sub(r'"\s*\n\s*"', "", open(sys.argv[1]).read())
lists = dict(re.findall(r'#define ([A-Z]+) "([^"]*)"\n', text))
rows = bad = 0
for commands, typed in re.findall(r'OPTION\(\s*((?:[A-Z]+|"[^"]*"|\s)+),\s*"([^"]*)",\s*(?:NULL|"\*"),', text):
    rows += 1
    for command in " ".join(lists.get(w, w.strip('"')) for w in re.findall(r'[A-Z]+|"[^"]*"', commands)).split():
        for option in typed.split() if command != "probee" else ():
            if option in options(command):
                print(f"{command} has {option} itself")
                bad += 1
known = sum(len(options(c)) for c in ("record", "report", "top"))
print(f"{rows} rows, {known} options of three commands")
sys.exit(bad or rows < 60 or known < 100 or "--to" not in options("report"))
END
run python3 -S "$TMP/look.py" src/base/habits.def "$PROBEE"
exits 0
finish
