#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/render/waits/wait_sums.c src/waits/wait_graphs.c
# Waits for locks over a whole recording. Sums and the longest wait are compared with the rows of the same recording (--csv); which lock, which
# function and which holder is known here, because the program was written so.
. "$(dirname "$0")/lib.sh"

cat >locks.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t inventory = PTHREAD_MUTEX_INITIALIZER, audit = PTHREAD_MUTEX_INITIALIZER;
#define FN __attribute__((noinline)) static void
FN write_audit(void) { usleep(20000); }
FN sell(void) { pthread_mutex_lock(&inventory); usleep(40000); pthread_mutex_unlock(&inventory); usleep(1000); }
FN log_it(void) { pthread_mutex_lock(&audit); write_audit(); pthread_mutex_unlock(&audit); usleep(5000); }
static void *seller(void *p) { pthread_setname_np(pthread_self(), "seller"); for (;;) sell(); return p; }
static void *logger(void *p) { pthread_setname_np(pthread_self(), "logger"); for (;;) log_it(); return p; }
int main(void)
{
	pthread_t t;
	for (int i = 0; i < 4; i++) pthread_create(&t, NULL, seller, NULL);
	for (int i = 0; i < 2; i++) pthread_create(&t, NULL, logger, NULL);
	for (;;) pause();
}
END
gcc -O1 -g -pthread -o locks locks.c || exit 1
background ./locks; pid=$PID
until_true 20 bash -c "[ \$(ls /proc/$pid/task | wc -l) = 7 ]"
snapshot -p "$pid" -i 40 --freq 20 -o t.pbz
check "exit status" equal "$RC" 0
"$PROBEE" report -q t.pbz --waits >waits 2>/dev/null
"$PROBEE" report -q t.pbz --csv --columns scan,timestamp,comm,syscall,owner,off_us 2>/dev/null >rows
sed 's/^/# /' waits

# sum COMM: most at once, their sum and the longest wait, by the rows: each counts for the mean time between two snapshots.
sum() {
	awk -F'|' -v comm="$1" '
		NR > 1 || $1 + 0 { if (!($1 in at)) { at[$1]; n++ } }
		$3 == comm && $4 == "futex" && $5 > 0 { rows++; now[$1]++; if (now[$1] > most) most = now[$1]; if ($6 > longest) longest = $6 }
		END { printf "%d %d %.3f\n", most, rows, longest / 1e6 }' rows
}
# The time that all snapshots took stands in the title.
seconds=$(sed -nE 's/^Waits for locks over 40 snapshots, ([0-9.]+) s:$/\1/p' waits)
check "the title says how many snapshots, and in which time" [ -n "$seconds" ]
same() {
	local most rows longest line
	read -r most rows longest <<<"$(sum "$1")"
	line=$(grep -E " $1 in $2 +futex $3\+0x0 +$1 in $4\$" waits)
	check "$1: waits for $3 in $2, which is held in $4" [ -n "$line" ]
	check "$1: at once, in sum, the longest" awk -v most="$most" -v rows="$rows" -v longest="$longest" -v s="$seconds" '
		{ want = rows * s / 39; printf "%s, want %d, %.3f, %.3f\n", $0, most, want, longest
		  exit !($1 == most && $2 > want - 0.02 && $2 < want + 0.02 && $4 > longest - 0.002 && $4 < longest + 0.002) }' <<<"$line"
}
same seller sell inventory sell
same logger log_it audit write_audit
check "most time first" bash -c "sed -n '/^Waits for locks/,/^\$/p' waits | sed -n 3p | grep -q seller"
"$PROBEE" report -q t.pbz --waits --stacks >stacks 2>/dev/null
check "--stacks shows the holder's" bash -c "sed -n '/^Waits for locks/,/^threads/p' stacks | grep -A6 'logger in write_audit' | grep -q '^ *write_audit$'"
"$PROBEE" report -q t.pbz --waits --walk 3 >one 2>/dev/null
check "of one snapshot there is none" not grep -q 'Waits for locks over' one
snapshot -p "$pid" -i 1 -o one.pbz
"$PROBEE" report -q one.pbz --waits >one 2>/dev/null
check "nor in a recording of one" not grep -q 'Waits for locks over' one
done_testing
