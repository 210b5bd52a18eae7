# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Names and lines of short lives: SHORT_S (4) seconds of up to 1,000 processes a second, each of which burns 0.3 ms and ends, at 999
# Hz: of one file (and a copy), and of as many files as processes, each deleted when its process has ended. How many of the frames of
# user code, as often as they were sampled, have a name, and how many a line too; `why` on stderr says why others have none,
# by cause. OLD=FILE: another probee to compare with, in turns.

copies() { python3 -S "$root/tests/workloads/own_ids.py" "$WORKLOADS/mayfly" "$1" "$2"; }

# user_frames PROBEE TRACE: METRIC<TAB>VALUE lines. Only frames of main() and what it calls can have lines on every machine.
user_frames() {
	"$1" report "$2" -q --json | python3 -S -c '
import json, sys
named = frames = lines = below_main = 0
def walk(node, in_main):
    global named, frames, lines, below_main
    in_main |= node["name"] == "main"
    if node.get("libtype") in ("user", "inlined"):
        frames += node["value"]
        named += node["value"] * (not node["name"].startswith("["))
        below_main += node["value"] * in_main
        lines += node["value"] * (in_main and bool(node.get("line")))
    for child in node.get("children", []):
        walk(child, in_main)
walk(json.load(sys.stdin), False)
print(f"% of user frames named\t{100 * named / max(1, frames):.3f}")
print(f"% of frames in and below main() with lines\t{100 * lines / max(1, below_main):.3f}")'
}

# short NAME PROBEE FILES
short() {
	local what="one file" delete=() times=$((500 * ${SHORT_S:-4})) metric value life before
	[ "$3" = 1 ] || { what="each another file, deleted"; delete=(delete); }
	rm -rf files0 files1 short.pbz
	copies files0 "$3" && copies files1 "$3"
	before=$(date +%s%N)
	"$2" sample -q -F 999 -o short.pbz -- sh -c '"$0" start files0 "$@" & "$0" start files1 "$@"; wait' \
		"$WORKLOADS/mayfly" "$3" 500 $times 300 "${delete[@]}" >missing
	life=$(calc "($(date +%s%N) - $before) / 1e9")
	while IFS=$'\t' read -r metric value; do
		record "$what: $metric" "$1" "$value"
	done < <(user_frames "$2" short.pbz)
	record "$what: processes a second" "$1" "$(calc "2 * $times / $life")"
	"$2" info short.pbz --json | python3 -S -c '
import json, sys
d = json.load(sys.stdin)
print("# why:", sys.argv[1], {k: v["sampled"] for k, v in d["names"]["causes"].items()}, "of", d["names"]["all"]["sampled"],
      "frames; stacks end:", d["ends"])' "$what" >&2
}

for round in $(seq "$ROUNDS"); do
	for files in 1 $((500 * ${SHORT_S:-4})); do
		[ -z "${OLD:-}" ] || short old "$OLD" "$files"
		short probee "$PROBEE" "$files"
	done
done
