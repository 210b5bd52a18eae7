# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# How many stacks through code made at run time are whole, how many have guessed frames, and why the rest ends: programs of
# real runtimes, as far as they are installed, and a JIT of our own that saves only rbx. OLD=FILE: another probee to compare
# with, in turns. SECONDS_EACH (default 4) at 499 Hz.

EACH=${SECONDS_EACH:-4}

cat >made.lua <<'E'
local function fib(n) if n < 2 then return n end return fib(n-1) + fib(n-2) end
local function work(t) local s = 0 for i = 1, #t do s = s + t[i] * 3 % 7 end return s end
local function outer()
	local t, s = {}, 0
	for i = 1, 1000 do t[i] = i end
	for _ = 1, 2000 do s = s + work(t) end
	return s + fib(22)
end
while true do outer() string.rep("abc", 1000):gsub("b", "c") end
E
cat >made.py <<'E'
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def work(t):
    s = 0
    for x in t: s += x * 3 % 7
    return s
t, d = list(range(1000)), {}
while True:
    for k in range(2000): work(t)
    fib(18)
    for i in range(10000): d[str(i % 97)] = i
    sorted(d.items())
E
cat >made.php <<'E'
<?php
function inner($s) {
	for ($i = 0; $i < 200; $i++) preg_match_all('/(\w+)@(\w+)\.(com|org|net)|(a|b)*c+d?/', $s, $m);
}
function outer() { inner(str_repeat('foo bar baz@example.com aabbabcd x@y.org ', 50)); }
while (true) outer();
E
cat >made.lisp <<'E'
(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(defun work (l) (reduce #'+ (mapcar (lambda (x) (mod (* x 3) 7)) l)))
(loop (let ((l (loop for i below 1000 collect i)))
  (dotimes (k 200) (work l)) (fib 20) (sort (copy-list l) #'>)))
E
cat >made_erl.erl <<'E'
-module(made_erl). -export([main/0, fib/1]).
fib(N) when N < 2 -> N; fib(N) -> fib(N-1) + fib(N-2).
main() -> fib(22), lists:sort([X rem 97 || X <- lists:seq(1, 10000)]), main().
E
cat >made.hs <<'E'
fib :: Int -> Integer
fib n = if n < 2 then 1 else fib (n - 1) + fib (n - 2)
main :: IO ()
main = mapM_ (\k -> seq (fib (20 + k `mod` 5) + sum (map (`mod` 7) [1 .. 100000])) (return ())) [1 ..]
E
cat >made.c <<'E'
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) { for (;;) fib(25); }
E
have erlc && erlc made_erl.erl
have ghc && ghc -O1 made.hs -o made_hs >/dev/null 2>&1
gcc -O1 -static made.c -o made_static

# judged NAME TOOL FILE PID: what one recording of a process says.
judged() {
	local share guessed
	"$3" sample -q -p "$4" -F 499 -d "$EACH" -o made.pbz 2>sample.err || { say "$1: $(tail -n 1 sample.err)"; return; }
	"$3" info made.pbz --no-pager >made.info
	share=$(sed -nE 's/^stacks +([0-9.]+) %.*/\1/p' made.info)
	guessed=$(sed -nE 's/^stacks .*\(([0-9.]+) % with guessed.*/\1/p' made.info)
	record "$1: whole, %" "$2" "${share:-0}"
	record "$1: whole with guessed frames, %" "$2" "${guessed:-0}"
	sed -n '/^how user stacks ended/,/^$/{/whole/d;/%/p}' made.info | sed "s/^/$1, $2: /" >>ends
}

# program NAME COMMAND...
program() {
	local name=$1 pid
	shift
	have "$1" || { [ "$round" -gt 1 ] || say "no $1"; return; }
	"$@" >/dev/null 2>&1 &
	pid=$!
	STARTED+=("$pid")
	sleep 1
	judged "$name" probee "$PROBEE" "$pid"
	[ -z "${OLD:-}" ] || judged "$name" old "$OLD" "$pid"
	finish "$pid"
}

: >ends
for round in $(seq "$ROUNDS"); do
	program "rbx only" "$WORKLOADS/made" rbx
	program luajit luajit made.lua
	program pypy pypy3 made.py
	program "php (PCRE2)" php made.php
	program qemu qemu-x86_64 ./made_static
	program sbcl sbcl --script made.lisp
	program erl erl -noshell -s made_erl main
	program ghc ./made_hs
done
sort ends | uniq | sed 's/^/# /' >&2
