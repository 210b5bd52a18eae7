#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/capture src/profile src/report
# beside: live
# The receipts of scans in every kind of report: how many tasks a scan saw, and what became of them. And three ways to
# measure how busy the CPUs were, which agree as long as nothing is wrong.
. "$(dirname "$0")/lib.sh"

says() { grep -qE "$2" "$1" || { head -30 "$1"; return 1; }; }
start threads 500 sleep
snapshot -a -F 5 -i 5 -o all.pbz
check "exit status" equal "$RC" 0
"$PROBEE" report -q all.pbz --json >all.json
check "tasks seen = rows and named exceptions; every row has an end" python3 -S -c '
import json
w = json.load(open("all.json"))["probee"]["walks"]
print(w)
assert w["count"] == 5 and w["rows"] >= 5 * 501
assert w["tasks_seen"] == w["rows"] + w["idle_kernel_threads"] + w["not_asked_for"]
assert sum(w["ends"].values()) == w["rows"]
assert w["torn"] <= w["on_cpu"] + w["rows"] and 0 < w["longest_ns"] <= w["duration_ns"]
'
threads=$(ls -d /proc/[0-9]*/task/[0-9]* 2>/dev/null | wc -l)
check "as many tasks as /proc has" python3 -S -c "
import json
seen = json.load(open('all.json'))['probee']['walks']['tasks_seen'] / 5
print(seen, $threads)
assert abs(seen - $threads) < 0.1 * $threads + 30
"
receipt='5: [0-9,]+ tasks seen = [0-9,]+ rows \+ [0-9,]+ idle kernel threads? \+ [0-9,]+ not asked for; [0-9,]+ on a CPU'
words='5 snapshots, [0-9,]+ thread states'
"$PROBEE" report all.pbz --text --svg=all.svg --csv=all.csv >all.txt 2>all.err
check "text" says all.txt "^seen +$words"
check "SVG" says all.svg "$words"
# The line names each end by which rows lack a part of their stack, and only those; without any there is no line.
check "standard error: what snapshots lack, and no word when they lack nothing" python3 -S -c '
import json, re
w = json.load(open("all.json"))["probee"]["walks"]
whole = {"root", "root-guess", "none", "kthread", "no-mm", "exec", "torn"}
want = {end: n for end, n in w["ends"].items() if n and end not in whole}
want.update({name: n for name, n in (("kernel stack", w["kernel_stack_failed"]), ("reader", w["readers_hung"]),
                                     ("thread ran", w["torn"])) if n})
lines = [l for l in open("all.err") if "thread states" in l]
words = r"; ([0-9,]+) (?:user stacks?: [^;(]*\(([a-z0-9-]+)\)|(kernel stack|reader|thread)s? ?(ran)?[^;]*)"
said = {m[2] or " ".join(filter(None, m.group(3, 4))): int(m[1].replace(",", "")) for l in lines for m in re.finditer(words, l)}
print(want, lines)
assert said == want and len(lines) == bool(want)
'
"$PROBEE" report -q all.pbz --csv >/dev/null 2>quiet.err
# What a busy machine left out is a loss, and said in any case.
left_out=$("$PROBEE" info all.pbz --json | python3 -S -c 'import json, sys; print(json.load(sys.stdin)["lost"]["by_cause"].get("walks-left-out", 0))')
if [ "$left_out" = 0 ]; then
	check "-q: not a word" equal "$(cat quiet.err)" ""
else
	check "-q: not a word but of the $left_out scans that were left out" equal "$(grep -vc "$left_out" quiet.err) $(wc -l <quiet.err)" "0 1"
fi
"$PROBEE" info all.pbz >info.txt
check "info" says info.txt "^snapshots +$receipt"
"$PROBEE" report -q all.pbz --json -p "$PID" >one.json
check "a filter changes no receipt" equal "$(grep -o '"walks":{[^}]*}' one.json)" "$(grep -o '"walks":{[^}]*}' all.json)"
# For one process the kernel visits only its threads (6.1+); for several it visits all tasks.
sleepers=
for i in 1 2 3 4; do
	sleep 1000 &
	STARTED+=($!)
	sleepers+=,$!
done
snapshot -p "$PID$sleepers" -F 5 -i 2 -o part.pbz
check "part of the machine: the rest was not asked for" python3 -S -c '
import json, subprocess
w = json.loads(subprocess.check_output(["'"$PROBEE"'", "report", "-q", "part.pbz", "--json"]))["probee"]["walks"]
print(w)
assert w["rows"] == 2 * 505 and w["not_asked_for"] > 0
assert w["tasks_seen"] == w["rows"] + w["idle_kernel_threads"] + w["not_asked_for"]
'
check "part of the machine: nothing is held against /proc/stat" not grep -q 'by snapshots' <("$PROBEE" info part.pbz)
finish "$PID"

# Sampler, scans and /proc/stat, with one busy CPU and all else that this machine does.
start chain30 spin
run_limited record -a -F 199 --snap-freq 10 -d 6 -o busy.pbz
"$PROBEE" info busy.pbz >busy.txt
check "three shares" says busy.txt '^cpus +busy for [0-9.]+ % by samples, [0-9.]+ % by snapshots, [0-9.]+ % by /proc/stat of their time'
check "they agree" not grep -q 'chance explains' busy.txt
# The same trace, with other figures from the kernel's accounts.
check "a share that cannot be: a warning under each report" python3 -S "$LIVE/lie.py" "$PROBEE" busy.pbz lie.pbz
for kind in text json svg csv waits waits-json; do
	"$PROBEE" report lie.pbz --$kind >lie.$kind 2>lie.err
	cat lie.err >>lie.$kind
	check "$kind: says that they differ" says lie.$kind 'differ by more than|more than chance'
done
snapshot -a -F 10 -d 4 -o walks.pbz
"$PROBEE" info walks.pbz >walks.txt
check "walks alone are held against /proc/stat" says walks.txt '^cpus +busy for [0-9.]+ % by snapshots, [0-9.]+ % by /proc/stat'
check "and agree" not grep -q 'chance explains' walks.txt
done_testing
