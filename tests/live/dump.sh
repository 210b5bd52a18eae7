#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/commands/cmd_dump.c formats/render/waits
# probee dump: every thread once, with what it does and where. The threads are those of /proc, the functions and lines of Python
# those that Python says, of Java those that jstack says; who holds a lock is known here because the programs were written so.
. "$(dirname "$0")/lib.sh"

dump() { timeout 40 "$PROBEE" dump "$@" >out 2>err </dev/null; RC=$?; }

# A program in C: a lock with its holder, two that wait for it, a pipe, a busy loop, a deadlock.
cat >locks.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static int pipes[2];
static volatile unsigned long counter;
#define FN __attribute__((noinline)) static void
FN hold_it(void) { pthread_mutex_lock(&held); for (;;) pause(); }
FN want_it(void) { while (pthread_mutex_trylock(&held) == 0) { pthread_mutex_unlock(&held); usleep(1000); } pthread_mutex_lock(&held); }
FN read_pipe(void) { char c; if (read(pipes[0], &c, 1) < 0) perror("read"); }
FN spin(void) { for (;;) counter++; }
FN take_two(pthread_mutex_t *x, pthread_mutex_t *y) { pthread_mutex_lock(x); pthread_barrier_wait(&both); pthread_mutex_lock(y); }
#define THREAD(name, call) static void *name(void *p) { (void)p; pthread_setname_np(pthread_self(), #name); call; return p; }
THREAD(holder, hold_it()) THREAD(wanter, want_it()) THREAD(reader, read_pipe()) THREAD(spinner, spin())
THREAD(first, take_two(&a, &b)) THREAD(second, take_two(&b, &a))
int main(void)
{
	void *(*const all[])(void *) = { holder, wanter, wanter, reader, spinner, first, second };
	pthread_t t;
	pthread_barrier_init(&both, NULL, 2);
	if (pipe(pipes)) return 1;
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) pthread_create(&t, NULL, all[i], NULL);
	for (;;) { sleep(1); }
}
END
gcc -D_GNU_SOURCE -O1 -g -pthread -o locks locks.c || exit 1
background ./locks
locks=$PID
# All of them are where they are to be, by the kernel: five threads sleep in futex or read, and so on.
settled() { [ "$(cat /proc/"$locks"/task/*/wchan 2>/dev/null | tr '\0' '\n' | grep -c futex)" -ge 4 ] || [ "$(grep -c '^202 ' /proc/"$locks"/task/*/syscall 2>/dev/null | grep -c ':1')" -ge 4 ]; }
until_true 20 settled

dump "$locks"
check "exit status" equal "$RC" 0
check "it says nothing else" test ! -s err
check "the heading" grep -qxF "locks $locks: 8 threads, uid 0: ./locks" out
tids() { grep -oE '^  [^:]+:' out | grep -oE '[0-9]+(, [0-9]+)*:$' | tr -cd '0-9\n, ' | tr ',' '\n' | tr -d ' ' | sort -n | tr '\n' ' '; }
check "each thread of /proc is there once" equal "$(tids)" "$(ls /proc/"$locks"/task | sort -n | tr '\n' ' ')"
entry() { awk -v name="  $1 " 'index($0, name) == 1 { on = 1; print; next } /^  [^ ]/ || /^$/ { on = 0 } on' out; }
check "who waits for the lock, and who holds it" grep -qE "^  wanter [0-9]+.*on futex held\+0x0, held by holder [0-9]+" out
check "both in one entry, or each" equal "$(grep -E '^  wanter' out | grep -oE '[0-9]+' | sort -un | grep -cxFf <(ls /proc/"$locks"/task))" 3
check "how many wait for the holder" bash -c "grep -E '^  holder' out | grep -q '2 threads wait for it'"
check "the deadlock" equal "$(grep -cE '^  (first|second) .*DEADLOCK' out)" 2
check "the pipe" bash -c "grep -E '^  reader' out | grep -qE 'sleeping for .* on data from pipe:'"
check "the busy one" bash -c "grep -E '^  spinner' out | grep -qE ': (running|waiting for a CPU)'"
for pair in holder:hold_it wanter:want_it reader:read_pipe spinner:spin first:take_two second:take_two; do
	check "the stack of ${pair%:*}" bash -c "$(declare -f entry); entry ${pair%:*} | grep -qE '^      ${pair#*:} +locks.c:[0-9]+$'"
done
check "the line of the lock" equal "$(entry first | grep -oE 'take_two +locks.c:[0-9]+' | grep -oE '[0-9]+$')" \
	"$(grep -n 'FN take_two' locks.c | cut -d: -f1)"
check "no kernel functions, unless they are asked for" not grep -q '_\[k\]' out
dump --native "$locks"
check "--native: they are there" grep -q 'futex.*_\[k\]' out
dump --all "$locks"
check "--all: an entry for each thread" equal "$(grep -c '^  [^ ]' out)" 8
dump locks
check "by name" grep -qxF "locks $locks: 8 threads, uid 0: ./locks" out
background perl -e '$0 = "postgres: u db SELECT waiting"; sleep 1 while 1'; titled=$PID
until_true 10 grep -q '^postgres: u db' "/proc/$titled/cmdline"
dump "$titled"
check "a title that a server has given itself" grep -qE "^[^ ].* $titled: 1 thread, uid 0: postgres: u db SELECT waiting *\$" out
timeout 30 "$PROBEE" snapshot -q -i 1 --cmdline -p "$titled" -o titled.pbz 2>>"$T/err"
"$PROBEE" report titled.pbz --by process --collapse --idle 2>>"$T/err" >out
check "it is the name of the process in other reports, too" grep -q "^postgres: u db SELECT waiting ($titled);" out
dump --json "$locks"
check "--json" python3 - "$locks" <<'END'
import json, os, sys
d = json.load(open('out'))
tids = sorted(int(t) for t in os.listdir('/proc/%s/task' % sys.argv[1]))
assert sorted(t['tid'] for t in d['threads']) == tids, (d['threads'], tids)
by_name = {t['comm']: t for t in d['threads']}
holder = by_name['holder']['tid']
assert by_name['wanter']['waits_for'] == holder, by_name['wanter']
assert any(f['function'] == 'want_it' and f['file'].endswith('locks.c') and f['line'] > 0 for f in by_name['wanter']['stack'])
assert any(f['kind'] == 'kernel' for f in by_name['wanter']['stack'])
assert [sorted(r['tids']) for r in d['rings']] == [sorted(t['tid'] for t in d['threads'] if t['comm'] in ('first', 'second'))]
END
"$PROBEE" snapshot -q -i 1 -p "$locks" -o t.pbz
"$PROBEE" report -q t.pbz --dump >later
check "a report of a trace" grep -qxF "locks $locks: 8 threads, uid 0" later
check "nobody was stopped: none has a tracer" equal "$(grep -h ^TracerPid /proc/"$locks"/task/*/status | sort -u | tr -d '[:space:]')" TracerPid:0
dump 4194303
check "a process that is not there" equal "$RC" 1
dump -a -p 1
check "-a and -p" equal "$RC" 2

# Python: the functions and lines of threads that wait are what faulthandler says of them a moment later.
cat >threads.py <<'END'
import faulthandler, signal, threading, time
faulthandler.register(signal.SIGUSR1, file=open('said', 'w'), all_threads=True)
lock = threading.Lock()
lock.acquire()
class Worker:
    def wait_for_lock(self):
        with lock:
            pass
    def run(self):
        self.wait_for_lock()
def sleeper():
    time.sleep(1000)
for f in (Worker().run, sleeper):
    threading.Thread(target=f, daemon=True).start()
print('ready', flush=True)
threading.Event().wait()
END
python=$(command -v python3)
background "$python" threads.py >ready
snake=$PID
until_true 20 bash -c "[ \$(ls /proc/$snake/task | wc -l) = 3 ]"
until_true 20 bash -c "! grep -l '^running' /proc/$snake/task/*/syscall"
dump "$snake"
kill -USR1 "$snake"
until_true 20 grep -q '<module>' said
check "Python: functions and lines are Python's" "$python" - <<'END'
import re
ours = set(re.findall(r'^      (\S+) +(threads\.py):(\d+)$', open('out').read(), re.M))
ours = {(f.split('.')[-1], int(n)) for f, _, n in ours}
theirs = {(f, int(n)) for n, f in re.findall(r'threads\.py", line (\d+) in (\S+)', open('said').read())}
assert theirs and ours == theirs, (ours, theirs)
END
check "Python: the loop of the interpreter is not shown" not grep -q _PyEval_EvalFrame out

# Java: methods and lines of threads that wait are jstack's.
if command -v jstack >/dev/null && command -v javac >/dev/null; then
	cat >Waits.java <<-'END'
		public class Waits {
		    static final Object lock = new Object();
		    static void enter() { synchronized (lock) { System.out.println("in"); } }
		    static void nap() throws Exception { Thread.sleep(1000000); }
		    public static void main(String[] a) throws Exception {
		        synchronized (lock) {
		            new Thread(() -> enter(), "enterer").start();
		            nap();
		        }
		    }
		}
	END
	javac -d . Waits.java && background java -cp . Waits
	java=$PID
	until_true 30 bash -c "jstack $java 2>/dev/null | grep -q 'BLOCKED' && jstack $java | grep -q TIMED_WAITING"
	jstack "$java" >said
	dump "$java"
	check "Java: methods and lines are jstack's" "$python" - <<'END'
import re
ours = set(re.findall(r'(Waits\.\S+) +Waits\.java:(\d+)', open('out').read()))
theirs = set(re.findall(r'at (Waits\.[\w$]+)\(Waits\.java:(\d+)\)', open('said').read()))
ours = {(f.split('(')[0], n) for f, n in ours}
theirs = {(f, n) for f, n in theirs if 'lambda' not in f}
ours = {(f, n) for f, n in ours if 'lambda' not in f.lower()}
assert theirs and ours == theirs, (ours, theirs)
END
else
	check "Java # SKIP there is no JDK" true
fi
done_testing
