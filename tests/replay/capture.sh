#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# capture.sh [CASE...]: makes the replay cases (README.md), all of them or those named, from live programs. Needs root, x86_64,
# libdw-dev and the programs; what is missing is named and left out, and a case that libdw and probee see differently is not
# made: capture says where they differ. OUT as for make.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
OUT=$(realpath -m "${OUT:-$root/.out}")
only=" $* "
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
W=$("$root/tests/workloads/build.sh" "$OUT/workloads") || exit 1
make -s -C "$root" OUT="$OUT" "$OUT/libprobee.a" || exit 1
gcc -std=gnu11 -O2 -Wall -Wextra -Werror -I"$root" -D_GNU_SOURCE -DARCH_HEADER='"unwind/arch_x86_64.h"' "$here/capture.c" \
	"$OUT/libprobee.a" -lbpf -ldw -lelf -lz -lzstd -lpcre2-8 -lseccomp -lcap-ng -liberty -lpthread -o "$work/capture" || exit 1

descendants() { local p; for p in $(cat /proc/"$1"/task/*/children 2>/dev/null); do echo "$p"; descendants "$p"; done; }

# make_case NAME PROGRAM WHEN THREAD COMMAND...: THREAD is main, or a number of the process's other threads; or child.
make_case() {
	local name=$1 program=$2 when=$3 thread=$4 pid started tid rc p
	shift 4
	[ "$only" = "  " ] || [[ $only == *" $name "* ]] || return 0
	command -v "$1" >/dev/null || { echo "$name: $1 is not there"; return 0; }
	"$@" >/dev/null 2>&1 </dev/null &
	pid=$! started=$!
	disown "$pid"
	sleep "${WARM:-1}"
	[ "$thread" != child ] || pid=$(descendants $pid | tail -1)
	tid=$pid
	[[ $thread == main || $thread == child ]] || tid=$(ls "/proc/$pid/task" | sed -n "$((thread + 1))p")
	for _ in 1 2 3; do
		timeout 60 "$work/capture" "$pid" "$tid" "$name" "$program" "$when" >"$work/case" 2>"$work/err"
		rc=$?
		[ $rc != 0 ] || break
	done
	if [ $rc = 0 ]; then
		mv "$work/case" "$here/cases/$name.case"
		echo "$name: $(grep -c ^frame "$here/cases/$name.case") frames, $(stat -c %s "$here/cases/$name.case") bytes"
	else
		echo "$name: not made: $(tail -1 "$work/err")"
	fi
	for p in $(descendants "$started") "$started"; do kill -KILL "$p" 2>/dev/null; done
}

spawner='import subprocess
while True: subprocess.run(["/bin/true"])'
sorter='def deep(n):
    if n == 0:
        while True: sorted(range(3000), key=lambda x: -x)
    deep(n - 1)
deep(12)'
fib='def f(n) n < 2 ? n : f(n - 1) + f(n - 2) end; loop { f(20) }'
awk_loop='BEGIN { while (1) { n = sprintf("%d", ++i); if (n ~ /7+3/) a[n % 99] = n } }'
java_loop='public class Nap { static int busy(int n) { int s = 0; for (int i = 0; i < n; i++) s += i ^ n; return s; }
public static void main(String[] a) throws Exception { for (int n = 0; ; n++) { if (busy(50) == n) System.out.println(n); Thread.sleep(1); } } }'
mkdir -p "$work/j" && echo "$java_loop" >"$work/j/Nap.java" && javac -d "$work/j" "$work/j/Nap.java" 2>/dev/null

# Whole programs of ours: known chains, odd frames.
make_case chain30 chain30 leaf:f30 main "$W/chain30"
make_case chain30-keep chain30 leaf:keep main "$W/chain30_O3"
make_case static chain30_static leaf:f30 main "$W/chain30_static"
make_case static-pie chain30_static_pie leaf:f30 main "$W/chain30_static_pie"
make_case deep deep leaf:bottom main "$W/deep" 300
make_case drap drap leaf:drap_leaf main "$W/drap"
make_case drap-prologue drap holds:touch main "$W/drap"
make_case signal sigalt leaf:handler_leaf main "$W/sigalt" same
make_case sigaltstack sigalt leaf:handler_leaf main "$W/sigalt" alt
make_case coroutine coroutine leaf:spin_a main "$W/coroutine"
make_case thread threads holds:clone 3 "$W/threads" 6 sleep
make_case lazy lazy leaf:do_lookup_x main "$W/lazy"
make_case exception throws holds:_Unwind_RaiseException main "$W/throws"
make_case rethrow throws holds:__cxa_rethrow main "$W/throws"
make_case cxx shop holds:checkout main "$W/shop"
make_case rust crate_rs holds:weigh main "$W/crate_rs"
make_case go goblin holds:main.main main "$W/goblin"
make_case musl chain30_musl leaf:f30 main "$W/chain30_musl"

# Places: inside system calls that keep the return address in a register, PLT stubs, the vdso.
make_case vfork python3 vfork main /usr/bin/python3 -c "$spawner"
make_case plt-gawk gawk in:.plt main gawk "$awk_loop"
make_case plt-jq jq in:.plt main jq -n 'last(range(1e12) | select(tostring | test("7{5}")))'
make_case vdso python3 'in:[vdso]' main /usr/bin/python3 -c 'import time
while True: time.monotonic()'

# Well-known programs.
make_case python python3 holds:PyEval main /usr/bin/python3 -c "$sorter"
make_case perl perl holds:Perl_runops main perl -e 'sub f { my $n = shift; $n < 2 ? $n : f($n - 1) + f($n - 2) } while (1) { f(22) }'
make_case ruby ruby holds:ruby_run main ruby -e "$fib"
make_case node node holds:uv_run main node -e 'setInterval(() => { for (let i = 0, s = 0; i < 1e6; i++) s += Math.sqrt(i); }, 1)'
make_case node-worker node holds:clone 3 node -e 'setInterval(() => 0, 1)'
WARM=3 make_case java-interpreter java holds:JavaMain 1 java -Xint -cp "$work/j" Nap
WARM=3 make_case java-vm java holds:clone 4 java -cp "$work/j" Nap
make_case bash bash holds:execute_command main bash -c 'while :; do case $((n++)) in *x) ;; esac; done'
make_case gawk gawk holds:main main gawk "$awk_loop"
make_case sqlite sqlite3 holds:sqlite3_step main sqlite3 :memory: 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000000) select count(*) from n where cast(i as text) like "%7%3%";'
make_case openssl-asm openssl step:100003 main openssl speed -seconds 100 rsa4096
make_case openssl-sha openssl step:50021 main sh -c 'exec openssl dgst -sha512 </dev/zero'
make_case openssl-gcm openssl step:10007 main env OPENSSL_ia32cap=:~0xffffffffffffffff openssl speed -seconds 100 -bytes 8192 -evp aes-128-gcm
make_case zstd zstd holds:clone 1 sh -c 'exec zstd -q -19 -T2 </dev/urandom'
make_case gdb gdb holds:Py main gdb -nx -batch -ex 'python exec("while True: gdb.parse_and_eval(\"1 + 2 * 3\")")'
make_case make make step:30011 main sh -c 'while :; do make -rpn -f /dev/null; done'
make_case redis redis-server holds:aeMain main redis-server --port 0 --unixsocket "$work/redis.sock" --save ''
WARM=6 make_case chromium chromium holds:clone 5 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" about:blank
