#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/base/habit.c src/base/habits.def src/base/opt.c src/main.c src/commands/commands.c src/recording/record_options.c
# timeout: 300
# What users of other profilers type (src/base/habits.def). Each spelling of that table must be typed here, and must do what it
# means or name the command that does. Nothing is recorded: `--columns help` ends a command whose options were understood.
. tests/cli/lib.sh

need_library
make_fixture "$TMP/trace.pbz"
cp "$TMP/trace.pbz" "$TMP/trace.pbz.old"
printf '#!/bin/sh\n' >"$TMP/prog"
chmod +x "$TMP/prog"
export PATH="$TMP:$PATH"
cd "$TMP"
typed=''

# understood WORDS: they are options that the command knows.
understood() {
	typed+=" $*"
	run probee "$@" --columns help
	exits 0
	prints 'timestamp'
}
# means WORDS -- WORDS: both print the same.
means() {
	local a=()
	while [ "$1" != -- ]; do a+=("$1"); shift; done
	shift
	typed+=" ${a[*]}"
	run probee "$@"; exits 0
	mv stdout wanted
	run probee "${a[@]}"; exits 0
	cmp -s stdout wanted || wrong "prints something else than $*"
}
# refused TEXT WORDS: ends with 2, and names what to type.
refused() {
	local text=$1
	shift
	typed+=" $*"
	run probee "$@"
	exits 2
	says "$text"
	[ ! -s stdout ] || wrong 'prints something'
}

# Commands.
means script -- report --perf-script
means version -- --version
for c in evlist header buildid-list; do means $c -- info; done
means text -- report --text
means csv -- report --csv
for c in folded collapse collapsed; do means $c -- report --collapse; done
for c in waits deadlock deadlocks; do means $c -- report --waits; done
means compare trace.pbz.old trace.pbz -- diff trace.pbz.old trace.pbz
for c in flamegraph flame-graph flame flames svg; do
	rm -f flamegraph.svg
	typed+=" $c"
	run probee $c trace.pbz; exits 0; says 'flamegraph.svg'
	grep -q '<svg' flamegraph.svg || wrong 'wrote no picture'
done
rm -f flamegraph.svg
run probee flamegraph -o own.svg trace.pbz; exits 0
[ -s own.svg ] && [ ! -e flamegraph.svg ] || wrong 'a picture that was not asked for'
grep -q 'The picture goes' stderr && wrong 'says where the picture goes, which was said'
typed+=' html'
run probee html; exits 0; grep -q '<html' report.html || wrong 'wrote no page'
for c in open view show load browse; do means $c --once trace.pbz -- tui --once trace.pbz; done
for c in list list-events events; do means $c -- sample -e help; refused 'probee probes' $c 'sched:*'; done
for c in offwaketime wakeuptime; do means $c --columns help -- sample --off-cpu --wakers --columns help; done
for c in stackcount funccount; do refused 'probee sample -e u:libc:malloc' $c -p 1 c:malloc; done
for c in funclatency funcslower; do refused '--min-latency 0' $c -p 1 c:malloc; done
for c in profile cpu cprofile collect start; do means $c --columns help -- sample --columns help; done
for c in run exec; do means $c --columns help -- record --columns help; done
for c in offcpu off-cpu offcputime; do means $c --columns help -- sample --columns help; done
for c in live monitor watch attach htop; do means $c --columns help -- top --columns help; done
for c in web ui http server; do means $c --columns help -- serve --columns help; done
refused 'probee report --lines' annotate hot
refused 'probee sample -e' stat sleep 1
refused 'strace' trace ls
refused 'probee symbolize' buildid-cache -a x
refused 'trace.pbz can be sent' archive
for c in sched runqlat; do refused 'probee report --event cpu-wait' $c; done
refused 'go tool pprof' pprof -top trace.pbz
for c in lock locks klockstat; do refused 'probee snapshot -a -i 1 --waits' $c; done
for c in mem memory heap kmem memleak alloc; do refused 'u:libc:malloc' $c record; done
for c in mem c2c; do refused 'does not record accesses' $c record; done
for c in kvm ftrace timechart; do refused 'probee record -a -d 10' $c; done
refused 'probee record -- COMMAND' bench
refused 'probee symbolize' inject
for c in test check; do refused 'probee doctor' $c; done
for c in stack stacks pstack gstack jstack bt backtrace threads; do means $c -h -- dump -h; done
refused 'probee top --view threads' ps
for c in convert to transform; do refused 'probee report FILE -o' $c trace.pbz x.json; done
refused 'probee record' import perf.data
refused 'probee tui FILE' import trace.pbz
for c in connect adhoc; do refused '--push' $c --pid 1; done
for c in syscalls strace syscount; do refused 'raw_syscalls:sys_enter' $c; done
for c in uprobe kprobe usdt tracepoint probe; do refused 'probee probes SPEC' $c malloc; done
for c in summary tree hotspots; do means $c -- report; done
for c in asprof async-profiler py-spy samply rbspy austin; do means $c --columns help -- record --columns help; done
refused 'probee sample -a -F 99' bpftrace -e 'profile:hz:99 { @[ustack] = count(); }'
for c in execsnoop exitsnoop; do refused 't:sched:sched_process_exec' $c; done
for c in opensnoop statsnoop filetop; do refused 't:syscalls:sys_enter_openat' $c; done
for c in tcpconnect tcpaccept tcplife tcptop tcpretrans; do refused 't:sock:inet_sock_set_state' $c; done
for c in biolatency biosnoop biotop biostacks; do refused '--off-cpu --state D' $c; done
for c in llcstat cachestat; do refused 'LLC-load-misses' $c; done
refused 'u:libc:pthread_create' threadsnoop
for c in hardirqs softirqs irqtop; do refused '-e irq' $c; done
refused 'perf c2c' c2c record
refused '-o flamegraph.svg' script flamegraph
refused 'probee record -p PID' perf record -g
refused 'probee dump PID' gdb -p 1
refused 'u:libc:malloc' ltrace -p 1
for c in vmstat iostat iotop pidstat mpstat sar; do refused 'probee top' $c 1; done
for c in leaks valgrind heaptrack massif memray; do refused 'never freed' $c ./prog; done
for c in jfr2flame jfrconv jfr; do refused 'x.html' $c x.jfr; done
refused 'probee agent --status' status
refused 'perf mem' mem record
for c in stop kill; do refused 'Ctrl-C' $c; done
for c in completion completions; do refused 'make install' $c bash; done
for c in config init setup install; do refused 'probee doctor' $c; done
run probee help script; exits 0; says 'script is here: probee report'; prints 'usage: probee report'
run probee help stat;   exits 2; says 'probee sample -e'

# Options of recordings.
for c in sample record; do
	understood $c -g
	understood $c -ag
	understood $c -gF 99
	for e in list; do means $c -e $e -- $c -e help; done
	for e in cpu itimer ctimer; do understood $c -e $e; understood $c --event $e; understood $c --event=$e; done
	for e in alloc mem; do refused 'u:libc:malloc' $c -e $e; done
	refused 'pthread_mutex_lock' $c -e lock
	refused 'pthread_mutex_lock' $c -elock
	refused '-a -F 99' $c -e 'profile:hz:99 { @[ustack] = count(); }'
	refused 't:syscalls:sys_enter_openat' $c -e trace=openat
	refused '--collapse' $c -adf
	refused '-d 10' $c -d -f
done
refused 'probee dump' dump --locals
understood record -e wall
understood record -s
refused 'probee record' sample -e wall
for c in sample record; do for o in -i --interval; do refused '-F 100' $c $o 10ms; done; done
refused '-F 0.1' snapshot --interval 10s
for c in sample record snapshot; do
	for v in fp dwarf dwarf,8192 lbr auto; do understood $c --call-graph $v; understood $c --call-graph=$v; done
	run probee $c --call-graph nonsense; exits 2; says 'nonsense'
	for o in --rate --frequency --hz; do
		understood $c $o 50
		run probee $c -a $o x; exits 2; says '--freq'
	done
	understood $c -r 100
	understood $c -r
	for o in --time --seconds; do run probee $c $o x; typed+=" $o"; exits 2; says '--duration'; done
	for o in --all-cpus --system-wide; do run probee $c $o -p 1; typed+=" $o"; exits 2; says '-a and -p'; done
	run probee $c -a --all-user -K; typed+=' --all-user'; exits 2; says '--user-only and --kernel-only'
	run probee $c -a --all-kernel -U; typed+=' --all-kernel'; exits 2; says '--user-only and --kernel-only'
	for o in --subprocesses --children --follow --inherit --native --nativewalk --idle --nonblocking --no-pause --debug -z \
		 --no-buildid --no-buildid-cache -N -B -T --timestamp --threads-all --sample-cpu --no-browser --save-only --no-open --per-thread \
		 --compression-level; do
		understood $c $o
	done
	for o in --output-file --file --perf-max-stack --max-stack -m --mmap-pages --stack-storage-size --raw-file --spy-name; do understood $c $o 64; done
	for o in -n --name --process --process-name --pname; do understood $c $o cat; done
	for o in -u --user; do understood $c $o root; run probee $c $o no-such-user; exits 2; says '--uid'; done
	for o in -G --cgroup-filter; do understood $c $o '/x*'; done
	for o in -b --branch-any --branch-filter; do refused 'branches' $c $o; done
	for o in -D --delay; do refused '--from' $c $o 100; done
	refused 'probee snapshot -p PID -i 1 --waits' $c --gil
	refused 'probee dump' $c --locals
	refused '--pid PID' $c --no-inherit
	for f in json svg flamegraph html text txt csv ndjson folded collapsed collapse raw pprof speedscope firefox gecko perf callgrind; do
		understood $c --format $f
		understood $c --format=$f
		understood $c -f $f
		understood $c -f$f
	done
	understood $c -f out.html
	refused '--collapse' $c -f
	refused '--collapse' $c -af
	refused '-t TID' $c -t -F
	refused '-F 99' $c -F -o
	refused '-t TID' $c --main-thread-only
	refused 'sh -c' $c --iteration-count 3
	understood $c -spy-name rbspy
	for o in --function --full-filenames; do understood $c $o; done
	understood $c --profile-name x
	for o in -F --freq; do refused '99 is usual' $c $o max; done
	for o in --switch-output --overwrite; do refused 'probee help flight' $c $o; done
	refused 'SIGINT' $c --control fd:3
	understood $c --attach cat
	run probee $c --time-limit x; typed+=' --time-limit'; exits 2; says '--duration'
	for o in --launch --no-prompt; do understood $c $o; done
	for o in --template --instrument; do understood $c $o 'Time Profiler'; done
	for o in --remote-store-address --server-address --application-name; do
		refused '--push http://HOST:PORT' $c $o x
		refused '--push http://HOST:PORT' $c $o=x
	done
	for o in -s --sort; do refused '--by binary' $c $o dso; refused '--by binary' $c $o comm,pid; done
	for o in -o --output; do refused 'no JFR' $c $o x.jfr; refused '-o x.firefox.json.gz' $c $o x.json.gz; understood $c $o x.firefox.json.gz; understood $c $o x.speedscope.json.gz; done
	for o in -f --format; do refused 'no JFR' $c $o jfr; done
	refused 'no JFR' $c -f x.jfr
	run probee $c -L x; typed+=' -L'; exits 2; says '--tid'
	for o in --flamegraph --flame-graph --flame --folded; do understood $c $o; done
done
run probee sample -a --count 0;  typed+=' --count'; exits 2; says '--period'

# Words: a program, processes, seconds.
run probee sample no-such-program; exits 2; says 'there is no such program'; says '-p PID'
run probee sample -p 1 prog; exits 2; says 'a command and -p'
run probee sample -p 1 -K -U -- sleep 2; exits 2; says 'sleep 2: taken for -d 2'
run probee sample -p 1 -- sleep x; exits 2; says 'a command and -p'
run probee sample --callgrind -o out.cg -K -U -- prog; exits 2; says 'For the report there: --callgrind=out.cg'
run probee sample -C 0 -K -U -- prog; exits 2; says 'of this command alone'
run probee record -p 1 -t 2 prog -x --no-such; exits 2; says 'a command and -p'
run probee snapshot 1,x; exits 2; says 'probee snapshot -p PID'
run probee sample -a 1 2; exits 2; says '-a and -p'

# Options of reports.
means report -- report trace.pbz
means info -- info trace.pbz
means tui --once -- tui --once trace.pbz
run probee diff; exits 0; mv stdout wanted
run probee diff trace.pbz.old trace.pbz; cmp -s stdout wanted || wrong 'is another diff'
for o in -i --input; do
	means report $o trace.pbz -- report trace.pbz
	means info $o trace.pbz -- info trace.pbz
done
for o in --stdio --stdio2; do means report $o -- report --text; done
for o in -n --show-nr-samples --show-total-period --header --demangle --inline --children --no-children -g; do
	means report $o -- report
done
means report --call-graph caller -- report
means report --call-graph callee -- report --inverted
means report --call-graph fractal -- report
means report -G -- report --inverted
means report --total -- report
means report -n 3 -- report --top 3
refused 'speedscope.json' export --format speedscope trace.pbz -o out.json
refused 'a process by its number is -p PID' sample -n 2
means report --max-stack 10 -- report
means report --no-demangle -- report --full-names
for o in --order --compute; do means diff $o 1 -- diff; done
means dump -j -h -- dump -h
for o in --kallsyms --symfs --vmlinux -k; do refused 'probee symbolize' report $o x; done
refused '--event NAME' report --group
refused 'perf mem' report --mem-mode
refused '--from 2s' report --time 0,1
for o in -U --hide-unresolved; do refused '--exclude' report $o; done
refused '--callers' report --parent main
means report --hierarchy -- report
for o in -D --dump-raw-trace; do refused '--perf-script' report $o; done
for o in --dsos --dso; do refused '--by binary' report $o libc.so.6; done
means report -top 2 -- report --top 2
for o in -top -text -tree; do refused 'probee report FILE --text' report $o trace.pbz; done
refused '--callees FUNCTION' report -list=main trace.pbz
refused '--callers FUNCTION' report -peek main trace.pbz
refused 'probee serve FILE' report -http=:8080 trace.pbz
refused 'probee report FILE -o x.svg' report -web trace.pbz
refused 'probee report FILE -o x.pb.gz' report -proto trace.pbz
refused '--include' report -focus=main trace.pbz
refused 'probee diff BEFORE AFTER' report -diff_base=trace.pbz.old trace.pbz
refused 'no JFR' report -o x.jfr
for o in -s --sort; do
	means report $o comm,dso,symbol -- report --by comm
	means report $o pid -- report --by process
	means report $o cpu,tid -- report --by cpu,thread
	means report $o dso -- report --by binary
	means report $o comm,dso -- report --by comm,binary
	means report $o dso,sym -- report --by none
done
means report --percent-limit 20 -- report --min-percent 20
means report --comms 'w*' -- report --comm 'w*'
means report --tids 100 -- report --tid 100
for o in -S --symbols --symbol-filter --symbol --filter --focus --grep; do means report $o m -- report --include m; done
means report --ignore nosuchname -- report --exclude nosuchname
refused 'probee info' report --header-only
for o in -F --fields; do refused '--csv --columns' report $o comm,pid; done
refused '-o x.svg' report --exportTo x
for e in json svg html csv folded txt pb.gz; do
	for o in -o --output; do refused "probee report FILE -o x.$e" export trace.pbz $o x.$e; done
done
typed+=' --gtk'
run probee report --gtk; exits 2
for o in '--format' '-f'; do
	means report $o json -- report --json
	for f in text txt; do means report $o $f -- report --text; done
	for f in folded collapsed collapse raw; do means report $o $f -- report --collapse; done
	for f in svg flamegraph; do means report $o $f -- report --svg; done
	for f in csv ndjson speedscope callgrind; do means report $o $f -- report --$f; done
	for f in firefox gecko; do means report $o $f -- report --firefox; done
	means report $o perf -- report --perf-script
	means report $o html -- report --html
done
for o in --flamegraph --flame-graph --flame; do means report $o -- report --svg; done
for o in --format -f; do
	rm -f folded.txt
	run probee report $o raw -o folded.txt; exits 0; [ ! -s stdout ] || wrong 'prints folded stacks'
	run probee report --collapse; cmp -s stdout folded.txt || wrong 'wrote no folded stacks'
done
run probee report -o text.txt; exits 0; grep -q '^title' text.txt || wrong 'wrote no text'
for o in --format -f; do means report $o summary -- report --text; refused '--text --lines' report $o summary-by-line; done
means report --folded -- report --collapse
means report --format=json -- report --json

# Lines without a command. What is recorded is only said (--dry-run).
means trace.pbz -- report trace.pbz
for e in cpu itimer ctimer; do means -e $e --dry-run -- -e cpu-clock --dry-run; done
means -pid 12 --dry-run -- --pid 12 --dry-run
refused '--weight wall' -e wall
for e in alloc mem; do refused 'u:libc:malloc' -e $e; done
refused 'pthread_mutex_lock' -e lock
refused '-a -F 99' -e 'profile:hz:99 { @[ustack] = count(); }'
refused 't:syscalls:sys_enter_openat' -f 9 -e trace=openat
for o in -l --list; do means $o u:libc:malloc --dry-run -- --list-probes u:libc:malloc --dry-run; done
for o in -d --duration; do refused 'probee record -d 10' $o 1 -f x.html 12; done
refused 'probee report --by thread' -t -i 5ms
for o in -batch --batch -ex --ex; do refused 'probee dump PID' -p 1 $o bt; done
for o in -k --stack-traces; do refused 'probee sample -e t:syscalls' $o ./prog; done
for o in -c -f; do refused 'raw_syscalls:sys_enter' $o -p 1; done
for o in -top -text -tree -traces -cum; do refused 'probee report FILE --text' $o trace.pbz; done
refused '--callees FUNCTION' -list main trace.pbz
refused '--callers FUNCTION' -peek main trace.pbz
refused 'probee serve FILE' -http=:8080 trace.pbz
refused 'probee serve FILE' -http :8080 trace.pbz
for o in -web -svg -dot -png -pdf; do refused 'probee report FILE -o x.svg' $o trace.pbz; done
refused 'probee report FILE -o x.pb.gz' -proto trace.pbz
for o in -focus -ignore -nodecount -sample_index; do refused '--include' $o x trace.pbz; refused '--include' $o=x trace.pbz; done
refused 'probee record -d 10' -seconds 5 http://localhost/debug
refused 'Try: probee -p 12' -f 9 12
for o in -base -diff_base; do refused 'probee diff BEFORE AFTER' $o trace.pbz.old trace.pbz; done
for o in --node --remote-store-address --server-address --application-name; do
	refused 'probee agent --example' $o x
	refused 'probee agent --example' $o=x
done
for o in --node --remote-store-address --server-address --application-name --profiling-duration; do
	refused 'probee agent --config' agent $o x
	refused 'probee agent --config' agent $o=x
done
refused 'probee info' export --toc
for o in -i --input; do run probee export $o trace.pbz -o x.svg; typed+=" $o"; exits 2; says 'export makes tables'; done
for o in -collect --collect; do refused 'probee record -- COMMAND' $o hotspots ./prog; done
for o in -report --report; do refused '--text' $o hotspots; done
for o in -i --interval; do refused '-F 100' $o 10ms -p 1; done
run probee dump -ex 'thread apply all bt' -batch -p 2147483647; typed+=' -ex -batch'; says 'all threads are printed'
run probee dump --ex bt --batch -p 2147483647; typed+=' --ex --batch'; says 'all threads are printed'
run probee --no-such; exits 2; says 'a command stands first'
run probee -p 1 --help; exits 0; prints 'without a command'

# What looks alike is not what is meant.
run probee sample --statee x; exits 2; says 'Try: --state'
run probee sample --graph;    exits 2; says 'Try: probee sample --help'

# Nothing of the table is left out.
python3 - "$OLDPWD/src/base/habits.def" <<-'END' >spellings
	import re, sys
	text = re.sub(r"/\*.*?\*/", "", open(sys.argv[1]).read(), flags=re.S)
	text = re.sub(r'"\s*\n\s*"', "", text)
	for m in re.finditer(r'^(?:NO_)?COMMAND\("([^"]*)",|^(?:NO_)?OPTION\((?:"[^"]*"|[A-Z]+|\s)+,\s*"([^"]*)",', text, re.M):
	    print("\n".join((m[1] or m[2]).split()))
END
[ "$(wc -l <spellings)" -gt 150 ] || { echo "only $(wc -l <spellings) spellings"; failures=$((failures + 1)); }
for word in $(sort -u spellings); do
	[[ " $typed " == *" $word "* ]] || { echo "$word is in habits.def, and is not typed here"; failures=$((failures + 1)); }
done

# No trace, no guess.
rm trace.pbz trace.pbz.old
for c in report info tui verify; do run probee $c; exits 2; one_line; says 'there is no trace.pbz here'; done
run probee diff; exits 2; says 'are not both here'
finish
