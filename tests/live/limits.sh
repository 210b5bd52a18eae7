#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/base src/recording src/capture src/foreign
# needs: quiet
# (Descriptors that other tests' processes of this user send to each other count against a limit.)
# What the machine or its administrator has taken away: descriptors, memory, CPUs, system calls, /proc and /sys. probee makes
# do with what is left, or says in one line what it needs and how much of it there is.
OWN_MOUNTS=1
. "$(dirname "$0")/lib.sh"

# under COMMAND... -- ARG...: probee under another command.
under() {
	local before=()
	while [ "$1" != -- ]; do before+=("$1"); shift; done
	shift
	timeout --foreground -k 5 "$TIME_LIMIT" "${before[@]}" "$PROBEE" "$@" 2>"$T/err"
	RC=$?
}
# refused WHAT RC WORDS: the exit status, and a last line with these words (a regular expression).
refused() {
	check "$1: exit status" equal "$RC" "$2"
	check "$1: says what and how much" bash -c "tail -n 1 '$T/err' | grep -E '^probee: .*($3)' >/dev/null"
}
# works WHAT TRACE: the recording succeeded, and all its stacks are whole.
works() {
	check "$1: exit status" equal "$RC" 0
	folded "$2" >"$2.folded"
	check "$1: stacks" stacks share "$2.folded" "_start;__libc_start_main" --of f30 --min 1
}
# as_user CAPS COMMAND...: another user with these capabilities and no others.
as_user() {
	local caps=-all,$1
	shift
	setpriv --reuid=65531 --regid=65531 --clear-groups --inh-caps="$caps" --ambient-caps="$caps" --bounding-set="$caps" "$@"
}
export -f as_user

start chain30 spin
target=$PID

# --- CPUs
sample -p "$target" -C 4095 -d 1 -o cpu.pbz
refused "-C 4095" 2 "CPU 4095 is not online here. Try: -C $(cat /sys/devices/system/cpu/online)"
if [ "$(nproc)" -gt 1 ]; then
	under taskset -c 0 -- sample -p "$target" -d 0.3 -o taskset.pbz
	works "allowed on one CPU" taskset.pbz
fi
group=/sys/fs/cgroup/cpuset/probee-test-$$
if mkdir $group 2>/dev/null && echo 0 >$group/cpuset.cpus && echo 0 >$group/cpuset.mems; then
	under bash -c "echo \$\$ >$group/cgroup.procs; exec \"\$@\"" sh -- sample -p "$target" -d 0.3 -o cpuset.pbz
	works "in a cpuset of one CPU" cpuset.pbz
	until_true 2 rmdir $group
else
	skip_part "no cpuset here"
fi

# --- a small stack: probee's own is not limited by it, and the command that it starts has the limit all the same
# small_stack ARG...: with 16 KiB and little in the environment, which lies on the stack, too. With 6 KB of it any program ends by
# SIGSEGV, /bin/true included, before its own code begins.
small_stack() { under env -i PATH="$PATH" HOME="$T/home" XDG_CACHE_HOME="$T/home" bash -c 'ulimit -s 16; exec "$@"' sh -- "$@"; }
mkdir home
small_stack record -p "$target" -d 0.3 -o stack.pbz
works "16 KiB of stack" stack.pbz
for command in "report stack.pbz --text" "info stack.pbz" "top --once -p $target -d 0.3" "snapshot -p $target -i 1 -o stack.pbz"; do
	small_stack $command >stack.out
	check "16 KiB of stack: ${command%% *}" equal "$RC" 0
done
under bash -c 'ulimit -s 200; exec "$@"' sh -- sample -q -o stack.pbz -- sh -c 'ulimit -s >stack.out'
check "the command has the limit" equal "$(cat stack.out)" 200

# --- descriptors
# Other processes of this user send each other many files, and the kernel counts those against the limit of who sends next.
# A recording takes a user of its own for what it sends; without CAP_SETUID it can only say so.
cat >senders.py <<'EOT'
import array, os, socket, time
pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(5)]
null = os.open("/dev/null", 0)
for a, _ in pairs:
    a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [null] * 200))])
open("sent", "w").close()
time.sleep(1000)
EOT
python3 -S senders.py &
senders=$!
STARTED+=("$senders")
until_true 10 test -e sent
for output in sent.pbz -; do
	under prlimit --nofile=600:600 -- sample -d 0.5 -p "$target" -o $output >piped.pbz
	[ $output = sent.pbz ] || cp piped.pbz sent.pbz
	works "1,000 descriptors under way, 600 may be open, -o $output" sent.pbz
done
check "the command is of its own user" equal \
	"$(prlimit --nofile=600:600 "$PROBEE" sample -q -o own.pbz -- sh -c 'exec grep Uid /proc/self/status' | tr -s '\t' ' ')" "Uid: 0 0 0 0"
no_setuid=(setpriv --bounding-set=-setuid,-sys_admin,-sys_resource --inh-caps=-setuid,-sys_admin,-sys_resource)
under prlimit --nofile=6 "${no_setuid[@]}" -- sample -d 0.2 -p "$target" -o few.pbz
refused "6 descriptors, 1,000 under way, no CAP_SETUID" 1 "more descriptors under way than a process may have open. Try: ulimit -n"
kill "$senders"
wait "$senders" 2>/dev/null
for command in "sample -d 0.2" "snapshot -i 1"; do
	# Files in messages of recordings beside this one count against the 6.
	for try in 1 2 3 4 5 6 7 8 9 10; do
		under prlimit --nofile=6 -- $command -p "$target" -o few.pbz
		grep -q 'descriptors under way' "$T/err" || break
		sleep $((try / 2))
	done
	refused "$command, 6 descriptors" 1 "6 may be open at a time, but [0-9]+ are needed here. Try: ulimit -n [0-9]+"
	needed=$(sed -nE 's/.*Try: ulimit -n ([0-9]+).*/\1/p' "$T/err")
	under prlimit "--nofile=${needed:-6}" -- $command -p "$target" -o few.pbz
	works "$command, as many as it asks for ($needed)" few.pbz
done
under prlimit "--nofile=6:$needed" -- $command -p "$target" -o few.pbz
works "a soft limit of 6 descriptors" few.pbz

# --- more mapped files than descriptors: the first ones have names, and what must be opened later can be
cat >map_many.py <<'EOT'
# Maps as many copies of a file as it is told, each with a build-id of its own.
import mmap, os, sys, time
path, number = sys.argv[1], int(sys.argv[2])
data = bytearray(open(path, "rb").read())
at = data.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16
maps = []
for i in range(number):
    data[at:at + 4] = i.to_bytes(4, "little")
    with open("copy%d" % i, "w+b") as f:
        f.write(data)
        f.flush()
        maps.append(mmap.mmap(f.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE))
print("ready", flush=True)
time.sleep(1000)
EOT
mkdir many && (cd many && exec python3 -S ../map_many.py "$WORKLOADS/chain30" 300) >many.out &
STARTED+=($!)
until_true 20 grep -q ready many.out
many=$(pgrep -P "${STARTED[-1]}" -x python3 || echo "${STARTED[-1]}")
under prlimit "--nofile=$((needed + 60))" -- sample -v -p "$target,$many" -d 0.5 -o many.pbz
works "more files than descriptors" many.pbz
check "more files than descriptors: none is unknown" grep -q " 0 unreadable" "$T/err"
check "more files than descriptors: no helper ends of it" grep -q "helpers: [0-9]* calls, 0 died" "$T/err"
kill "$many"

# --- address space, memory and the size of files: the recording succeeds, or says which limit it was and what to try
under bash -c 'ulimit -f 1; exec "$@"' sh -- sample -p "$target" -F 4000 -d 0.5 -o size.pbz
refused "files of 1 KiB" 1 "a file may have 1.0 KiB \(ulimit -f\). Try: ulimit -f unlimited"
"$PROBEE" sample -q -p "$target" -d 0.3 -o size.pbz
under bash -c 'ulimit -f 1; exec "$@"' sh -- report size.pbz --html=size.html
refused "a page of 1 KiB" 1 "write size.html: a file may have 1.0 KiB"
for limit in "-v 20000" "-v 30000" "-v 40000" "-v 50000" "-d 5000" "-d 20000"; do
	under bash -c "ulimit $limit; exec \"\$@\"" sh -- sample -q -p "$target" -d 0.2 -o space.pbz
	[ "$RC" = 0 ] || refused "ulimit $limit" 1 "of this process may have [0-9.]+ MiB \(ulimit ${limit% *}\), .*Try: ulimit ${limit% *}"
done
group=/sys/fs/cgroup/pids/probee-test-$$
if mkdir "$group" 2>/dev/null && echo 8 >"$group/pids.max"; then
	under bash -c "echo \$\$ >$group/cgroup.procs; exec \"\$@\"" sh -- sample -p "$target" -d 0.2 -o pids.pbz
	refused "8 processes and threads" 1 "may have 8 processes and threads, and has 8. Try: a limit .pids.max. of [0-9]+"
	until_true 5 rmdir "$group"
else
	skip_part "no control group for pids here"
fi

# --- memory that may be locked: the buffers of all CPUs share what a user may have
cp "$PROBEE" probee && mkdir -m 777 out
if as_user +bpf,+perfmon ./probee snapshot -q -p "$target" -i 1 -o out/x.pbz 2>/dev/null; then
	under bash -c 'as_user +bpf,+perfmon prlimit --memlock=0 ./probee "${@:2}"' sh -- record -p "$target" -d 0.3 -o out/lock.pbz
	works "no locked memory" out/lock.pbz
	check "no locked memory: processes are followed all the same" not grep "cannot follow" "$T/err"
else
	skip_part "capabilities cannot be given to another user"
fi

# --- a control group with little memory: BPF maps count there, too
group=/sys/fs/cgroup/memory/probee-test-$$ file=memory.limit_in_bytes
grep -qw memory /sys/fs/cgroup/cgroup.controllers 2>/dev/null && group=/sys/fs/cgroup/probee-test-$$ file=memory.max
# in_group MIB ARG...
in_group() {
	mkdir "$group" && echo $(($1 << 20)) >"$group/$file" || return
	under bash -c "echo \$\$ >$group/cgroup.procs; exec \"\$@\"" sh -- "${@:2}"
	until_true 5 rmdir "$group"
}
if mkdir "$group" 2>/dev/null && echo 1000000000 2>/dev/null >"$group/$file" && rmdir "$group"; then
	in_group 32 sample -p "$target" -d 0.3 -o group.pbz
	works "32 MiB" group.pbz
	check "32 MiB: smaller buffers, and says so" grep -qE 'little memory .*may have 32.0 MiB.*instead of 2.00' "$T/err"
	check "32 MiB: the trace says so" bash -c "'$PROBEE' info group.pbz | grep -q 'instead of 2.00'"
	in_group 32 record -a -d 1 -o group.pbz
	check "32 MiB, the whole machine: exit status" equal "$RC" 0
	check "32 MiB, the whole machine: says what it lacks" grep -q 'none for frames of interpreters' "$T/err"
	# What else runs on the machine may have more unwind tables than there is room for. Then stacks end early, and say so.
	folded group.pbz >group.folded
	check "32 MiB, the whole machine: each stack is whole, or says that it is not" \
		stacks like group.folded '(_start;__libc_start_main|\[truncated: (no-table|table-full)\];).*' --of f30 --percent 100 --min 5
	grep -q 'table of unwind rows is full' "$T/err" || works "32 MiB, the whole machine, all tables fit" group.pbz
	in_group 24 snapshot -a -d 1 -o group.pbz
	refused "24 MiB, snapshots" 1 "may have 24.0 MiB, [0-9.]+ MiB are used. Try: a limit of"
	in_group 8 sample -p "$target" -d 0.3 -o group.pbz
	refused "8 MiB" 1 "may have 8.0 MiB, [0-9.]+ MiB are used. Try: a limit of"
else
	rmdir "$group" 2>/dev/null
	skip_part "no control group for memory here"
fi

# --- system calls that the seccomp filter of a container forbids
under "$WORKLOADS/forbid" perf_event_open -- sample -p "$target" -d 0.3 -o call.pbz
refused "without perf_event_open" 77 "perf event .*Operation not permitted.*container.*seccomp"
under "$WORKLOADS/forbid" perf_event_open -- snapshot -p "$target" -i 1 -o call.pbz
works "snapshot without perf_event_open" call.pbz
check "snapshot without perf_event_open: says what it lacks" grep -q "cannot follow processes" "$T/err"
under "$WORKLOADS/forbid" bpf -- sample -p "$target" -d 0.3 -o call.pbz
refused "without bpf" 77 "load BPF programs: Operation not permitted.*container.*seccomp"

# --- /proc and /sys that show less
# without WHAT ARG...: WHAT is a mount command.
without() {
	under unshare -m bash -c "$1 && exec \"\$@\"" sh -- "${@:2}"
}
if unshare -m true 2>/dev/null; then	# not in a chroot whose root is no mount point
	without "mount -t tmpfs none /sys/kernel/btf" sample -p "$target" -d 0.3 -o sys.pbz
	refused "no BTF" 77 "offers no BTF .*CONFIG_DEBUG_INFO_BTF"
	without "mount -t tmpfs none /sys/devices/system/cpu" sample -p "$target" -d 0.3 -o sys.pbz
	refused "no list of CPUs" 77 "/sys/devices/system/cpu/possible: No such file.*Try: sudo mount"
	without "mount -t tmpfs none /proc" sample -p "$target" -d 0.3 -o sys.pbz
	refused "no /proc" 77 "/proc does not know this process.*Try: mount"
else
	skip_part "mounts cannot be made private here: /proc and /sys show all"
fi
hide='mount -t proc -o hidepid=2 proc /proc && as_user +bpf,+perfmon,+dac_read_search,+syslog test ! -e /proc/1/status'
if unshare -m bash -c "$hide" 2>/dev/null; then
	under unshare -m bash -c "$hide && as_user +bpf,+perfmon,+dac_read_search,+syslog ./probee \"\${@:2}\"" sh -- \
		snapshot -a -i 1 -o out/hidden.pbz
	check "hidepid: exit status" equal "$RC" 0
	check "hidepid: says so, once" equal "$(grep -c '/proc hides the processes of other users (hidepid).*Try: ' "$T/err")" 1
	csv out/hidden.pbz >hidden.csv
	check "hidepid: hidden threads have rows all the same" equal "$(stacks rows hidden.csv "$target")" 1
else
	skip_part "no hidepid here"
fi

# --- a kernel that calls itself older than is needed
setarch --uname-2.6 "$PROBEE" doctor >doctor.out 2>&1
check "an old kernel: the doctor says which is needed" grep -qE '^no  +kernel: 2\.6.*older than 5.18.*Try: ' doctor.out

# --- eight at a time: each has every sample of its own
jobs=()
for i in 1 2 3 4 5 6 7 8; do
	"$PROBEE" sample -v -p "$target" -F 199 -d 1 -o "eight$i.pbz" 2>"eight$i.err" &
	jobs+=($!)
done
ok=0
for i in 1 2 3 4 5 6 7 8; do
	wait "${jobs[i - 1]}" || continue
	submitted=$(sed -nE 's/.* ([0-9]+) submitted, 0 refused.*/\1/p' "eight$i.err")
	rows=$(csv "eight$i.pbz" -q | wc -l)
	[ "$rows" != "$submitted" ] || [ "$rows" = 0 ] || ok=$((ok + 1))
done
check "eight at a time: each is complete" equal "$ok" 8
done_testing
