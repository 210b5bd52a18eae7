#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/base/visible.c src/capture/processes src/symbolize src/tui
# timeout: 240
# Processes all of whose names are of what a terminal acts upon: program, directory, argument, thread, function of an ELF file, of a
# perf map and of Python, file, control group and host. Every command records, shows or looks at them, and what it prints and says
# may stand on a terminal. The commands and reports come from the program's help, so a new one is tried, too.
. "$(dirname "$0")/lib.sh"
CC=${CC:-gcc}
command -v "$CC" >/dev/null && [ -e "${OUT:-$ROOT/.out}/libprobee.a" ] || skip "nothing to build the judge with"
judge=$T/judge
(cd "$ROOT" && "$CC" -std=gnu11 -D_GNU_SOURCE -I. -o "$judge" tests/cli/make_strange.c "${OUT:-$ROOT/.out}/libprobee.a" -lzstd -lz -lpcre2-8 \
	-lseccomp -lcap-ng -lpthread) || { check "the judge is built" false; exit 1; }

# 15 bytes of it are the name of a thread: CSI, U+009B, U+202E, a byte that is no UTF-8, a bell; what follows is longer.
evil=$'\e[31m\xc2\x9b\xe2\x80\xae\xff\ae\xe2\x81\xa6\xd8\x9c\xf3\xa0\x81\x81\xe2\x80\x8b\xe2\x81\xa0\xef\xbb\xbf\xe2\x80\xa8\x9b2J\e]0;t\a'
line=$'\n'

# --- the processes

mkdir "$evil$line" && cd "$evil$line" || exit 1
objcopy --strip-debug --redefine-sym f30="$evil" --redefine-sym f29="f29$evil" "$WORKLOADS/chain30" "./$evil" 2>/dev/null ||
	cp "$WORKLOADS/chain30" "./$evil"
start "$PWD/$evil" spin
pids=$PID
if [ "$(uname -m)" = x86_64 ]; then
	start jit
	jit=$PID
	LC_ALL=C awk -v name="$evil" '{ print $1, $2, name }' "/tmp/perf-$PID.map" >map && cat map >"/tmp/perf-$PID.map"
	pids+=,$PID
fi
cat >hostile.py <<'END'
import ctypes, fcntl, os, sys, threading
evil = os.fsencode(sys.argv[1]) if len(sys.argv) > 1 else b"x"
text = evil.decode("utf-8", "replace")
named = lambda f: f.__code__.replace(co_name=text, co_filename=text + "\n.py", **({"co_qualname": text} if hasattr(f.__code__, "co_qualname") else {}))
call = ctypes.CDLL(None).prctl
def spin(n):
    while True: n = n * 3 % 1000003
def read(fd): os.read(fd, 1)
def lock(fd): fcntl.flock(fd, fcntl.LOCK_EX)
for f in spin, read, lock: f.__code__ = named(f)
def run(f, arg):
    call(15, evil, 0, 0, 0)
    f(arg)
os.mkfifo(evil + b".fifo")
for mine in True, False:
    fd = os.open(evil + b".lock", os.O_RDWR | os.O_CREAT)
    if mine: fcntl.flock(fd, fcntl.LOCK_EX)
threading.Thread(target=run, args=(lock, fd), daemon=True).start()
threading.Thread(target=run, args=(read, os.open(evil + b".fifo", os.O_RDWR)), daemon=True).start()
call(15, evil, 0, 0, 0)
print("ready", os.getpid(), flush=True)
spin(7)
END
start "$(type -P python3)" hostile.py "$evil$line" "--$evil"
pids+=,$PID
groups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
group=$groups/probee-$$-$evil
if [ "$groups" ] && mkdir "$group" 2>/dev/null && echo "$PID" 2>/dev/null >"$group/cgroup.procs"; then
	leave() {
		for pid in ${pids//,/ }; do echo "$pid" >"$groups/cgroup.procs"; done 2>/dev/null
		rmdir "$group"
	}
	trap 'leave; cleanup' EXIT
	for pid in ${pids//,/ }; do echo "$pid" >"$group/cgroup.procs"; done 2>/dev/null
else
	group=
	skip_part "no control group can be made"
fi

# --- what is printed about them

# The host's name is evil, too, where it may be another one.
named=(unshare -u python3 -c 'import os, socket, sys; socket.sethostname(os.fsencode(sys.argv[1])); os.execvp(sys.argv[2], sys.argv[2:])' "$evil")
"${named[@]}" true 2>/dev/null || named=(env)
tried=0
# safe COMMAND...: all that it prints and says, also what is not an answer.
safe() {
	local text
	timeout -k 5 "$TIME_LIMIT" "${named[@]}" "$PROBEE" "$@" >"$T/out" 2>"$T/err" </dev/null
	RC=$?
	tried=$((tried + 1))
	case $RC in 0 | 1 | 2 | 3 | 4 | 75 | 77) ;; *) check "$1: ends with one of its codes" equal "$RC" 0 ;; esac
	for text in "$T/err" "$T/out"; do
		case $text$(head -c 2 "$text" | od -An -tx1) in */out\ 1f\ 8b | */out\ 28\ b5) continue ;; esac
		"$judge" "$text" >"$T/where" || check "${*:0:4}: ${text##*/} may stand on a terminal" false "$(cat "$T/where")"
	done
}
# shows WHAT: it was there to be shown.
shows() { check "$1 is shown, escaped" grep -qF -e "$2" "$T/out"; }

safe sample -p "$pids" -F 499 -d 1 -v --cmdline --audit 1/5 -o "$evil.pbz"
check "recorded" equal "$RC" 0
safe snapshot -p "$pids" -i 3 -F 20 -v --cmdline --syscall-args -o snapshot.pbz
check "recorded" equal "$RC" 0
safe report "$evil.pbz" --collapse
shows "a function of an ELF file" '\x1b[31m\xc2\x9b\xe2\x80\xae\xff\x07e\xe2\x81\xa6'
shows "a thread" '\x1b[31m\xc2\x9b\xe2\x80\xae\xff\x07'
safe report "$evil.pbz" --csv
shows "a Python function" '\x1b[31m\xc2\x9b\xe2\x80\xae'$'\xef\xbf\xbd''\x07'
safe info "$evil.pbz"
shows "a command line" '--\x1b[31m'
safe report snapshot.pbz --waits
shows "a file" '.lock'

reports=$("$PROBEE" help report | sed -nE 's/^ +--([a-z-]+)\[=FILE\].*/\1/p')
check "reports are found in the help" at_least "$(wc -w <<<"$reports")" 14
for report in $reports; do safe report snapshot.pbz --"$report" --all-threads; done
safe report snapshot.pbz --by cgroup,process,thread,host --text
[ -z "$group" ] || shows "a control group" "probee-$$-"'\x1b[31m'
safe report snapshot.pbz --waits --stacks

for command in $("$PROBEE" complete COMMAND); do
	case $command in
	sample | snapshot | report | help) ;;		# above
	record) safe record -p "$pids" -d 0.5 --off-cpu -v --cmdline -o "$evil.record.pbz" --text --csv=x.csv ;;
	top)
		safe top -p "$pids" --once --view top -d 1
		safe top -p "$pids" --once --view threads -d 1
		;;
	tui) for view in processes flame top threads waits time health; do safe tui snapshot.pbz --once --view $view; done ;;
	serve)
		safe serve -p "$pids" -d 0.5 --until-end --listen 127.0.0.1:0 -v
		safe serve "$evil.pbz" --until-end --listen 127.0.0.1:x
		;;
	dump)
		safe dump -p "$pids" --native --all
		safe dump -p "$pids" --json
		;;
	push) safe push "$evil.pbz" --dry-run --to http://127.0.0.1:1 -v ;;
	agent) safe agent --config "$evil.conf" --check ;;
	diff) safe diff "$evil.pbz" "$evil.pbz" --all ;;
	merge) safe merge "$evil.pbz" snapshot.pbz -o "$evil.merged.pbz" ;;
	export) safe export "$evil.pbz" -o "$evil.parquet" ;;
	info) safe info snapshot.pbz --sizes && safe info snapshot.pbz --json ;;
	unwind-info)
		safe unwind-info "$PWD/$evil" "$evil" main --rows
		safe unwind-info "${pids%%,*}"
		;;
	symbolize) safe symbolize "$evil.pbz" --again --binary-dir / -o "$evil.named.pbz" ;;
	verify) safe verify "$evil.pbz" -v ;;
	probes)
		safe probes "u:$PWD/$evil:*" && safe probes "u:$PWD/$evil:$evil" && safe probes "u:$evil:*" -p "${pids%%,*}"
		safe sample -e "u:$PWD/$evil:f1" -d 0.3 --dry-run
		safe sample -e "u:$PWD/$evil:$evil" -d 0.3 -o probe.pbz -v
		;;
	xstack) safe xstack -p "${pids%%,*}" -i 2 && safe xstack -p "$PID" -i 2 ;;
	doctor) safe doctor && safe doctor --rights ;;
	*) check "this test knows the command $command" false ;;
	esac
done
# Commands that end at once, or cannot be started; and a trace that is none.
safe sample -d 0.3 -v -o ended.pbz -- "./$evil" spin
safe sample -d 0.3 -o none.pbz -- "./$evil$line" "$evil"
safe report "$PWD"
safe report hostile.py
check "commands that were tried" at_least $tried 50

# --- a terminal
for python in python3 /usr/bin/python3; do "$python" -c 'import pyte' 2>/dev/null && break; done
if "$python" -c 'import pyte' 2>/dev/null; then
	check "what the terminal gets" "$python" "$LIVE/foreign_screen.py" "$PROBEE" "$PWD/snapshot.pbz" "$PWD/$evil.pbz"
else
	skip_part "no python3-pyte"
fi
done_testing
