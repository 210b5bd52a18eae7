#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/base/kept_notes.c src/recording/recording.c src/recording/ending_text.c src/recording/target_command.c src/base/fail.c
# What stands on standard error when a recording has ended: one line where nothing was lost and nothing found. What a busy machine
# adds begins with "losses: " or "finding: ", and stands before it.
. "$(dirname "$0")/lib.sh"

# ends_with NAME PATTERN: the last line; and no other beside losses and findings.
ends_with() {
	check "$1: exit status" equal "$RC" 0
	check "$1: the last line" grep -qE "^probee: $2\$" <(tail -n 1 err)
	check "$1: no other line" equal "$(grep -cvE '^probee: (losses|finding): ' err)" 1
}

start chain30 spin
spinner=$PID
whole='[0-9.]+ % of user stacks whole, [0-9.]+ (Ki)?B'
run() { run_limited "$@" >out; cp "$T/err" err; }

run sample -p "$spinner" -d 1
ends_with sample "[0-9]+ samples of 1 thread in [0-9.]+ s, $whole in trace.pbz; next: probee report"
check "which shows the trace" grep -q '^title .*chain30' <("$PROBEE" report)
run snapshot -p "$spinner" -i 2 -F 20 -o 'my trace.pbz'
ends_with snapshot "2 snapshots of 1 thread in [0-9.]+ s, ($whole|[0-9.]+ (Ki)?B) in 'my trace.pbz'; next: probee report 'my trace.pbz'"
run record -p "$spinner" -d 1 -o both.pbz
ends_with record "[0-9]+ samples and [0-9]+ snapshots? of 1 thread in [0-9.]+ s, $whole in both.pbz; next: probee report both.pbz"
run sample -p "$spinner" -d 1 -o picture.svg
ends_with "with a report" "[0-9]+ samples of 1 thread in [0-9.]+ s, $whole in picture.pbz"
run sample -d 1 -o whole.pbz
ends_with "the whole machine" "[0-9,]+ samples of [0-9,]+ threads? in [0-9.]+ s, $whole in whole.pbz; next: probee report whole.pbz"

# A command that was ended with the recording is no news; one that ended badly is.
run sample -d 1 -- "$WORKLOADS/chain30" spin
ends_with "a command that goes on" "[0-9]+ samples of 1 thread in .*"
run sample -o three.pbz -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; exit 3'
check "a command that fails: is said" grep -q '^probee: sh exited with status 3$' err
run sample -o killed.pbz -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; kill -SEGV $$'
check "a command that crashes: is said" grep -q '^probee: sh was killed by signal 11' err

# Where the time went is in the report, and here under -v.
run sample -p "$spinner" -d 1 -v
check "-v: where the time went" grep -q '^probee: time: .* of CPU time' err
run sample -p "$spinner" -d 1 -q
check "-q: nothing" equal "$(cat err)" ""

# What is said while recording is in the trace: who has only the file reads it there.
ended=$(sh -c 'echo $$')
run sample -p "$spinner,$ended" -d 1 -q -o told.pbz
check "a process that has ended: in the trace, under -q as well" grep -q "^  warning: process $ended has ended, and is left out" <("$PROBEE" info told.pbz)
check "and below a report" grep -q "^probee: while recording: process $ended has ended" <("$PROBEE" report told.pbz --text 2>&1 >/dev/null)
finish "$spinner"
done_testing
