#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/probes src/capture/collectors
# core: yes
# timeout: 200
# Probes (-e uprobe:, tracepoint:, raw_tp:, ...): each call carries a whole stack, none is missed, and no program is harmed.
. "$(dirname "$0")/lib.sh"

CALLS=$WORKLOADS/calls
[ -x "$CALLS" ] || no_workload calls

# probe NAME ARG...: records; the probed program's exit code comes through.
probe() {
	local name=$1
	shift
	timeout -k 5 60 "$PROBEE" sample -v -o "$name.pbz" "$@" >/dev/null 2>"$name.err"
	RC=$?
	cp "$name.err" "$T/err"
}

# count NAME [EVENT]: the sum of all stacks.
count() { "$PROBEE" report "$1.pbz" ${2:+--event "$2"} --no-inline --collapse 2>>"$T/err" | awk '{ s += $NF } END { printf "%.0f\n", s }'; }
folded_of() { "$PROBEE" report "$1.pbz" ${2:+--event "$2"} --no-inline --collapse 2>>"$T/err"; }
whole() { grep -q "100.0 % of user stacks whole" "$1.err"; }
# accounted NAME: fired is the sum of what became of it.
accounted() {
	"$PROBEE" info "$1.pbz" --json 2>>"$T/err" | python3 -c '
import json, sys
rows = [v for k, v in json.load(sys.stdin)["meta"].items() if k.startswith("probe.")]
for text in rows:
    c = {k: int(v) for k, v in (w.split("=") for w in text.split())}
    print(text)
    c.pop("missed")
    if c["fired"] != sum(c.values()) - c["fired"]:
        sys.exit(1)
sys.exit(not rows)'
}

probe leaf -e "u:$CALLS:leaf" -- "$CALLS" 1000 2
check "uprobe: the program is as it was" equal "$RC" 0
check "each call, also of children" equal "$(count leaf)" 6000
check "whole stacks" whole leaf
folded_of leaf >leaf.folded
check "below 20 calls" stacks share leaf.folded "work(long);descend$(printf ';descend%.0s' {1..20});leaf" --of descend --min 2900
check "the function that was entered is the leaf" awk '$0 !~ /;leaf [0-9]+$/ { bad++ } END { exit bad > 0 }' leaf.folded
check "every call is accounted for" accounted leaf

probe ret -e "ur:$CALLS:branch" -- "$CALLS" 500
check "uretprobe: each return" equal "$(count ret)" 500
check "the function that returns is the leaf" stacks share <(folded_of ret) "main;work(long);branch" --of "work(long)" --min 400 \
	--percent 100
check "it has its file" bash -c "'$PROBEE' report ret.pbz --text 2>/dev/null | grep -q ' branch  *calls$'"
check "whole stacks" whole ret
check "the program is as it was" equal "$RC" 0

probe two -e "u:$CALLS:leaf" -e "ur:$CALLS:leaf" -e "u:$CALLS:branch" -- "$CALLS" 300
check "several at once: the first" equal "$(count two "uprobe:$CALLS:leaf")" 600
check "the second" equal "$(count two "uretprobe:$CALLS:leaf")" 600
check "the third" equal "$(count two "uprobe:$CALLS:branch")" 300

# A probe is in a file and not in its name: what takes the file's place is another program.
cp "$CALLS" replaced
probe replaced -e "u:$PWD/replaced:leaf" -- sh -c './replaced 500 && cp "$0" new && mv new replaced && ./replaced 500' "$CALLS"
check "a probed file that is replaced: the calls until then" equal "$(count replaced)" 1000
check "a probed file that is replaced: the recording ends well" equal "$RC" 0

probe glob -e "u:$CALLS:*ea*" -- "$CALLS" 100
check "a glob: leaf" equal "$(count glob)" 200
probe regex -e "u:$CALLS:/^(leaf|branch)\$/" -- "$CALLS" 100
check "a regular expression: two functions" equal "$(count regex)" 300
probe cxx -e "u:$CALLS:shop::Basket::add" -- "$CALLS" 100
check "C++ by its name" equal "$(count cxx)" 100
probe template -e "u:$CALLS:Shelf::pick" -- "$CALLS" 100
check "of a template, without its arguments" equal "$(count template)" 100

# A line of a source file is where gdb has it. The loop's body is in one function; another line is there in all that inlined it.
line=$(grep -n 'sum += descend(20, i);' "$ROOT/tests/workloads/calls.cc" | cut -d : -f 1)
probe line -e "$CALLS:calls.cc:$line" -- "$CALLS" 120
check "a line of a source file" equal "$(count line)" 120
there=$(gdb -nx -batch -ex "info line calls.cc:$line" "$CALLS" 2>/dev/null | sed -nE 's/.* (starts at|is at) address (0x[0-9a-f]+).*/\2/p' | head -1)
check "the line's address is gdb's" equal "$("$PROBEE" probes "$CALLS:workloads/calls.cc:$line" | grep -o ' 0x[0-9a-f]* ' | xargs printf '%x\n')" \
	"$(printf %x "$there")"
probe noline -e "u:$CALLS:calls.cc:2" -- "$CALLS" 1
check "a line without code: the next one is told" grep -q "no code of this line; the next is line" noline.err
probe nosource -e "u:$CALLS:ball.cc:2" -- "$CALLS" 1
check "a file that it is not made of" grep -q "no such line in the debug information of 1 file" nosource.err
probe perfs -e sched:sched_process_exec -e "$CALLS:leaf" -- "$CALLS" 10
check "a tracepoint as perf writes it" equal "$(count perfs tracepoint:sched:sched_process_exec)" 1
ln -s "$CALLS" ./calls.link
probe here -e ./calls.link:leaf -- "$CALLS" 10
check "by a path from here" equal "$(count here)" 20
check "a function by its file, without a prefix" equal "$(count perfs "uprobe:$CALLS:leaf")" 20

probe if -e "u:$CALLS:leaf" --if 'arg1 >= 90 && arg2 == 3' -- "$CALLS" 100
check "--if: arguments" equal "$(count if)" 10
check "the others are counted" grep -q 'fired=200 .* unfit=190 .* taken=10' if.err
probe retif -e "ur:$CALLS:leaf" --if 'ret>=200' -- "$CALLS" 150
check "--if: the result" equal "$(count retif)" "$((2 * 50 + 1))"

probe args -e "u:$CALLS:leaf" --args arg1,arg2 -e "ur:$CALLS:leaf" --args ret -- "$CALLS" 100
folded_of args "uprobe:$CALLS:leaf" >args.folded
check "--args: each call" equal "$(awk '{ s += $NF } END { print s }' args.folded)" 200
check "--args: behind the function" equal "$(grep -cvE ';leaf;leaf\(-?[0-9]+, -?[0-9]+\) [0-9]+$' args.folded)" 0
check "--args: the values, as --if sees them" equal \
	"$(sed -nE 's/.*leaf\(([0-9]+), 3\) ([0-9]+)$/\1 \2/p' args.folded | awk '$1 >= 90 { s += $2 } END { print s }')" "$(count if)"
folded_of args "uretprobe:$CALLS:leaf" >args.folded
check "--args ret: behind the function that returns" equal "$(grep -cvE ';leaf;leaf\(\) = -?[0-9]+ [0-9]+$' args.folded)" 0
check "--args ret: each return" equal "$(awk '{ s += $NF } END { print s }' args.folded)" 200
probe text -e u:libc:openat --args arg2:str -e u:libc:open64 --args arg1:str -- cat /etc/hostname
check "--args: a text" grep -q '"/etc/hostname")' <(folded_of text uprobe:libc:open64; folded_of text uprobe:libc:openat)

# Calls by how long they take: ten of 20 ms, ninety of 0.1 ms; and of a function that calls itself, whose calls within calls are one
# in another. While returns are pending, their addresses on the stack are not those of the callers; the kernel knows these.
SLOW=$WORKLOADS/slow_calls
time_of() { "$PROBEE" report "$1.pbz" --event "$2" --json 2>>"$T/err" | python3 -c 'import json, sys; print(int(json.load(sys.stdin)["value"] / 1e6))'; }
probe slow -e "ur:$SLOW:nap" --min-latency 10ms -e "ur:$SLOW:nest" --min-latency 0 -e cpu-clock -F 499 -- "$SLOW"
check "--min-latency: the program is as it was" equal "$RC" 0
# While the host takes a CPU away a quick call may last as long.
check "the ten slow calls" awk '/nap: fired=100 .* unpaired=0 / { for (i = 1; i <= NF; i++) { split($i, w, "="); n[w[1]] = w[2] } }
	END { print n["taken"], n["quick"]; exit !(n["taken"] >= 10 && n["taken"] <= 14 && n["taken"] + n["quick"] == 100) }' slow.err
check "their time (ms)" at_least "$(time_of slow "uretprobe:$SLOW:nap")" 200
check "their time, at most (ms)" at_most "$(time_of slow "uretprobe:$SLOW:nap")" 400
check "they are the function's, also before its caller's table is there" equal \
	"$(folded_of slow "uretprobe:$SLOW:nap" | grep -vc 'main;nap [0-9]*$')" 0
folded_of slow "uretprobe:$SLOW:nest" >nest.folded
# As of time off the CPU, folded stacks count microseconds.
check "folded stacks have the time" awk -v ms="$(time_of slow "uretprobe:$SLOW:nap")" -v us="$(count slow "uretprobe:$SLOW:nap")" \
	'BEGIN { printf "%s ms, %s us", ms, us; exit !(us > ms * 990 && us < ms * 1010 + 1000) }'
check "calls of itself: each is paired" grep -q 'nest: fired=6 .* unpaired=0 .* taken=6 ' slow.err
check "each has its depth" equal "$(sed -E 's/ [0-9]+$//' nest.folded | awk -F';' '{ print NF }' | sort -n | uniq -c | awk '$1 == 1' | wc -l)" 6
folded_of slow cpu-clock >clock.folded
check "samples below pending returns" stacks share clock.folded "main;nest;nest;nest;nest;nest;nest" --of nest --min 150
background "$PROBEE" sample -e "ur:$SLOW:nest" -o under.pbz -- "$SLOW" 20 2>>"$T/err"
recorder=$PID
check "the program runs" until_true 20 pgrep -P "$recorder" -x slow_calls
sleep 1
run_limited snapshot -p "$(pgrep -P "$recorder" -x slow_calls)" -F 50 -i 20 -o walked.pbz
check "walks, too" stacks share <(folded_of walked) "main;nest;nest;nest;nest;nest;nest" --of nest --min 20
finish "$recorder" INT
probe nolat -e "u:$SLOW:nap" --min-latency 1ms -- "$SLOW"
check "an entry has no time: it needs a return probe" grep -q "needs a return probe" nolat.err

# A timer interrupt that comes while a program runs for a system call finds no program of its own run: that is counted as lost.
probe nested -a -d 3 -e t:irq_vectors:local_timer_entry -e t:raw_syscalls:sys_enter -- sh -c 'while :; do read -r x </proc/uptime; done'
missed=$("$PROBEE" info nested.pbz --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["meta"]["probes.missed"])')
check "what the kernel passes over is in the trace" equal "$missed" "$(sed -n 's/.*while another program ran: //p' nested.err)"
[ "$missed" = 0 ] || check "and lost" grep -qE "^probee: losses: [0-9,]+ sample" nested.err

probe libc -e u:libc:getpid -e u:libc:_exit -- "$CALLS" 1 3
check "a function of libc, by the library's name" equal "$(count libc uprobe:libc:_exit)" 4
mkdir copy && cp "$CALLS" copy/calls
probe beside -e "u:$T/copy/calls:leaf" -- "$CALLS" 100
check "another file is not probed" equal "$(count beside)" 0

# No probe where it does harm: an offset inside of an instruction. Each offset is either refused, or the program runs on rightly.
good=0 refused=0 broken=
for offset in $(seq 1 24); do
	timeout 20 "$PROBEE" sample -o off.pbz -e "u:$CALLS:descend+$offset" -- "$CALLS" 20 2>"$T/err"
	case $? in
	0) good=$((good + 1)) ;;
	1 | 2) grep -q "it can be put nowhere" "$T/err" && refused=$((refused + 1)) || broken+=" $offset" ;;
	*) broken+=" $offset" ;;
	esac
	grep -q "exited with status [1-9]\|was killed" "$T/err" && broken+=" $offset!"
done
check "offsets: refused or harmless ($good put, $refused refused)" equal "$broken" ""
objdump -d --no-show-raw-insn "$CALLS" | awk '/<descend>:$/ { on = 1; next } /^$/ { on = 0 } on { sub(":", "", $1); print $1 }' >insns
first=$(head -1 insns)
wanted=$(while read -r a; do echo $((0x$a - 0x$first)); done <insns | awk '$1 > 0 && $1 <= 24' | wc -l)
check "they are put where objdump sees instructions" test "$good" -le "$wanted" -a "$good" -ge $((wanted - 2)) -a "$wanted" -ge 3

# Tracepoints, with the trace file system and without.
probe exec -e t:sched:sched_process_exec -- sh -c 'true; /bin/true; /bin/true; exit 0'
check "a tracepoint: three programs" equal "$(count exec)" 3
probe raw -e raw_tp:sched_process_exec -- sh -c '/bin/true; /bin/true; exit 0'
check "the same without the file system" equal "$(count raw)" 3
probe field -e t:kmem:kmalloc --if 'bytes_req >= 100000000' -- "$CALLS" 1
check "a field of a tracepoint" grep -q 'unfit=[1-9]' field.err
"$PROBEE" sample -e t:kmem:kmalloc --if 'nosuch == 1' -d 1 -o bad.pbz 2>"$T/err"
check "a field that it has not: those that it has" grep -q 'there is no nosuch. Try: .*bytes_req' "$T/err"
if [ ! -e /sys/bus/event_source/devices/kprobe ]; then
	"$PROBEE" sample -e k:vfs_write -d 1 -o bad.pbz 2>"$T/err"
	check "a kernel without kprobes: exit 77" equal $? 77
	check "and it says so" grep -q 'this kernel has no kprobes' "$T/err"
fi

# Beside the clock, and in a trace with snapshots.
timeout 40 "$PROBEE" record -e cpu-clock -e "u:$CALLS:branch" -o all.pbz -q -- "$CALLS" 2000 >/dev/null 2>"$T/err"
check "with samples and snapshots" equal $? 0
check "each call is there" equal "$(count all "uprobe:$CALLS:branch")" 2000
check "the clock is what is shown" bash -c "'$PROBEE' report all.pbz --text 2>/dev/null | grep -q 'CPU time'"

refused() {
	"$PROBEE" sample -d 1 -o bad.pbz "${@:3}" 2>"$T/err"
	check "refused: ${*:3}" equal $? "$1"
	check "with a reason" grep -q "$2" "$T/err"
}
refused 1 'no such function' -e u:libc:nosuchfunction
refused 1 'no such tracepoint' -e t:no:such
refused 1 'does not return to its caller' -e ur:libc:longjmp
refused 2 'of which probe' --if 'arg1>1'
refused 2 'not a condition' -e u:malloc --if 'arg1>'
refused 2 'a category and a name' -e t:sched_switch
check "no probes are left" equal "$(cat /sys/kernel/tracing/uprobe_events 2>/dev/null | wc -l)" 0
# Faster than they are taken: probee stands still until the program has ended. What is new goes through the ring, which has room for a
# part of the calls; the rest is added up.
background "$PROBEE" sample -v -e "u:$CALLS:leaf" -o fast.pbz -- "$CALLS" 150000 0 2>fast.err
recorder=$PID
check "the fast program runs" until_true 20 pgrep -P "$recorder" -x calls
kill -STOP "$recorder"
check "it ends" until_true 60 grep -q '^State:.Z' "/proc/$(pgrep -P "$recorder" -x calls)/status"
kill -CONT "$recorder"
wait "$recorder"
check "while probee stands still: exit status" equal $? 0
check "each call is there" equal "$(count fast)" 300000
check "each is accounted for" accounted fast
check "none is refused" grep -q ' refused=0 ' fast.err
check "those that came too fast were added up" awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^summed=/ && substr($i, 8) > 1000) ok = 1 } END { exit !ok }' fast.err
check "with whole stacks" whole fast
# Code that is made while it runs: such a stack comes with its memory, and is no part of a sum.
if command -v node >/dev/null; then
	probe jit -e raw_tp:sys_enter -- node -e 'const fs = require("fs"), end = Date.now() + 1000; while (Date.now() < end) fs.statSync("/etc/passwd")'
	check "generated code: exit status" equal "$RC" 0
	check "generated code: each call is accounted for" accounted jit
	check "generated code: samples" at_least "$(count jit)" 1000
else
	skip_part "no node here"
fi

# A stripped program, whose functions and lines are in a debug file that it names.
cp "$CALLS" split && objcopy --only-keep-debug split split.debug && strip split && objcopy --add-gnu-debuglink=split.debug split
probe split -e "u:$T/split:leaf" -- ./split 1000 0
check "stripped, with a debug file: each call" equal "$(count split)" 2000
line=$(grep -n 'leaf(' "$ROOT/tests/workloads/calls.cc" | head -n 1 | cut -d: -f1)
"$PROBEE" probes "u:$T/split:calls.cc:$line" >split.out 2>"$T/err"
check "and lines" grep -qE "^  leaf(\+0x[0-9a-f]+)? +0x" split.out
mv split.debug own.debug
objcopy --only-keep-debug "$WORKLOADS/chain30" split.debug
"$PROBEE" probes "u:$T/split:f30" >split.out 2>"$T/err"
check "another program's debug file is not taken" equal $? 1
mv own.debug split.debug
probe traced -e fentry:vfs_read -e fexit:vfs_read --if 'ret>0' -- cat /etc/passwd
if [ "$RC" = 77 ]; then
	check "a kernel without fentry is told so" grep -q 'takes no programs of this kind. Try: k:vfs_read' traced.err
else
	check "fentry: calls" at_least "$(count traced fentry:vfs_read)" 1
	check "fexit: the function is the leaf" not grep -qv ';vfs_read_\[k\] [0-9]*$' <(folded_of traced fexit:vfs_read)
	check "fexit: those that have read something" at_most "$(count traced fexit:vfs_read)" "$(count traced fentry:vfs_read)"
fi
probe traced -e fentry:vfs_read --if 'arg9>0' -- true
check "an argument that it does not have" grep -q 'Try: arg1 to arg6\|has 4 arguments\|no programs of this kind' traced.err
"$PROBEE" sample --dry-run -e "u:$CALLS:leaf" -e raw_tp:sched_switch >dry.out 2>"$T/err"
check "--dry-run: exit status" equal $? 0
check "--dry-run: the place in the file" grep -qE "^  leaf +0x[0-9a-f]+" dry.out
check "--dry-run: the tracepoint" grep -qx 'raw_tp:sched_switch' dry.out
check "--dry-run: nothing is recorded" not test -e trace.pbz
"$PROBEE" sample --dry-run -e "u:$CALLS:leaves" >dry.out 2>"$T/err"
check "--dry-run: what is not there" equal $? 1
"$PROBEE" sample --dry-run >dry.out 2>"$T/err"
check "--dry-run of nothing" equal $? 2
done_testing
