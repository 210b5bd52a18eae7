#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/capture src/recording
# Which threads a snapshot holds, when its scans begin, and their receipts.
. "$(dirname "$0")/lib.sh"

start threads 40 sleep
many=$PID
start chain30 sleep
one=$PID
start twochains 3000 1 1
two=$PID

snapshot -p "$many,$one" -F 10 -i 3 -o pids.pbz
csv pids.pbz >pids.csv
check "-p A,B: rows" equal "$(stacks rows pids.csv)" $((3 * 42))
check "-p A,B: only these" equal "$(awk -F'|' 'NR > 1 { print $3 }' pids.csv | sort -un | tr '\n' ' ')" \
	"$(printf '%s\n' "$many" "$one" | sort -n | tr '\n' ' ')"

# For few processes the kernel visits only their threads (6.1+) and those of their new children.
check "-p A,B: nobody else is passed by" bash -c "'$PROBEE' info pids.pbz | grep -q ' 0 not asked for'"
start kids fork 6
kids=$PID
snapshot -p "$kids" -F 10 -i 20 -o kids.pbz --csv=kids.live &
until_true 20 grep -q '|kids|' kids.live
kill -USR1 "$kids"
wait $!
csv kids.pbz >kids.csv
check "-p A: six children join" equal "$(awk -F'|' 'NR > 1 { print $3 }' kids.csv | sort -u | wc -l)" 7
check "-p A: each once in a walk" equal "$(awk -F'|' 'NR > 1 { print $1, $2 }' kids.csv | sort | uniq -d | wc -l)" 0
check "-p A: it is in every walk" equal "$(awk -F'|' -v p="$kids" '$2 == p' kids.csv | wc -l)" 20
finish "$kids"

tids=$(ls "/proc/$many/task" | sort -n | sed -n '5p;17p;31p' | tr '\n' ' ')
snapshot -t "$(echo $tids | tr ' ' ,)" -F 10 -i 4 -o tids.pbz
csv tids.pbz >tids.csv
check "-t three: only these" equal "$(stacks tids tids.csv | tr '\n' ' ')" "$tids"
check "-t three: each in each walk" equal "$(stacks rows tids.csv)" 12
first=${tids%% *}
snapshot -t "$first" -F 10 -i 4 -o tid.pbz
csv tid.pbz >tid.csv
check "-t one: rows" equal "$(stacks rows tid.csv)" 4
check "-t one: only it" equal "$(stacks tids tid.csv)" "$first"
check "-t one: whole" stacks rooted tid.csv

# probee's threads are not in its own rows of another process, but -a has this shell.
check "-p: no row of probee" not grep -q '|probee|' pids.csv

# Scans begin at multiples of the period, and at the end no further one is waited for.
before=$(date +%s%N)
snapshot -p "$two" -F 20 -i 41 -o grid.pbz
took=$((($(date +%s%N) - before) / 1000000))
csv grid.pbz >grid.csv
csv grid.pbz --columns scan,timestamp >times.csv
left=$("$PROBEE" info grid.pbz --json | python3 -S -c 'import json, sys
print(json.load(sys.stdin)["lost"].get("by_cause", {}).get("walks-left-out", 0))')
check "-F 20 -i 41: on the grid" stacks times times.csv 20 41 "$left"
check "-F 20 -i 41: takes 2 s" at_least $took 1990
check "-F 20 -i 41: rows" equal "$(stacks rows grid.csv)" $((41 * 3))
check "receipts: 41 walks" bash -c "'$PROBEE' info grid.pbz | grep -q '^snapshots 41:'"
snapshot -p "$two" -F 0.5 -i 1 -o one.pbz
csv one.pbz >one.csv
check "-F 0.5 -i 1: one walk" equal "$(stacks rows one.csv)" 3

# Filters of the report agree with those of the recording.
csv pids.pbz --pid "$one" >report.csv
check "report --pid" equal "$(stacks rows report.csv)" 3
csv pids.pbz --tid "$first" >report.csv
check "report --tid" equal "$(stacks rows report.csv)" 3
csv pids.pbz --comm chain30 >report.csv
check "report --comm" equal "$(stacks rows report.csv)" 3
folded pids.pbz >pids.folded
check "folded total is the number of rows" equal "$(stacks total pids.folded)" $((3 * 42))

# User or kernel only.
snapshot -p "$one" -i 1 --user-only -o user.pbz
csv user.pbz >user.csv
check "--user-only: no kernel stack" not stacks kstacks user.csv "$one" 1
check "--user-only: user stack" stacks rooted user.csv
snapshot -p "$one" -i 1 --kernel-only -o kernel.pbz
csv kernel.pbz >kernel.csv
check "--kernel-only: kernel stack" stacks kstacks kernel.csv "$one" 100
check "--kernel-only: no user frames" not grep -q 'f30+' kernel.csv

# The rows have the time of their scan, which is within the time of the run.
check "times are of today" awk -F'|' -v today="$(date +%F)" -v utc="$(date -u +%F)" '
	NR > 1 && substr($1, 1, 10) != today && substr($1, 1, 10) != utc { bad++ } END { exit bad > 0 }' pids.csv
done_testing
