#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/verify unwind src/elf_unwind
# timeout: 300
# beside: live
# `probee verify`: elfutils unwinds the stacks that --audit kept, and agrees. A table that was damaged on purpose is found.
. "$(dirname "$0")/lib.sh"
export LC_ALL=C.UTF-8

# audited NAME MODE ARG...: adds the verdicts of one recording of PID to $T/all.
audited() {
	local name=$1 mode=$2 rc
	shift 2
	"$PROBEE" "$mode" -q --audit 1/1 -p "$PID" -o "$name.pbz" "$@" 2>err || return
	"$PROBEE" verify "$name.pbz" >"$name.verdict" 2>&1
	rc=$?
	sed "s/^/# $name: /" "$name.verdict" | grep -E 'kept|different|stopped|CFI|probee:'
	[ $rc = 0 ] || [ $rc = 4 ] || return 0
	cat "$name.verdict" >>all
}

# verdicts WORDS: sum of the counts of this kind in $T/all.
verdicts() { awk -v what="$1" 'index($0, "%  " what) { n += $1 } END { printf "%.0f\n", n }' all; }

: >all
for w in chain30 chain30_static chain30_nopie deep drap twochains throws sigalt coroutine; do
	case $w in
	deep) start deep 200 ;;
	twochains) start twochains 3000 1 4 ;;
	*) start "$w" ;;
	esac
	audited "$w" sample -F 499 -d 1
	audited "$w-walked" snapshot -F 20 -i 10
	finish "$PID"
done
background python3 -c "while True: sorted(range(1000), key=lambda x: -x)"
sleep 0.5
audited python3 sample -F 499 -d 1
finish "$PID"
background sh -c 'exec xz -9e </dev/urandom >/dev/null'
sleep 0.3
audited xz sample -F 499 -d 1
finish "$PID"

equal=$(verdicts 'equal') different=$(verdicts 'different')
check "stacks were judged" at_least $((equal + different)) 1000
# Without a rule libdw guesses by frame pointers; differences there do not count.
check "elfutils agrees with 99.9 %: of $((equal + different)) stacks $different differ" \
	at_least $((1000 * equal / (equal + different))) 999
# While libgcc leaves for a handler it overwrites what the unwind information of its callers says (unwind/cfi_eh_return.h),
# so in throws it may be libdw who is wrong: seen once in 5,000 stacks.
grep '^  different: thread' all | grep -v '(throws)' >different
check "nothing differs where there is CFI" not test -s different
check "nor in throws, but for the moment of a jump to a handler" at_most "$(grep -c '^  different: thread.*(throws)' all)" 2
check "a trace without kept stacks is refused" not "$PROBEE" verify "$(start chain30; sample -q -d 0.2 -p "$PID" \
	-o none.pbz; finish "$PID"; echo none.pbz)"

# Frames of JavaScript stand for those of generated code, which libdw has by address.
if command -v node >/dev/null; then
	background node -e 'function f(n) { return n ? f(n - 1) + [3, 1, 2].sort((a, b) => a - b)[0] : 1 } for (;;) f(9)'
	sleep 1
	sample -q --audit 1/1 -F 499 -d 1 -p "$PID" -o node.pbz
	finish "$PID"
	"$PROBEE" verify node.pbz >verdict 2>&1
	check "node: no stack is another one to libdw" equal $? 0
	check "node: stacks were judged" at_least "$(awk '/stacks kept/ { print $1 }' verdict)" 50
fi

# The damaged table: the file says something else now than while probee recorded.
cp "$WORKLOADS/chain30" spoilt
if size=$(python3 "$LIVE/spoil.py" "$T/spoilt" f18); then
	start "$T/spoilt"
	sample -q --audit 1/1 -F 499 -d 1 -p "$PID" -o spoilt.pbz
	finish "$PID"
	cp "$WORKLOADS/chain30" spoilt
	"$PROBEE" verify spoilt.pbz >verdict 2>&1
	check "a spoilt table is a difference" equal $? 4
	kept=$(awk '/stacks kept/ { print $1 }' verdict)
	check "in nearly all of $kept stacks" at_most "$(awk '/%  equal/ { print $1 + 0 }' verdict)" $((kept / 10))
	check "the file is named" grep -m1 'caller of spoilt+0x[0-9a-f]* f18' verdict
	check "so is the rule" grep -m1 "CFA=[rs]*sp+$size" verdict
	check "libdw's frame is the right one" grep -m1 'libdw .* f17+0x' verdict
	sed 's/^/# /' verdict | head -8
	"$PROBEE" verify -v --limit 20 spoilt.pbz >verdict		# one may be on its way down
	check "-v shows whole stacks" grep -q 'libdw  #30 ' verdict
	echo >>spoilt
	cp "$WORKLOADS/deep" spoilt
	"$PROBEE" verify spoilt.pbz >verdict
	check "another build is said to be one" grep -m1 'changed .*/spoilt' verdict
	rm spoilt
	"$PROBEE" verify spoilt.pbz >verdict
	check "a missing file is said to be missing" grep -m1 'missing .*/spoilt' verdict
else
	skip_part "readelf does not show the FDE"
fi
done_testing
