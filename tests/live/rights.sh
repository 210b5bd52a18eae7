#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/rights src/commands src/recording
# core: yes
# beside: live
# Without rights, a command prints one line that says what is missing, and exits with 77. If the target does not exist, it
# prints one line and does not exit with 0.
. "$(dirname "$0")/lib.sh"

getent passwd nobody >/dev/null || skip "no user nobody"
install -m 755 "$PROBEE" probee
nobody() { setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$@"; }
cp -L /bin/true . && nobody ./true || skip "nobody cannot run a program in $T"

start chain30
mkdir -m 777 out
for args in "sample -a -d 1" "sample -p $PID -d 1" "snapshot -a -i 1" "snapshot -p $PID -i 1"; do
	nobody ./probee $args -o out/x.pbz >out.txt 2>"$T/err"
	RC=$?
	check "nobody, $args: exit status" equal "$RC" 77
	check "nobody, $args: one line" one_line "$T/err"
	check "nobody, $args: a remedy" grep -q "Try:" "$T/err"
done
nobody ./probee sample -o out/x.pbz -- touch out/ran >out.txt 2>"$T/err"
check "nobody, -- CMD: exit status" equal $? 77
check "nobody: the command did not run" not test -e out/ran

# Reports need no rights.
sample -p "$PID" -F 199 -d 1 -o out/trace.pbz
chmod 644 out/trace.pbz
check "nobody may report" nobody ./probee report out/trace.pbz --collapse
check "nobody may ask" nobody ./probee info out/trace.pbz
nobody ./probee doctor >doctor.out 2>&1
check "nobody may see the doctor" not equal $? 1
check "the doctor tells what is missing" grep -q cap_bpf doctor.out

# CAP_BPF and CAP_PERFMON are enough for stacks.
if setpriv --reuid=nobody --clear-groups --inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon \
	true 2>/dev/null; then
	setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups --inh-caps=-all,+bpf,+perfmon \
		--ambient-caps=-all,+bpf,+perfmon ./probee snapshot -p "$PID" -i 2 -F 10 -o out/caps.pbz 2>"$T/err"
	check "CAP_BPF and CAP_PERFMON: snapshot" equal $? 0
fi

# A pid that does not exist. (pid_max is at most 2^22.)
for args in "sample -p 0 -d 1" "sample -p 4999999 -d 1" "snapshot -p 4999999 -i 1" "snapshot -t 4999999 -i 1"; do
	run_limited $args -o out/none.pbz
	check "$args: exit status" not equal "$RC" 0
	check "$args: no crash, no hang" at_most "$RC" 77
	check "$args: one line" one_line "$T/err"
	check "$args: names it" grep -qE "4999999|process 0" "$T/err"
done
for args in "sample -p -1" "sample -p 1-" "snapshot" "sample -F 0 -a" "sample -F x -a" \
	"sample --unwind magic -a"; do
	run_limited $args -o out/none.pbz
	check "$args: usage" equal "$RC" 2
done
done_testing
