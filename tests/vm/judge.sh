# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Judges the files that guest.init left in the working directory by what must hold on every kernel. Sourced after lib.sh.

rc() { cat "$1.rc" 2>/dev/null || echo "no exit status"; }
# ran NAME [N]: probee succeeded and lost nothing, or less than one of N samples: while the host gives the emulator no CPU, time off
# the CPU comes faster than it is read. What was lost is the first that is shown.
ran() {
	grep ' lost' "$1.stderr" >"$T/err"
	cat "$1.stderr" >>"$T/err" 2>/dev/null
	check "$1: exit status" equal "$(rc "$1")" 0
	if [ "${2-}" ]; then
		check "$1: less than one of $2 is lost" awk -v n="$2" '/ samples? of / {
			all = $2; for (i = 2; i <= NF; i++) if ($i ~ /^lost;?$/) lost += $(i - 1) } END { exit lost * n > all || !all }' "$1.stderr"
	elif [ "${1%%-*}" != doctor ]; then
		check "$1: nothing lost" not grep -qE ' [1-9][0-9]* lost' "$1.stderr"
	fi
	: >"$T/err"
}
rows_of() { stacks rows "$@"; }

chain=main
for i in $(seq 30); do chain+=";f$i"; done

judge_start() {
	ran doctor
	check "doctor: can do all" grep -q '^probee can sample and snapshot here' doctor.stdout
	check "doctor: the kernel" grep -q "^ok    kernel: $RELEASE " doctor.stdout
	check "doctor: kernel names are seen" grep -q '^ok    kernel names' doctor.stdout
	tail -n 5 load_programs.stderr >"$T/err"
	check "all programs load" equal "$(cat load_programs.rc)" 0
	while read -r name verified jited; do
		[ "$name" != "#" ] || { echo "# loading them: $verified $jited"; continue; }
		# The kernel allows 1,000,000; the rest is time and memory while programs are loaded. Frame programs are verified
		# once in each program, and in on_task, which may sleep, together with its reads (129,000 on arm64).
		# on_uprobe runs shadow stacks, too.
		case $name in
		on_task*) [[ $RELEASE = *-arm64 ]] && most=150000 || most=90000 ;;
		on_uprobe*) most=80000 ;;
		*) most=62000 ;;
		esac
		check "$name: verified instructions" at_most "$verified" $most
		echo "# $name: $verified instructions verified, $jited bytes of code"
	done <load_programs.stdout
	check "programs" at_least "$(wc -l <load_programs.stdout)" 12
}

# judge_sample NAME ROOT: the whole chain of 30 functions, every time. On a busy host most ticks of an emulated CPU never come (a second
# of 99 Hz had 44 samples), so 20 are enough.
judge_sample() {
	ran "$1"
	folded "$1.pbz" >"$1.folded"
	check "$1: 30 deep" stacks share "$1.folded" "$chain" --of f30 --min 20
	[ -z "$2" ] || check "$1: reaches $2" stacks share "$1.folded" "$2" --of f30 --min 20
}

# Threads that existed before and after have one row each. probee itself has none.
once_each() {
	sort -u snapshot-all.before >before
	sort -u snapshot-all.after >after
	csv snapshot-all.pbz | awk -F'|' '/^[0-9]/ { if (!($2 in first)) first[$2] = 0; n[$2]++; tgid[$2] = $3 }
		END { for (t in n) print tgid[t], t, n[t] }' | sort >got
	comm -12 before after | awk 'NR == FNR { n[$1 " " $2] = $3; next }
		{ want++; if (n[$0] != 2) { bad++; if (bad < 4) print $0 ": " n[$0] + 0 " rows" } }
		END { print want " threads"; exit !(want > 50 && !bad) }' got -
}

# Inside a PID namespace: the threads of its /proc, with its numbers, and the same stacks as elsewhere.
judge_inside() {
	ran inside
	csv inside.pbz --weight wall | awk -F'|' '$4 == "threads" { print $3, $2 }' | sort -u >inside.rows
	check "inside a PID namespace: a process of 51 threads" equal "$(wc -l <inside.rows)" 51
	check "inside a PID namespace: numbers of /proc" equal "$(sort inside.threads | comm -13 - inside.rows | wc -l)" 0
	check "inside a PID namespace: those outside are counted" grep -q "from inside a PID namespace: [0-9]* threads" inside.stderr
	folded inside.pbz --weight cpu >inside.folded
	check "inside a PID namespace: 30 deep" stacks share inside.folded "$chain" --of f30 --min 20
}

# events NAME EVENT: how often it came.
events() { "$PROBEE" report "$1.pbz" --event "$2" --collapse 2>>"$T/err" | awk '{ s += $NF } END { printf "%.0f\n", s }'; }

# sh starts three programs, each of which sleeps once.
judge_probes() {
	if grep -q 'this kernel has no kprobes' probes-kernel.stderr; then
		skip_part "this kernel has no kprobes"
	else
		ran probes-kernel
		check "kprobe: each call" equal "$(events probes-kernel kprobe:do_nanosleep)" 3
		check "kprobe: a glob" equal "$(events probes-kernel 'kprobe:do_nano*')" 3
		check "kretprobe: each return" equal "$(events probes-kernel kretprobe:do_nanosleep)" 3
		check "tracepoint: each program" equal "$(events probes-kernel tracepoint:sched:sched_process_exec)" 4
		check "kretprobe: calls that take long, with their time" awk -v us="$(events probes-kernel kretprobe:hrtimer_nanosleep)" \
			'BEGIN { print us; exit !(us > 590000 && us < 6000000) }'
		folded probes-kernel.pbz --event kprobe:do_nanosleep >kprobe.folded
		check "kprobe: the function is the leaf" awk '!/;do_nanosleep_\[k\] / { bad++ } END { exit bad > 0 || !NR }' kprobe.folded
	fi
	if grep -q 'takes no programs of this kind' probes-traced.stderr; then
		skip_part "this kernel has no fentry"
	else
		ran probes-traced
		check "fentry: each call" equal "$(events probes-traced fentry:hrtimer_nanosleep)" 2
		check "fexit: each return" equal "$(events probes-traced fexit:hrtimer_nanosleep)" 2
		for kind in fentry fexit; do
			folded probes-traced.pbz --event $kind:hrtimer_nanosleep >$kind.folded
			check "$kind: the function is the leaf" awk '!/;hrtimer_nanosleep_\[k\] / { bad++ } END { exit bad > 0 || !NR }' $kind.folded
		done
	fi
	ran probes-user
	check "uprobe: each call" equal "$(events probes-user uprobe:/bin/counts:touch_pages)" 1
	check "uretprobe: each return" equal "$(events probes-user uretprobe:/bin/counts:touch_pages)" 1
	ran off-cpu 50
	folded off-cpu.pbz --event off-cpu >off-cpu.folded
	folded off-cpu.pbz --event irq >irq.folded
	check "interrupts: soft ones, and where in them" grep -qE '^interrupt;softirq [A-Z_]+;.*;(handle_softirqs|__do_softirq)_\[k\]' irq.folded
	check "interrupts: of the timer" grep -qE '^interrupt;irq (local_timer|[0-9]+ arch_timer)' irq.folded
	check "off-cpu: 20 calls deep" grep -q "descend$(printf ';descend%.0s' $(seq 20));take_a_nap" off-cpu.folded
	check "off-cpu: kernel stacks" grep -q "hrtimer_nanosleep_\[k\]\|do_nanosleep_\[k\]" off-cpu.folded
}

judge_whole_machine() {
	ran snapshot-all
	check "snapshot -a: two rows of each thread of /proc" once_each
	check "snapshot -a: no other rows but of threads that came or went" at_most \
		"$(cut -d ' ' -f 1,2 got | comm -23 - <(sort -u before after) | wc -l)" 2
	csv snapshot-all.pbz >all.csv
	folded snapshot-all.pbz >all.folded
	t=thread_main
	for i in $(seq 14); do t+=";t$i"; done
	check "snapshot -a: chains of sleeping threads" stacks share all.folded "$t" --of t14 --min 400
	read -r _ pid _ <threads.ready
	check "snapshot -a: to the root" stacks rooted all.csv "$pid"
	check "snapshot -a: kernel stacks" stacks kstacks all.csv "$pid" 99
	check "snapshot -a: on a CPU, whole" stacks share all.folded "$chain" --of f30 --min 1
	judge_states
	ran record
	folded record.pbz --weight cpu >cpu.folded
	folded record.pbz --weight wall >wall.folded
	check "record: CPU time" stacks share cpu.folded "$chain" --of f30 --min 20
	check "record: wall time" stacks share wall.folded "$t" --of t14
	if [ "$(cat cpus)" -le "$(nproc)" ]; then
		check "record: samples against /proc/stat" info_busy record.pbz
	else
		skip_part "record: samples against /proc/stat: more CPUs than this machine has, so their clocks stand still at times"
	fi
	check "report" "$PROBEE" report record.pbz --svg="$T/record.svg"
}

# The clock event and the kernel's own figures agree on how busy the CPUs were; in an emulated machine within 25 points.
# On a busy host an emulated CPU stands still for a share of the time in which it wants to run: its ticks never come, and
# the guest's accounts fill that time in by guesses. So up to 30 points more are allowed, in proportion to that share (with
# four spinning processes beside it 80 % of the time was missing, and 86.2 % by samples were 100 % by /proc/stat).
info_busy() {
	"$PROBEE" info "$1" | sed -n 's,^cpus *busy for \([0-9.]*\) % .* \([0-9.]*\) % by /proc/stat.*,\1 \2,p' |
		awk -v steal="$(cat "$T/steal")" '{
			d = $1 - $2; room = 25 + 30 * steal
			printf "%s %%, %s %%; %.0f %% of the time the host had no CPU\n", $1, $2, 100 * steal
			ok = d < room && d > -room } END { exit !ok }'
}

judge_states() {
	local pair want=()
	declare -A of
	for pair in $(cut -d ' ' -f 3- states.ready); do
		of[${pair%=*}]=${pair#*=}
		want+=("${pair#*=}=${pair%=*}")
	done
	check "states" stacks states all.csv "${want[@]}"
	for pair in R:running S:sleeping T:stopped t:traced D:disk; do
		check "state ${pair%%:*}: stack" awk -F'|' -v pid="${of[${pair%%:*}]}" -v name="state_${pair#*:}" '
			$3 == pid { n++; if ((";" $6) ~ (";" name "\\+0x")) ok++ }
			END { print ok + 0 " of " n; exit !(n && ok == n) }' all.csv
	done
}

# judge_chains NAME THREADS WALKS [OPTION]
judge_chains() {
	ran "$1"
	csv "$1.pbz" >"$1.csv"
	check "$1: none impossible" stacks chains "$1.csv" --marked 100 ${4:-}
	check "$1: at most 2 % marked" stacks chains "$1.csv" ${4:-}
	check "$1: one row per thread and walk" equal "$(rows_of "$1.csv")" $(($2 * $3))
	check "$1: threads on a CPU have stacks" awk -F'|' '
		$5 == "RUNNING" { n++; if ($6 ~ /alternate\+0x/) ok++ }
		END { print ok + 0 " of " n + 0; exit !(n >= 50 && ok >= 0.98 * n) }' "$1.csv"
}

# refused NAME RC [WORDS]: the documented exit status, and one line that says why.
refused() {
	cp "$1.stderr" "$T/err"
	check "$1: exit status" equal "$(rc "$1")" "$2"
	check "$1: one line" one_line "$1.stderr"
	check "$1: says why" grep -qE "^probee: .*${3:-Try: }" "$1.stderr"
	: >"$T/err"
}

# times_of TRACE: seconds since the first sample, and the year, for each sample.
times_of() {
	csv "$1" -q | awk -F'|' '{ split($1, t, /[-T :.]/); s = t[4] * 3600 + t[5] * 60 + t[6] + ("0." t[7])
		if (!n++) first = s; printf "%.3f %s\n", s - first, t[1] }'
}

# python_paths NAME [--none]
python_paths() {
	PROBEE=$PROBEE python3 -S "$VM/python_paths.py" "$1.pbz" "$ROOT/tests/workloads/python_path.py" /bin/python_path.py "${@:2}"
}

# Only where the RAM disk has a Python. Its names are read for a limited time, which a busy host may use up. Frame pointers do not tell
# on arm64 how far a frame goes, so that with them no frames of Python are better than those of another loop.
judge_interpreter() {
	[ -e python-sample.rc ] || return
	for name in python-sample python-snapshot; do
		ran $name
		check_in_time "$name: the path of calls, with file and line" python_paths $name
	done
	ran python-fp
	check_in_time "python-fp: no Python frames" python_paths python-fp --none
}

# What depends on seconds cannot be judged where emulated CPUs stand still for seconds (watch_steal()).
check_in_time() {
	local what=$1 steal
	shift
	steal=$(awk '{ printf "%d", 100 * $1 }' "$T/steal")
	if [ "$steal" -ge 45 ] && ! "$@" >/dev/null 2>&1; then
		skip_part "$what: for $steal % of the time the host had no CPU for this machine"
	else
		check "$what" "$@"
	fi
}

judge_changes() {
	[ -e hotplug.rc ] || { skip_part "this kernel cannot take a CPU offline"; return; }
	if [ "$(cat paranoid)" -gt 2 ]; then
		check_in_time "CPU hotplug, perf_event_paranoid 3: it is told that it cannot be sampled, and what helps" \
			grep -q 'CPU 1 is online but cannot be sampled: .*Try: .*perf_event_paranoid=2' hotplug3.stderr
	fi
	ran hotplug
	check_in_time "CPU hotplug: it is told that the CPU is gone" grep -q 'CPU 1 is offline and not sampled' hotplug.stderr
	check_in_time "CPU hotplug: and that it is back, and what is missing" grep -qE \
		'CPU 1 is online and sampled; [0-9.]+ s of it are missing' hotplug.stderr
	check_in_time "CPU hotplug: the trace says so" bash -c "'$PROBEE' info hotplug.pbz | grep -q 'CPU 1 is online and sampled'"
	# The workload runs there alone from then on: without samples of that CPU there would be none at all.
	times_of hotplug.pbz >hotplug.times
	check_in_time "CPU hotplug: samples to the end" awk '$1 > 3.5 { n++ } END { print n + 0; exit !(n >= 30) }' hotplug.times
	check_in_time "CPU hotplug: nobody says that the timer was late" not grep -q 'the timer fired' hotplug.stderr
	ran clock
	# --from counts from the first sample and knows no dates.
	samples_from() { folded clock.pbz --from "$1" -q | awk '{ n += $NF } END { printf "%.0f\n", n }'; }
	check_in_time "a CPU that comes online later is sampled" at_least "$(samples_from 2s)" 30
	check "clock step: the clock was set" equal "$(tail -n 1 clock.year)" 2041
	check "clock step: dates begin with those of the beginning" equal "$(times_of clock.pbz | head -n 1 | cut -d ' ' -f 2)" \
		"$(head -n 1 clock.year)"
	check_in_time "clock step: time goes on" at_least "$(samples_from 1s)" 30
	check "clock step: the recording took the time it was to take" bash -c \
		"'$PROBEE' info clock.pbz | grep -E '^when .*, for [3-9]\.[0-9]* s$'"
}

judge_rights() {
	refused sample-none 77
	refused snapshot-none 77
	check "CAP_BPF and CAP_PERFMON: snapshot" equal "$(rc snapshot-bpf,perfmon)" 0
	check "CAP_BPF and CAP_PERFMON: no kernel names, and says so" \
		grep -q "kernel functions stay without names.* Try: " snapshot-bpf,perfmon.stderr
	# Debian's own level 3 asks for CAP_SYS_ADMIN.
	if [ "$(cat paranoid)" -gt 2 ]; then
		check "CAP_BPF and CAP_PERFMON: sample is refused" equal "$(rc sample-bpf,perfmon)" 77
		check "CAP_BPF and CAP_PERFMON: and says why" sh -c \
			'tail -n 1 "$1" | grep -q "^probee: .*perf_event_paranoid=2"' sh sample-bpf,perfmon.stderr
	else
		check "CAP_BPF and CAP_PERFMON: sample" equal "$(rc sample-bpf,perfmon)" 0
	fi
}

# Whether the kernel shows its addresses is decided by two settings and a right: what is said is the one that helps.
judge_hidden() {
	check "kptr_restrict 2: a recording nevertheless" equal "$(rc kptr2)" 0
	check "kptr_restrict 2: which is said, and what helps" \
		grep -q "kptr_restrict is 2, which hides them from root as well. Try: sudo sysctl kernel.kptr_restrict=1$" kptr2.stderr
	check "kptr_restrict 2: no frame of the kernel has a name" equal "$(folded kptr2.pbz | grep -oE '[^;]*_\[k\]' | sort -u)" "[kernel]_[k]"
	check "perf_event_paranoid 2: which is said, and what helps" grep -q \
		"perf_event_paranoid is 2 and CAP_SYSLOG is missing. Try: .*sudo sysctl kernel.perf_event_paranoid=1$" paranoid2.stderr
	check "perf_event_paranoid 1: nothing is hidden" not grep -q "hides their addresses" paranoid1.stderr
	check "perf_event_paranoid 1: names without CAP_SYSLOG" grep -qE ';[a-z_0-9.]+_\[k\]' <(folded paranoid1.pbz)
}

# taken_away NAME WORDS: all recordings are refused, and the doctor knows why.
taken_away() {
	[ -e "$1-doctor.rc" ] || { skip_part "$1: this kernel cannot be put into that state"; return; }
	refused "$1-sample" 77 "$2"
	refused "$1-snapshot" 77 "$2"
	check "$1: doctor" equal "$(rc "$1-doctor")" 77
	check "$1: doctor says so" grep -qE "^no  .*($2).*Try: " "$1-doctor.stdout"
}

# skipped PART: the guest was told to leave it out, because it is done on another kernel. `make vm` does all on each.
skipped() { grep -q "probee.skip=[a-z_,]*$1" cmdline; }

judge_two_chains() {
	judge_chains twochains $(($1 + 5)) 250
	judge_chains twochains_fp $(($1 + 3)) 150 --allow-skips
}

judge_all() {
	local cpus
	cpus=$(cat cpus)
	check "the kernel that was asked for" equal "$(cat release)" "$RELEASE"
	judge_start
	judge_sample sample-auto _start
	judge_sample sample-dwarf _start
	judge_sample sample-fp ""
	judge_probes
	judge_whole_machine
	judge_interpreter
	skipped inside || judge_inside
	skipped two_chains || judge_two_chains "$cpus"
	skipped changes || judge_changes
	judge_rights
	skipped hidden || judge_hidden
	taken_away no-jit "BPF compiler.* off"
	taken_away no-btf BTF
	taken_away lockdown "lockdown.*confidentiality"
	check "the kernel complains of nothing" not grep . dmesg.bad
	echo "# guest: $cpus CPUs, $(cat done) s; $(cat cmdline)"
}
