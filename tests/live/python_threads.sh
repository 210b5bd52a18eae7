#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/runtimes/python src/capture/session/runtime_threads.c src/model
# timeout: 300
# beside: live
# Threads are called as Python calls them: what threading.enumerate() says in the program itself is in snapshots, in samples and in
# `probee dump`. All versions that are found.
. "$(dirname "$0")/lib.sh"
. "$LIVE/thread_names_lib.sh"

cat >names.py <<'END'
import concurrent.futures, ctypes, os, sys, threading, time

def work():
    while True:
        for i in range(20000):
            pass
        time.sleep(0.001)

class Mine(threading.Thread):
    __slots__ = ('slot',)
    def __init__(self):
        super().__init__(name='a name of more than fifteen letters \u00e9\u4e16', daemon=True)
        self.own = 1
    def run(self):
        work()

class Odd(threading.Thread):
    def run(self):
        self.__dict__['later'] = 2      # its attributes are in a dictionary from here on
        work()

def rename():
    # The program gives the thread a name in the kernel; Python has made one up.
    ctypes.CDLL(None).prctl(15, b'by-the-program')
    work()

threading.Thread(target=work, daemon=True).start()
threading.Thread(target=work, name='logger', daemon=True).start()
Mine().start()
Odd(name='odd', daemon=True).start()
try:
    threading.Thread(target=rename, name='Dummy-7', daemon=True).start()
except Exception:
    pass
pool = concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix='pool')
for i in range(2):
    pool.submit(work)
time.sleep(0.3)
with open(sys.argv[1] + '.tmp', 'w', encoding='utf-8') as f:
    for t in threading.enumerate():
        if t.name not in ('MainThread', 'Dummy-7'):
            print(t.native_id, t.name, sep='|', file=f)
        if t.name == 'Dummy-7':
            print(t.native_id, 'by-the-program', sep='|', file=f)
os.rename(sys.argv[1] + '.tmp', sys.argv[1])
time.sleep(100)
END

# said FILE: tid|name of each thread but the main one.
said() { sort -u | grep -v "^$pid|" | diff - <(sort said) >&2; }
in_rows() { csv "$1" -q --event "$2" --columns tid,comm | sort -u; }

judge() {
	rm -f said
	PYTHONIOENCODING=utf-8 "$2" -S names.py said &
	pid=$!
	STARTED+=("$pid")
	if ! until_true 20 test -s said; then
		skip_part "Python $1" "the program does not begin"
		return
	fi
	timeout -k 5 60 "$PROBEE" snapshot -q -p "$pid" -d 1 -o rows.pbz --force 2>>"$T/err"
	check "Python $1: snapshots have the names that the program says ($2)" said < <(in_rows rows.pbz snapshot)
	check "Python $1: and 'dump'" said < <(in_dump)
	timeout -k 5 60 "$PROBEE" sample -q -p "$pid" -d 2 -o samples.pbz --force 2>>"$T/err"
	check "Python $1: and samples" said < <(in_rows samples.pbz cpu-clock)
	check "Python $1: --comm finds the name" equal "$(csv rows.pbz -q --event snapshot --comm logger --columns tid | sort -u)" \
		"$(sed -n 's/|logger$//p' said)"
	check "Python $1: and the kernel's name" equal \
		"$(csv rows.pbz -q --event snapshot --comm by-the-program --columns tid | sort -u)" "$(sed -n 's/|by-the-program$//p' said)"
	kill "$pid"
	wait "$pid" 2>/dev/null
}

found=0
while read -r version python; do
	[ "$version" != missing: ] || { [ ! "$python" ] || skip_part "Python $python" "not on this machine"; continue; }
	found=1
	judge "$version" "$python"
done < <("$ROOT/tests/oracle/python/pythons.sh")
[ $found = 1 ] || skip "no Python that is known"
done_testing
