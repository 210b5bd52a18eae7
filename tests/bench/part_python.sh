# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Stacks of Python. First beside py-spy (fetched into a virtual environment) at 100 Hz on one process: how much longer it takes for
# its work, and the CPU time of the tool while it works. Then BPF time of a tick in a stack of PYTHON_FRAMES Python functions, and of the
# same code without them: a copy of the interpreter that says it is of a version that is not known. "a frame" is what each of 100 more
# functions adds. PYTHON: the interpreter, 3.11 or 3.12, whose version is in its own file.

PYTHON=${PYTHON:-/usr/bin/python3.11}
PYTHON_UNITS=${PYTHON_UNITS:-150000}
PYTHON_FRAMES=${PYTHON_FRAMES:-18}
PYTHON_S=${PYTHON_S:-4}
[ -x "$PYTHON" ] || cannot "no $PYTHON"

# start_python COMMAND...: sets PID.
start_python() {
	local fd word
	exec {fd}< <(exec "$@")
	STARTED+=($!)
	read -r -t 60 -u "$fd" word PID || cannot "$1 did not get ready"
	python_fd=$fd
}

# ticks_of PID: user and system time of the process and its children so far, in ticks of the clock.
ticks_of() { cat /proc/"$1"/stat $(sed 's#[0-9][0-9]*#/proc/&/stat#g' <(cat /proc/"$1"/task/*/children)) 2>/dev/null | sed 's/.*) //' | awk '{ n += $12 + $13 } END { printf "%.0f\n", n }'; }

# beside TOOL COMMAND...: %p is the process. Sets TOOK, and TICKS of the tool.
beside() {
	local tool=$1 words=() w before took
	shift
	start_python "$PYTHON" "$here/python_calls.py" 20 "$PYTHON_UNITS"
	TICKS=
	if [ $# -gt 0 ]; then
		for w; do words+=("${w//%p/$PID}"); done
		launched "life.$tool" "${words[@]}"
		sleep 2
		before=$(ticks_of "$TOOL_PID")
	fi
	kill -USR1 "$PID"
	read -r -t 120 -u "$python_fd" _ took || cannot "the program did not end beside $tool"
	TOOK=$took
	[ $# = 0 ] || TICKS=$(calc "$(ticks_of "$TOOL_PID") - $before")
	[ $# = 0 ] || { kill -INT "$TOOL_PID"; wait "$LAUNCH"; }
	finish "$PID"
}

spy=
if python3 -m venv "$T/venv" 2>/dev/null && "$T/venv/bin/pip" install -q py-spy 2>/dev/null; then
	spy=$T/venv/bin/py-spy
else
	say "no py-spy"
fi
for _ in $(seq "$ROUNDS"); do
	beside alone
	alone=$TOOK
	[ ! "$spy" ] || beside py-spy "$spy" record -r 100 -d 1000 -f raw -o "$T/spy.raw" -p %p
	[ ! "$spy" ] || record "python: % longer at 100 Hz" py-spy "$(calc "100 * ($TOOK - $alone) / $alone")"
	[ ! "$spy" ] || record "python: tool's CPU % meanwhile" py-spy "$(calc "$TICKS / $TOOK")"
	beside probee "$PROBEE" sample -q -F 100 -p %p -o "$T/python.pbz"
	record "python: % longer at 100 Hz" probee "$(calc "100 * ($TOOK - $alone) / $alone")"
	record "python: tool's CPU % meanwhile" probee "$(calc "$TICKS / $TOOK")"
done

# ticks NAME COMMAND...: BPF time for each sample.
ticks() {
	local name=$1 run ns samples
	shift
	start_python "$@"
	launched life.ticks "$PROBEE" sample -q -F 999 -p "$PID" -o "$T/ticks.pbz"
	sleep 2
	run=$(figure bpf "$TOOL_PID")
	sleep "$PYTHON_S"
	ns=$(awk -v before="$run" '{ split(before, b); print $1 - b[1] }' <<<"$(figure bpf "$TOOL_PID")")
	kill -INT "$TOOL_PID"
	wait "$LAUNCH"
	finish "$PID"
	samples=$("$PROBEE" report "$T/ticks.pbz" --csv -q | wc -l)
	US=$(calc "$ns / 1e3 / ($samples * $PYTHON_S / ($PYTHON_S + 2))")
	record "python: BPF us per sample, 999 Hz" "$name" "$US"
}

if "$PYTHON" -S "$here/unknown_python.py" "$(readlink -f "$PYTHON")" "$T/python" 2>"$T/err"; then
	chmod +x "$T/python"
	home=$("$PYTHON" -S -c 'import sys; print(sys.base_prefix)')
	echo 1 >/proc/sys/kernel/bpf_stats_enabled
	for _ in $(seq "$ROUNDS"); do
		ticks "native frames only" env PYTHONHOME="$home" "$T/python" "$here/python_calls.py" "$PYTHON_FRAMES"
		native=$US
		ticks "and $PYTHON_FRAMES of Python" "$PYTHON" "$here/python_calls.py" "$PYTHON_FRAMES"
		shallow=$US
		ticks "and $((PYTHON_FRAMES + 100)) of Python" "$PYTHON" "$here/python_calls.py" $((PYTHON_FRAMES + 100))
		record "python: BPF us that $PYTHON_FRAMES functions add" probee "$(calc "$shallow - $native")"
		record "python: BPF ns a frame" probee "$(calc "($US - $shallow) * 10")"
	done
	echo "$stats_before" >/proc/sys/kernel/bpf_stats_enabled
else
	say "$(tail -n 1 "$T/err")"
fi
