#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/waits/idle.c src/waits/wait_function.c src/profile/fold.c formats/render/tree_choice.c src/live/live_read.c
# Waits of threads that have nothing to do are one node in what people read, and whole stacks in files for programs and with --idle. Which thread of
# this program is idle is known here, because it was written so.
. "$(dirname "$0")/lib.sh"

cat >waits.c <<'END'
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <time.h>
#include <unistd.h>
#define FN __attribute__((noinline)) static void
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER, result = PTHREAD_COND_INITIALIZER;
static int keep;
static void until(pthread_cond_t *cond)
{
	struct timespec t;
	pthread_mutex_lock(&m);
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 50000000; if (t.tv_nsec >= 1000000000) { t.tv_nsec -= 1000000000; t.tv_sec++; }
	pthread_cond_timedwait(cond, &m, &t);
	pthread_mutex_unlock(&m);
}
FN take_job(void) { until(&c); keep++; }
FN wait_for_result(void) { until(&result); keep++; }
FN four(void) { wait_for_result(); keep++; }
FN three(void) { four(); keep++; }
FN two(void) { three(); keep++; }
FN one(void) { two(); keep++; }
FN in_epoll(void) { int e = epoll_create1(0); struct epoll_event ev; for (;;) { epoll_wait(e, &ev, 1, 50); keep++; } }
FN in_poll(void) { for (;;) { poll(NULL, 0, 50); keep++; } }
FN in_accept(void)
{
	int s = socket(AF_INET, SOCK_STREAM, 0); struct timeval t = { 0, 50000 };
	setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	listen(s, 1);
	for (;;) { accept(s, NULL, NULL); keep++; }
}
FN in_signal(void) { sigset_t all; struct timespec t = { 0, 50000000 }; sigfillset(&all); for (;;) { sigtimedwait(&all, NULL, &t); keep++; } }
FN want_lock(void) { struct timespec t; for (;;) { clock_gettime(CLOCK_REALTIME, &t); t.tv_nsec += 50000000; if (t.tv_nsec >= 1000000000) { t.tv_nsec -= 1000000000; t.tv_sec++; } pthread_mutex_timedlock(&held, &t); keep++; } }
FN in_pipe(void) { static int p[2]; char b; struct timespec t = { 0, 50000000 }; (void)t; if (pipe(p)) return; for (;;) { if (read(p[0], &b, 1) < 0) break; keep++; } }
FN PQgetResult(void) { struct pollfd p = { -1, 0, 0 }; for (;;) { poll(&p, 1, 50); keep++; } }
FN ask(void) { PQgetResult(); keep++; }
FN ProcSleep(void) { int e = epoll_create1(0); struct epoll_event ev; for (;;) { epoll_wait(e, &ev, 1, 50); keep++; } }
FN want_row(void) { ProcSleep(); keep++; }
#define THREAD(name, call) static void *name(void *p) { (void)p; pthread_setname_np(pthread_self(), #name); for (;;) { call; } return p; }
THREAD(worker, take_job()) THREAD(request, one()) THREAD(epoller, in_epoll()) THREAD(poller, in_poll()) THREAD(acceptor, in_accept())
THREAD(signals, in_signal()) THREAD(locker, want_lock()) THREAD(reader, in_pipe())
THREAD(asker, ask()) THREAD(rows, want_row())
int main(void)
{
	void *(*const all[])(void *) = { worker, request, epoller, poller, acceptor, signals, locker, reader, asker, rows };
	struct timespec nap = { 0, 50000000 };
	pthread_t t;
	pthread_mutex_lock(&held);
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) pthread_create(&t, NULL, all[i], NULL);
	for (;;) { nanosleep(&nap, NULL); keep++; }
}
END
gcc -O1 -g -pthread -o waits waits.c || exit 1
background ./waits; pid=$PID
until_true 20 bash -c "[ \$(ls /proc/$pid/task | wc -l) = 11 ]"

# idle FILE: why threads are idle, one line for each.
idle() { awk '/call tree/ { on = 1; next } on && /\[idle: / { sub(/.*\[idle: /, ""); sub(/\].*/, ""); print }' "$1" | sort; }
# A thread that should sleep was ready to run now and then, or waited for the lock of its condition: that is not idle. So a name counts where it has
# more than a third of what its thread has.
shown() { awk -v name="$2" '/call tree/ { on = 1; next } on && $1 > 3.0 && $NF == name { found = 1 } END { exit !found }' "$1"; }
hidden() { ! shown "$@"; }
kinds=$(printf '%s\n' connections signals events events time work | sort)
# A function without a name is none that is known for idling; on a busy machine names come too late. Then it is recorded again.
named() { "$PROBEE" report -q "$1" --text 2>/dev/null | grep -q '^frames .* 0 of them without a name'; }
off_cpu() { run_limited sample -p "$pid" --off-cpu --off-cpu-budget 100 -d 2 -o off.pbz; named off.pbz; }
wall() { snapshot -p "$pid" -i 20 --freq 20 -o wall.pbz; named wall.pbz; }
check "off the CPU: recorded with all names" until_true 60 off_cpu
check "off the CPU: exit status" equal "$RC" 0
check "snapshots: recorded with all names" until_true 60 wall
check "snapshots: exit status" equal "$RC" 0
for trace in off wall; do
	"$PROBEE" report -q $trace.pbz --by comm --text --min-percent 0 >$trace.txt 2>$trace.err
	"$PROBEE" report -q $trace.pbz --by comm --text --min-percent 0 --idle >$trace.idle.txt 2>/dev/null
	"$PROBEE" report -q $trace.pbz --svg >$trace.svg 2>/dev/null
	"$PROBEE" report -q $trace.pbz --collapse >$trace.folded 2>/dev/null
	check "$trace: who has nothing to do is idle, and nobody else" equal "$(idle $trace.txt)" "$kinds"
	sed 's/^/# /' $trace.txt | head -60
	for name in four want_lock ask want_row; do check "$trace: $name is shown" shown $trace.txt $name; done
	for name in take_job in_epoll in_poll in_accept in_signal; do
		check "$trace: $name is not" hidden $trace.txt $name
		check "$trace: --idle shows $name" shown $trace.idle.txt $name
		check "$trace: folded stacks have $name" grep -q ";$name;" $trace.folded
	done
	check "$trace: nothing is idle with --idle" bash -c "! grep -q '\[idle' $trace.idle.txt"
	check "$trace: the picture says idle" grep -q '\[idle: events\]' $trace.svg
	total() { awk '/ all$/ { print $1, $2 }' "$1"; }
	check "$trace: the sum is the same" equal "$(total $trace.txt)" "$(total $trace.idle.txt)"
done
check "the first lines say how much" grep -qE '^idle +[0-9.]+ % of it: threads without work, which wait for ' off.txt
check "a state that is asked for is not folded" bash -c "! '$PROBEE' report -q wall.pbz --state S --text 2>/dev/null | grep -q '\[idle'"
check "the terminal says idle" bash -c "'$PROBEE' tui off.pbz --once --size 250x60 | grep -q '\[idle'"
check "and not with --idle" bash -c "! '$PROBEE' tui off.pbz --once --size 250x60 --idle | grep -q '\[idle'"
"$PROBEE" report -q off.pbz --html >off.html 2>/dev/null
"$PROBEE" report -q off.pbz --html --idle >idle.html 2>/dev/null
check "a page without idle stacks is smaller" [ "$(stat -c %s off.html)" -lt "$(stat -c %s idle.html)" ]
done_testing
