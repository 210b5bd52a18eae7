#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/commands/cmd_doctor.c src/commands/doctor_bpf.c src/commands/doctor_hidden.c src/commands/doctor_system.c
# probee doctor: runs without rights, one line per check, a remedy with every "no".
. tests/cli/lib.sh

well_formed() {
	grep -vE '^(ok  |warn|no  )  [^:]+: .+$|^probee can(not)? ' "$TMP/stdout" >"$TMP/odd"
	[ ! -s "$TMP/odd" ] || wrong "has odd lines: $(head -n 1 "$TMP/odd")"
	grep '^no ' "$TMP/stdout" | grep -v 'Try: ' >"$TMP/odd"
	[ ! -s "$TMP/odd" ] || wrong "has no remedy: $(head -n 1 "$TMP/odd")"
}

run probee doctor
case $rc in
0) prints 'probee can sample and snapshot here' ;;
77) prints 'probee cannot record here' ;;
*) wrong "exit $rc" ;;
esac
silent
well_formed
prints 'kernel: '"$(uname -r)"
prints 'interpreters: functions of python 3.8 to 3.14'
prints ' threads in snapshots: '
able=$rc

run probee doctor -q
exits "$able"
grep -q '^ok ' "$TMP/stdout" && wrong 'is not quiet'
run probee doctor too many; exits 2; says "'too'"

# The same without any rights, if root can drop them: the doctor must notice, and name the remedy.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	cp "$PROBEE" "$TMP/copy" && chmod 755 "$TMP" "$(dirname "$TMP")" "$TMP/copy"
	run setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$TMP/copy" doctor
	exits 77; silent; well_formed
	prints 'no    capabilities: missing cap_bpf,cap_perfmon'
	prints "sudo setcap cap_bpf,cap_perfmon=ep $TMP/copy"
	prints 'probee cannot record here'

	# Whether such a user sees kernel addresses is tried on the kernel itself; the doctor must name the true cause.
	if setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all grep -qm1 '^0*[1-9a-f]' /proc/kallsyms; then
		prints 'ok    kernel names'
	elif [ "$(cat /proc/sys/kernel/kptr_restrict)" = 0 ]; then
		prints "hides addresses: perf_event_paranoid is $(cat /proc/sys/kernel/perf_event_paranoid) and CAP_SYSLOG is missing"
	else
		prints "hides addresses: kptr_restrict is $(cat /proc/sys/kernel/kptr_restrict)"
	fi
fi

# A kernel that appears to have no type information.
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	run unshare -m sh -c "mount -t tmpfs none /sys/kernel && exec '$PROBEE' doctor"
	exits 77; well_formed
	prints 'no    type information (BTF)'
fi

run bash -c 'ulimit -n 8; "$PROBEE" doctor'
exits 77
prints 'no    open files'
finish
