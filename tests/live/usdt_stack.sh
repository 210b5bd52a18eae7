#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/probes src/capture/collectors src/capture/session bpf
# timeout: 120
# Shadow stacks (--usdt-stack): which function of the program each native frame stands for, with longjmp, fibers and threads.
. "$(dirname "$0")/lib.sh"

USDT=$WORKLOADS/usdt
[ -x "$USDT" ] || no_workload usdt
SPEC=fixture:function__entry,fixture:function-return,name=arg2,file=arg1,line=arg3

# of_shadow NAME WORD: a counter of the recording.
of_shadow() {
	"$PROBEE" info "$1.pbz" --json 2>>"$T/err" | python3 -c '
import json, sys
print(dict(w.split("=") for w in json.load(sys.stdin)["meta"]["usdt_stack"].split())[sys.argv[1]])' "$2"
}
# paths NAME [OPTION...]: sets TOTAL, RIGHT, ENDS and ROOTS.
paths() {
	local name=$1
	shift
	read -r TOTAL RIGHT ENDS ROOTS < <("$PROBEE" report "$name.pbz" --event "${EVENT:-cpu-clock}" --no-inline --collapse 2>>"$T/err" |
		python3 "$LIVE/usdt_stack.py" "$@" 2>>"$T/err")
}

# --dry-run says where the probes of shadow stacks would be put, and puts none.
"$PROBEE" sample --dry-run --usdt-stack "usdt:$USDT:$SPEC" -- "$USDT" >places 2>"$T/err"
check "--dry-run: the places of entries and returns" equal "$(grep -c 'fixture:function__\(entry\|return\) .*0x' places)" 2

# Stacks that were unwound in user space have no shadow frames; that is counted.
timeout -k 5 60 "$PROBEE" sample -v -F 499 --usdt-stack "usdt:$USDT:$SPEC" -o tree.pbz -- "$USDT" stack 4 2>"$T/err"
check "exit status" equal $? 0
cp "$T/err" tree.err
paths tree
rewound=$(of_shadow tree rewound)
check "stacks in burn()" at_least "$TOTAL" 100
check "each is a path of the calls, with longjmp, fibers and threads" at_least "$RIGHT" $((TOTAL - rewound))
check "of both threads and the fibers" equal "$ROOTS" fiber,first,second
check "ends of paths" at_least "$ENDS" 20
check "few were unwound again" at_most "$rewound" 20
check "each entry was read" equal "$(of_shadow tree unread) $(of_shadow tree no_room) $(of_shadow tree nested)" "0 0 0"
check "no frame lacks its name" equal "$(of_shadow tree nameless)" 0
check "more entries than returns" at_least "$(of_shadow tree entered)" $(($(of_shadow tree returned) + 1))
check "calls that longjmp has ended were met, and not shown" at_least "$(of_shadow tree stale)" 1
"$PROBEE" report tree.pbz --csv --all-events --columns user_function,file,line >/dev/null 2>"$T/err"
"$PROBEE" report tree.pbz --json >tree.json 2>"$T/err"
check "file and line" python3 - <<'END'
import json
def all_of(n):
    yield n
    for c in n.get("children", []):
        yield from all_of(c)
names = {n["name"]: n for n in all_of(json.load(open("tree.json"))) if n["name"].startswith("first/")}
assert names["first/r"]["file"] == "tree.src" and names["first/r"]["line"] == 3, names["first/r"]
assert names["first/r/a"]["line"] == 2, names["first/r/a"]
END

# Kept stacks are compared frame by frame with libdw's, which knows no shadow frames.
timeout -k 5 60 "$PROBEE" sample --audit 1 -F 499 --usdt-stack "usdt:$USDT:$SPEC" -o audit.pbz -q -- "$USDT" stack 1 >/dev/null 2>"$T/err"
check "verify leaves them out: stacks that differ" equal "$("$PROBEE" verify audit.pbz 2>>"$T/err" | awk '$3 == "%" && $4 == "different" { print $1 }')" 0

# A program that runs: calls that were there before have no names, all others have.
background "$USDT" stack 6
program=$PID
check "the program runs" until_true 20 grep -q usdt "/proc/$program/comm"
sleep 0.5
run_limited sample -v -F 499 -d 3 -p "$program" --usdt-stack "usdt:$USDT:$SPEC" -o late.pbz
paths late --late
check "a program that runs: stacks" at_least "$TOTAL" 80
check "each is the rest of a path" at_least "$RIGHT" $((TOTAL - $(of_shadow late rewound)))

# Each entry as an event: its stack ends with the function that has just been entered.
timeout -k 5 60 "$PROBEE" sample -v -e "usdt:$USDT:fixture:function__return" --usdt-stack "usdt:$USDT:$SPEC,every" -o every.pbz -- "$USDT" stack 0.3 2>"$T/err"
entry="usdt:$USDT:fixture:function__entry"
"$PROBEE" report every.pbz --event "$entry" --no-inline --collapse >every.folded 2>>"$T/err"
check "every: as many events as entries" equal "$(awk '{ s += $NF } END { printf "%.0f\n", s }' every.folded)" "$(of_shadow every entered)"
sed -E 's/(.*) ([0-9]+)$/\1;burn \2/' every.folded | python3 "$LIVE/usdt_stack.py" >every.out 2>>"$T/err"
read -r TOTAL RIGHT ENDS ROOTS <every.out
check "every: each stack is a path" at_least "$RIGHT" $((TOTAL - $(of_shadow every rewound)))

# Scans and stays off the CPU go the same way.
timeout -k 5 60 "$PROBEE" record -F 49 --snap-freq 20 --usdt-stack "usdt:$USDT:$SPEC" -o scans.pbz -q -- "$USDT" stack 3 >/dev/null 2>"$T/err"
EVENT=snapshot paths scans
check "scans: stacks" at_least "$TOTAL" 10
check "each is a path" at_least "$RIGHT" $((TOTAL - $(of_shadow scans rewound)))
if command -v php >/dev/null && "$PROBEE" probes usdt:php:php:function__entry >/dev/null 2>&1; then
	cat >shop.php <<'END'
<?php
class Cart {
	function total() { usleep(20000); for ($i = 0; $i < 100000; $i++); }
	function fails($n) { if (!$n) throw new Exception("x"); $this->fails($n - 1); }
}
function work() { $c = new Cart; for ($i = 0; $i < 30; $i++) { try { $c->fails(5); } catch (Exception $e) { } $c->total(); } }
work();
END
	USE_ZEND_DTRACE=1 timeout 60 "$PROBEE" sample -e cpu-clock -F 999 --off-cpu --usdt-stack usdt:php:php:function-entry,php:php:function-return \
		-o php.pbz -- php shop.php 2>"$T/err"
	check "PHP: exit status" equal $? 0
	for event in cpu-clock off-cpu; do
		"$PROBEE" report php.pbz --event $event --no-inline --collapse 2>>"$T/err" | grep -E ';Cart::total;' >php.folded
		check "PHP, $event: calls" at_least "$(wc -l <php.folded)" 1
		check "PHP, $event: below its callers, without those that have thrown" equal \
			"$(grep -vcE ';main;[^/]*;work;(dtrace_)?execute_ex;(dtrace_)?execute_ex;Cart::total;' php.folded)" 0
		check "PHP, $event: none of those that have thrown" equal "$(grep -c 'Cart::fails' php.folded)" 0
	done
	check "PHP: exceptions return" equal "$(of_shadow php entered)" "$(of_shadow php returned)"
else
	skip_part "no PHP with probes"
fi
refused() {
	"$PROBEE" sample -d 1 -o bad.pbz "${@:3}" 2>"$T/err"
	check "refused: ${*:3}" equal $? "$1"
	check "with a reason" grep -q "$2" "$T/err"
}
refused 2 'an entry and a return are wanted' --usdt-stack php:function__entry
refused 2 'what is nam=arg1' --usdt-stack a:b,a:c,nam=arg1
refused 2 'what is line=arg99' --usdt-stack a:b,a:c,line=arg99
refused 1 'there is no arg9 for the name' --usdt-stack "usdt:$USDT:$SPEC,name=arg9"
refused 1 'no such USDT probe' --usdt-stack "usdt:$USDT:fixture:plain,$USDT:fixture:nosuch"
done_testing
