# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What it takes to look: from the start of `top` to its first picture beside 300 threads, its CPU time while they sleep and a
# few run (with PROFILE_BEE=/path/to/its/program beside that one's terminal view, in the same 60 s), and from a key to its effect on the screen of a tree of 100,000 nodes.

start threads 8 spin
busy=$PID
start threads 300 sleep
many=$PID
# add METRIC TOOL KEY: a number of the file out, if it is there.
add() { [ -z "$(of out "$3")" ] || record "$1" "$2" "$(of out "$3")"; }

have python3 || cannot "needs python3"

build_bench make_trace || cannot "make_trace could not be built: make first"
"$bin/make_trace" nodes.pbz 400000 6000 >/dev/null || cannot "make_trace failed"
nodes=$("$PROBEE" report nodes.pbz -q --collapse | python3 -S -c '
import sys
seen = set()
for line in sys.stdin:
    frames = line.rsplit(" ", 1)[0].split(";")
    seen.update(hash(tuple(frames[:i])) for i in range(1, len(frames) + 1))
print(len(seen))')

[ -n "${PROFILE_BEE:-}" ] || say "not beside profile-bee: PROFILE_BEE is not set"
for ((round = 0; round < ROUNDS; round++)); do
	python3 -S "$here/terminal_times.py" first "$PROBEE" top -a >out 2>&1 || say "first: $(tail -n 1 out)"
	add 'top -a: start to first picture, ms' probee first_ms
	kill -STOP "$busy"		# they run a little, as most machines do
	python3 -S "$here/terminal_times.py" cpu 20 "$PROBEE" top -a -F 99 >out 2>&1 || say "cpu: $(tail -n 1 out)"
	add 'top -a, 99 Hz and 1 Hz snapshots, 300 threads: % of one CPU' 'probee, all' cpu_percent
	add 'top -a, 99 Hz and 1 Hz snapshots, 300 threads: % of one CPU' 'the view alone' view_percent
	if [ -n "${PROFILE_BEE:-}" ]; then
		python3 -S "$here/terminal_times.py" beside 60 "$PROBEE" top -a -F 99 --refresh-ms 2000 -- \
			"$PROFILE_BEE" --tui --frequency 99 --tui-refresh-ms 2000 --time 0 >out 2>&1 || say "beside: $(tail -n 1 out)"
		add '300 threads asleep, 99 Hz, picture each 2 s, both in the same 60 s: % of one CPU' 'probee top' percent_1
		add '300 threads asleep, 99 Hz, picture each 2 s, both in the same 60 s: % of one CPU' 'profile-bee --tui' percent_2
	fi
	kill -CONT "$busy"
	python3 -S "$here/terminal_times.py" keys "$PROBEE" tui nodes.pbz >out 2>&1 || say "keys: $(tail -n 1 out)"
	add "key to screen, $nodes nodes, ms: median" probee key_ms
	add "key to screen, $nodes nodes, ms: worst" probee worst_ms
	python3 -S "$here/terminal_times.py" moves "$PROBEE" tui nodes.pbz --view top >out 2>&1 || say "moves: $(tail -n 1 out)"
	add "key to screen in the list of functions, $nodes nodes, ms: median" probee key_ms
	add "key to screen in the list of functions, $nodes nodes, ms: worst" probee worst_ms
done
finish "$busy"
finish "$many"
