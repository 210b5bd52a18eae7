#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/commands/legacy.c src/commands/cmd_xstack.c src/commands/program.c
# beside: live
# timeout: 200
# Command lines of the ancestors, as their documents have them, do the same here and make files of the same kind. Times are cut to
# 0.3 s; a process takes the place of 1234.
. "$(dirname "$0")/lib.sh"

ln -s "$PROBEE" pbee
ln -s "$PROBEE" xstack
ln -s "$PROBEE" probee
PATH=$T:$PATH
start chain30 spin
SPIN=$PID

# is_kind FILE: by what is in it.
is_kind() {
	case $1 in
	*.svg) xmllint --noout "$1" && grep -q '<svg' "$1" ;;
	*.html) grep -q '<html' "$1" && ! grep -qE '(src|href)="https?:' "$1" ;;
	*.json) python3 -c 'import json, sys; t = json.load(open(sys.argv[1])); assert {"name", "value", "children"} <= set(t)' "$1" ;;
	*.txt) ! grep -vqE ' [0-9]+$' "$1" ;;
	esac
}

# line FILES COMMAND...: runs it; each of the files is there, of its kind, and nothing else is.
line() {
	local files=$1 file rc
	shift
	mkdir run && cd run || exit 1
	timeout -k 5 30 "$@" >out 2>"$T/err"
	rc=$?
	check "$*" equal "$rc" 0
	for file in $files; do check "  $file" is_kind "$file"; done
	check "  and no other file" equal "$(ls | grep -v '^out$' | sort | tr '\n' ' ')" "$(tr ' ' '\n' <<<"$files" | sort | tr '\n' ' ' | sed 's/^ *//')"
	cd .. && rm -rf run
}

line test.svg probee --svg test.svg -- top -b -n 1
line test.svg probee --svg test.svg -- ls -la /tmp
line test.svg pbee --svg test.svg --cmd "top -b -n 1"
line flamegraphs.html probee --time 300 --html flamegraphs.html
line profile.svg probee --svg profile.svg --frequency 9999 --time 300
line profile.svg probee --svg profile.svg --frequency 9999 --time 300 --group-by-cpu
line profile.txt probee --collapse profile.txt --frequency 999 --time 300
line "flamegraphs.html profile.json profile.svg profile.txt" \
	probee --time 300 --html flamegraphs.html --json profile.json --collapse profile.txt --svg profile.svg
line profile.txt probee --collapse profile.txt --frequency 99 --time 300 --skip-idle
line malloc.svg probee --uprobe malloc --time 300 --svg malloc.svg
line alloc.svg probee --uprobe malloc --uprobe 'ret:free' --time 300 --svg alloc.svg
line pthread.svg probee --uprobe 'pthread_*' --time 300 --svg pthread.svg
line sql.svg probee --uprobe '/^f1.*/' --pid "$SPIN" --time 300 --svg sql.svg
line malloc.svg probee --uprobe libc:malloc --time 300 --svg malloc.svg
line malloc.svg probee --uprobe "$(ls /usr/lib/*/libc.so.6 | head -1):malloc" --time 300 --svg malloc.svg
line malloc_ret.svg probee --uprobe ret:malloc --time 300 --svg malloc_ret.svg
line malloc_offset.svg probee --uprobe malloc+0x10 --time 300 --svg malloc_offset.svg
line malloc_pid.svg probee --uprobe malloc --uprobe-pid "$SPIN" --time 300 --svg malloc_pid.svg
line tracepoint.svg probee --tracepoint sched:sched_switch --time 300 --svg tracepoint.svg
line output.svg probee --pid "$SPIN" --svg output.svg --time 300
line output.svg probee --cpu 0 --svg output.svg --time 300
line output.svg probee --dwarf --svg output.svg --time 300 -- "$WORKLOADS/chain30" 1
line off.svg probee --off-cpu --min-block-time 10 --time 300 --svg off.svg
line "" probee --list-probes 'pthread_*' --pid "$SPIN"
line "" probee

# --- a command that cannot be run, as in a shell; what it returns is its own affair, as with probee sample
echo true >not_executable
for how in "--svg x.svg --cmd" "--svg x.svg --" "--serve --time 300 --cmd" "--serve --" "--tui --cmd"; do
	timeout -k 1 10 probee $how /nonexistent >/dev/null 2>"$T/err"
	check "$how: not there" equal $? 127
	check "$how: one line" equal "$(grep -c . "$T/err")" 1
	timeout -k 1 10 probee $how ./not_executable >/dev/null 2>"$T/err"
	check "$how: cannot be run" equal $? 126
done
probee --svg x.svg --cmd 'no-such-program | cat' 2>"$T/err"
check "--cmd: not there, in a pipe" equal $? 127
for cmd in 'sh -c "exit 3"' 'sh -c "kill -9 $$"' '"$SHELL" -c true'; do
	probee --svg x.svg --time 300 --cmd "$cmd" 2>"$T/err"
	check "--cmd $cmd: exit status" equal $? 0
done
rm -f x.svg
# --- with --time the server ends by itself
timeout -k 1 20 probee --time 300 --serve >/dev/null 2>"$T/err"
check "--time --serve" equal $? 0
timeout -k 1 20 probee --time 300 --serve --svg x.svg >/dev/null 2>"$T/err"
check "--time --serve --svg" equal $? 0
check "... makes the picture" is_kind x.svg
TERM=xterm timeout -k 1 20 script -qec 'probee --time 300 --tui' /dev/null >/dev/null 2>&1 </dev/null
check "--time --tui" equal $? 0
rm -f x.svg

mkdir dry && cd dry || exit 1
probee --svg a.svg -f 9999 -t 2000 --group-by-cpu --dry-run >dry 2>"$T/err"
check "--dry-run: the recording of today" grep -qx "probee sample -o TMP/trace.pbz -F 9999 -q -d 2000ms --include-idle" dry
check "--dry-run: the report" grep -qx "probee report TMP/trace.pbz --kernel-suffix=_k --svg=a.svg --by cpu" dry
probee --pid "$SPIN" --collapse x.txt --time 500 -f 499 2>"$T/err"
check "samples of that process alone" equal "$(grep -vc '^chain30;' x.txt)" 0
check "about as many as were asked for" at_least "$(awk '{ s += $NF } END { printf "%.0f\n", s }' x.txt)" 30
probee --collapse cpus.txt --time 300 --group-by-cpu 2>"$T/err"
check "--group-by-cpu: CPUs as roots" grep -qiE '^(cpu|CPU)' cpus.txt
probee --self-profile --collapse self.txt --time 500 -f 999 2>"$T/err"
check "--self-profile: probee itself" grep -q '^probee' self.txt
check "and not without it" not grep -q '^probee' cpus.txt
if [ ! -e /sys/bus/event_source/devices/kprobe ]; then
	probee --kprobe vfs_write --time 200 --svg kprobe.svg 2>"$T/err"
	check "a kernel without kprobes is told so" equal $? 77
fi
probee --svg a.svg --no-such-option 2>"$T/err"
check "an option that neither knows" equal $? 2
check "no trace is left behind" equal "$(find /tmp -maxdepth 1 -name 'probee.??????' -newer "$T/need.pbz" | wc -l)" 0
cd ..

# xstack
xstack -a -i 2 -F 10 >rows 2>"$T/err"
check "xstack -a" equal $? 0
check "its columns" equal "$(head -1 rows)" "timestamp|tid|tgid|comm|state|ustack|kstack"
check "seven of them in each row" awk -F'|' 'NF != 7 { bad++ } END { exit bad > 0 }' rows
check "its times" equal "$(tail -n +2 rows | cut -d'|' -f1 | grep -vcE '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}$')" 0
check "its words for states" awk -F'|' 'NR > 1 && $5 !~ /^(RUNNING|SLEEP|DISK|IDLE|WAKING|STOPPED|TRACED|ZOMBIE|DEAD|PARKED|0x[0-9a-f]+)$/ { print $5; bad++ } END { exit bad > 0 }' rows
check "both walks" awk -F'|' -v me="$SPIN" '$2 == me { n++ } END { exit n != 2 }' rows
probee xstack -qp "$SPIN" -i 1 >one 2>"$T/err"
check "xstack -q -p: no header, one row" equal "$(wc -l <one)" 1
xstack -p "$SPIN" -i 1 -r >reversed 2>"$T/err"
check "-r: the outermost function first" awk -F'|' 'NR == 2 { exit $6 !~ /^_start/ }' reversed
xstack -i 1 >/dev/null 2>"$T/err"
check "without a target: usage" equal $? 2
xstack >/dev/null 2>"$T/err"
check "without anything: usage, and success" equal $? 0
done_testing
