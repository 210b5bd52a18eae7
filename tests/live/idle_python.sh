#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/waits/idle.c src/waits/script_work.c src/waits/wait_function.c
# timeout: 200
# beside: live
# Threads of Python that wait for work in a pool or a queue are idle, and those that wait for a lock, an event or a result are not; and a
# thread that waits for the GIL waits for the GIL, whatever functions the compiler has inlined. All versions that are found.
. "$(dirname "$0")/lib.sh"

cat >pools.py <<'END'
import concurrent.futures, multiprocessing.pool, os, queue, sys, threading, time
pool = concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix='pool')
both = threading.Barrier(2)
list(pool.map(lambda i: both.wait(), range(2)))         # both are there
q = queue.Queue()
lock = threading.Lock()
lock.acquire()
def consumer():
    while True:
        q.get()
def locked():
    with lock:
        pass
class Sub(threading.Thread):
    def run(self):
        lock.acquire()
def a(): return q.get()
def b(): return a()
def c(): return b()
def deep(): return c()
def begin(name, target): threading.Thread(target=target, name=name, daemon=True).start()
begin('consumer', consumer)
begin('locked', locked)
begin('event', threading.Event().wait)
begin('deep', deep)
Sub(name='sub', daemon=True).start()
busy = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix='busy')
busy.submit(lock.acquire)
older = multiprocessing.pool.ThreadPool(2)
names = iter(('old_0', 'old_1'))
def name_it(_):
    both.wait()                         # each thread has one of the two
    threading.current_thread().name = next(names)
older.map(name_it, range(2), chunksize=1)
time.sleep(0.3)
open(sys.argv[1], 'w').close()
time.sleep(100)
END

cat >gil.py <<'END'
import ctypes, sys, threading, time
libc = ctypes.PyDLL(None)
def hold():
    while True:
        libc.usleep(400000)             # PyDLL: with the GIL
        time.sleep(0.001)
def want():
    while True:
        time.sleep(0.001)
for i in range(3):
    threading.Thread(target=want, name='want', daemon=True).start()
threading.Thread(target=hold, name='hold', daemon=True).start()
open(sys.argv[1], 'w').close()
time.sleep(100)
END

# idle FILE: the threads of whom [idle: work] is told, by name.
idle() {
	"$PROBEE" report -q "$1" --by thread --text --min-percent 0 2>/dev/null | awk '/call tree/ { on = 1 }
		on && /\([0-9]+\)$/ { sub(/ \([0-9]+\)$/, ""); sub(/.* /, ""); name = $0 }
		on && /\[idle: work\]/ && name ~ /^(pool|consumer|locked|event|deep|sub|busy|old)/ { print name }' | sort -u | xargs
}
is_idle() {
	timeout -k 5 60 "$PROBEE" snapshot -q -p "$PID" -i 3 -F 10 -o idle.pbz --force 2>>"$T/err"
	[ "$(idle idle.pbz)" = "consumer old_0 old_1 pool_0 pool_1" ]
}
# begin_script FILE PYTHON
begin_script() {
	rm -f ready
	background "$2" -S "$1" ready 2>>"$T/err"
	until_true 20 test -e ready
}
# The holder lets go of it now and then, so not each look finds somebody who waits.
waits_for_gil() {
	"$PROBEE" dump -p "$PID" 2>/dev/null >gil.txt
	grep -q "^  want .* on Python's GIL" gil.txt
}

found=0
while read -r version python; do
	[ "$version" != missing: ] || { [ ! "$python" ] || skip_part "Python $python" "not on this machine"; continue; }
	found=1
	begin_script pools.py "$python"
	check "Python $version: workers of pools and of queues are idle, and nobody else ($python)" until_true 2 is_idle
	kill "$PID"
	begin_script gil.py "$python"
	check "Python $version: threads wait for the GIL" until_true 5 waits_for_gil
	kill "$PID"
done < <("$ROOT/tests/oracle/python/pythons.sh")
[ $found = 1 ] || skip "no Python that is known"
done_testing
