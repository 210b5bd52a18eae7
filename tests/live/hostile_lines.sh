#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/debug_info src/symbolize src/parse src/helpers
# beside: live
# Debug information that is made to break its reader, to keep it busy, to take all memory, or to have other files opened.
. "$(dirname "$0")/lib.sh"

getent passwd nobody >/dev/null || skip "no user nobody"
case $(uname -m) in x86_64 | aarch64) ;; *) skip "the DWARF is made for 64-bit little-endian programs" ;; esac
export SECRET=$T/secret XDG_CACHE_HOME=$T/cache
make_dwarf() { python3 -S "$LIVE/hostile_dwarf.py" "$@"; }
ms_since() { echo $((($(date +%s%N) - $1) / 1000000)); }

cat >spin.c <<'EOF'
#include <stdio.h>
#include <unistd.h>
volatile unsigned long n;
static void __attribute__((noinline)) spin(void) { for (;;) n++; }
int main(void) { printf("ready %d\n", getpid()); fflush(stdout); spin(); }
EOF
gcc -O1 -no-pie -Wl,--build-id=none -o spin spin.c || exit 1
read -r lo size < <(nm -S spin | awk '$4 == "spin" { print "0x" $1, "0x" $2 }')
hi=$(printf '0x%x' $((lo + size)))
mkdir -p cache secret
echo secret >secret/secret
mkfifo secret/fifo
mknod secret/device c 1 3

for kind in $(make_dwarf); do
	make_dwarf spin "$lo" "$hi" "$kind" "$kind" || check "$kind is made" false
	[ "$kind" = honest ] || chown nobody "$kind"
	cat >"run_$kind" <<EOF
#!/bin/sh
exec $([ "$kind" = honest ] || echo setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups) nice -n 10 "$T/$kind"
EOF
	chmod 755 "run_$kind"
done

pids=()
for kind in $(make_dwarf); do
	start "$T/run_$kind"
	pids+=("$PID")
done

# Says "ready", and then the name of each file in a directory that is opened: IN_OPEN of inotify(7).
cat >watch.py <<'EOF'
import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
fd = libc.inotify_init1(0)
assert libc.inotify_add_watch(fd, sys.argv[1].encode(), 0x20) >= 0
print("ready", flush=True)
while True:
    data = os.read(fd, 4096)
    while data:
        size, = struct.unpack_from("=12xI", data)
        print("opened", data[16:16 + size].rstrip(b"\0").decode(), flush=True)
        data = data[16 + size:]
EOF
python3 -S watch.py "$SECRET" >opened &
STARTED+=($!)
until_true 10 grep -q ready opened

# memory PID: the most memory that the process and all below it had at a time, shared pages counted once, in MiB.
cat >memory.py <<'EOF'
import sys, time
def lines(path):
    try:
        with open(path) as f:
            return f.read().splitlines()
    except OSError:
        return []
def tree(pid):
    yield pid
    for child in ' '.join(lines(f'/proc/{pid}/task/{pid}/children')).split():
        yield from tree(child)
def kib(pid):
    return sum(int(l.split()[1]) for l in lines(f'/proc/{pid}/smaps_rollup') if l.startswith('Pss:'))
most = 0
while any(l.startswith('State:') and 'Z' not in l for l in lines(f'/proc/{sys.argv[1]}/status')):
    most = max(most, sum(kib(p) for p in tree(sys.argv[1])))
    time.sleep(0.02)
print(most // 1024)
EOF

before=$(date +%s%N)
"$PROBEE" sample -p "$(IFS=,; echo "${pids[*]}")" -F 499 -d 3 -o all.pbz 2>err &
recorder=$!
STARTED+=($recorder)
python3 -S memory.py "$recorder" >most
wait "$recorder"
check "exit status" equal $? 0
# 3 s, and 10 s for names at most, and what it takes to begin and to end beside so many busy threads.
check "ends" at_most "$(ms_since "$before")" 20000
check "memory of all processes, in MiB" at_most "$(cat most)" 300
check "nothing that debug information names is opened" equal "$(grep -c opened opened)" 0
: <"$SECRET/secret"
until_true 10 grep -q opened opened
check "the watch can see it" grep -q "opened secret" opened

"$PROBEE" report -q --csv all.pbz >all.csv
for kind in $(make_dwarf); do
	check "$kind: names of the symbol table stay" sh -c \
		"grep '|$kind|' all.csv | grep 'spin.*main' >/dev/null && ! grep '|$kind|' all.csv | grep -v spin | grep -q ."
done
"$PROBEE" report -q --lines --collapse all.pbz >all.folded
check "honest: its lines stay" grep -q '^honest;.*;spin:11' all.folded
check "lines that were given up are counted" sh -c '"$PROBEE" info all.pbz | sed -n "/^losses/,\$p" | grep -qE "^ *[1-9][0-9,]* +line-budget"'
done_testing
