#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/foreign src/parse src/helpers src/capture/processes
# beside: live
# Files of recorded processes that hang, lie or are bombs, and helper processes that are killed: the recording ends in
# time, keeps what it has, and counts what it lacks.
OWN_MOUNTS=1
. "$(dirname "$0")/lib.sh"

ms_since() { echo $((($(date +%s%N) - $1) / 1000000)); }
finished() { "$PROBEE" info "$1" | grep -q '^ended'; }
# Whose name says what they are for; of this recording only.
helpers() {
	local keeper
	keeper=$(pgrep -P "$1" -x probee-keeper) && pgrep -P "$keeper" -x "$2"
}

# ctrl_c WHAT WORDS... FILE: a recording that is ended by Ctrl-C after 2 s ends in time, and whole.
ctrl_c() {
	local what=$1 recorder before
	shift
	"$PROBEE" "$@" 2>err &
	recorder=$!
	STARTED+=($recorder)
	sleep 2
	before=$(date +%s%N)
	kill -INT "$recorder"
	until_true 6 not kill -0 "$recorder" || kill ${server:+"$server"}	# lets go of who hangs
	wait "$recorder"
	check "$what: exit status" equal $? 0
	check "$what: ends" at_most "$(ms_since "$before")" 4000
	check "$what: the trace has its end" finished "${*: -1}"
}

# --- a debug link to a device is not followed. The directory is the program's own, so its name is not the attack.
mkdir bin dev
cp "$WORKLOADS/chain30" bin/linked
objcopy --only-keep-debug bin/linked bin/null 2>/dev/null
objcopy --strip-all --add-gnu-debuglink=bin/null bin/linked
rm bin/null
mknod dev/null c 1 3 && ln -s ../dev bin/.debug
exec 8< <(exec "$PWD/bin/linked")
STARTED+=($!)
read -r -t 10 -u 8 _ PID
cat >watch.py <<'EOT'
# Says "ready", and then "opened" for each time that the file is opened: IN_OPEN of inotify(7).
import ctypes, os, sys
libc = ctypes.CDLL(None)
fd = libc.inotify_init1(0)
assert libc.inotify_add_watch(fd, sys.argv[1].encode(), 0x20) >= 0
print("ready", flush=True)
while os.read(fd, 4096):
    print("opened", flush=True)
EOT
python3 -S watch.py "$PWD/dev/null" >opened &
STARTED+=($!)
until_true 10 grep -q ready opened
sample -p "$PID" -F 499 -d 1 -o device.pbz
check "debug link to a device: exit status" equal "$RC" 0
check "debug link to a device: never opened" equal "$(grep -c opened opened)" 0
: <dev/null
until_true 10 grep -q opened opened
check "debug link to a device: the watch can see it" grep -q opened opened
finish "$PID"

# --- a debug file on a file system that never answers when it is read, and not even when it is closed
mkdir hung && cp "$WORKLOADS/chain30" hung/linked
cp "$WORKLOADS/chain30" prog
objcopy --strip-all --add-gnu-debuglink=prog hung/linked
# Beside the binary it would have to be on the file system of the binary.
if ! [ -d /usr/lib/debug ] && mkdir /usr/lib/debug; then
	trap 'umount -Rl /usr/lib/debug; rmdir /usr/lib/debug; cleanup' EXIT
fi
mount -t tmpfs none /usr/lib/debug && mkdir -p "/usr/lib/debug$T/hung"
hung_debug_file() {	# hung_debug_file NAME [flush]
	local server= before
	exec 9< <(exec "$WORKLOADS/hungfs" "/usr/lib/debug$T/hung" "${@:2}" 2>hungfs.err)
	STARTED+=($!)
	read -r -t 10 -u 9 _ server || { skip_part "no FUSE here: $(cat hungfs.err)"; return; }
	exec 8< <(exec "$PWD/hung/linked")
	STARTED+=($!)
	read -r -t 10 -u 8 _ PID
	begin_sample hung.pbz -v -p "$PID" -F 499
	until_true 20 had_cpu "$PID" $(($(cpu_ms "$PID") + 300))
	before=$(date +%s%N)
	end_sample
	check "$1: exit status" equal "$RC" 0
	check "$1: ends within the budget" at_most "$(ms_since "$before")" 8000
	check "$1: the trace has its end" finished hung.pbz
	check "$1: it was waited for" at_least "$(sed -nE 's/.*helpers: .* ([0-9]+) stalled.*/\1/p' err)" 1
	check "$1: the stacks are there" at_least "$("$PROBEE" report -q hung.pbz --csv | wc -l)" 30
	ctrl_c "$1, Ctrl-C" sample -p "$PID" -F 499 -o hungint.pbz
	finish "$PID"
	finish "$server" TERM
}
hung_debug_file "hung debug file"
hung_debug_file "debug file that cannot be closed" flush

# --- programs whose symbol tables claim 4 GiB, in files with holes
cat >bomb.py <<'EOT'
# Makes the .symtab of an ELF64 file 4 GiB long, by a hole at its end.
import struct, sys
path = sys.argv[1]
f = open(path, "r+b")
head = f.read(64)
shoff, = struct.unpack_from("<Q", head, 40)
entsize, number = struct.unpack_from("<HH", head, 58)
f.seek(0, 2)
end = (f.tell() + 4095) & ~4095
for i in range(number):
    f.seek(shoff + i * entsize)
    section = bytearray(f.read(entsize))
    if struct.unpack_from("<I", section, 4)[0] == 2:
        struct.pack_into("<QQ", section, 24, end, 4 << 30)
        f.seek(shoff + i * entsize)
        f.write(section)
f.truncate(end + (4 << 30))
EOT
pids=
for i in 1 2 3 4; do
	cp "$WORKLOADS/chain30" "bomb$i"
	# Files that are equal share what is known of them, so each gets a build-id of its own.
	python3 -S - "bomb$i" "$i" <<'EOT'
import sys
data = open(sys.argv[1], "rb").read()
at = data.index(b"GNU\0", data.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 8) + 4
open(sys.argv[1], "r+b").write(data[:at] + bytes([int(sys.argv[2])]) + data[at + 1:])
EOT
	python3 -S bomb.py "bomb$i"
	exec 8< <(exec "$PWD/bomb$i" sleep)
	STARTED+=($!)
	read -r -t 10 -u 8 _ pid && pids+=,$pid
done
before=$(date +%s%N)
snapshot -p "${pids#,}" -F 5 -i 5 -o bombs.pbz
check "sparse symbol tables: exit status" equal "$RC" 0
check "sparse symbol tables: ends within the budget" at_most "$(ms_since "$before")" 25000
check "sparse symbol tables: the trace has its end" finished bombs.pbz
check "sparse symbol tables: every row is there" equal "$("$PROBEE" info bombs.pbz | sed -nE 's/^snapshots .* = ([0-9,]+) rows.*/\1/p')" 20
ctrl_c "sparse symbol tables, Ctrl-C" snapshot -p "${pids#,}" -F 5 -o bombsint.pbz
for pid in ${pids//,/ }; do finish "$pid"; done

# --- what probee forks for itself is not recorded; what it runs for the user is
record() { run_limited record "$@"; }
"$PROBEE" record -a -F 499 --snap-freq 5 -d 2 -o own.pbz 2>err &
recorder=$!
STARTED+=($recorder)
until_true 10 helpers "$recorder" probee-parser
own=$(pgrep -P "$recorder"; pgrep -P "$(pgrep -P "$recorder" -x probee-keeper)")
wait "$recorder"
"$PROBEE" report -q own.pbz --event snapshot --csv >own.csv
check "helpers are not recorded: there are some" at_least "$(echo "$own" | wc -w)" 3
check "helpers are not recorded" not grep -qE "^[^|]*\|(${own//$'\n'/|})\|" own.csv
record -F 499 --snap-freq 10 -o command.pbz -- sh -c 'for i in 1 2 3; do (sleep 0.2); done; :'
check "the command is recorded" grep -qE '\|(sh|sleep)\|' <("$PROBEE" report -q command.pbz --event snapshot --csv)

# --- helpers that are killed, the keeper among them
start chain30 spin
"$PROBEE" record -a -F 199 --snap-freq 5 -d 60 -v -o killed.pbz 2>err &
recorder=$!
STARTED+=($recorder)
killed=0 until=$((SECONDS + 40))
while kill -0 "$recorder" 2>/dev/null && [ $killed -lt 20 ] && [ $SECONDS -lt $until ]; do
	for name in probee-opener probee-parser probee-names; do
		helper=$(helpers "$recorder" $name | shuf -n 1) && [ -n "$helper" ] && kill -KILL "$helper" 2>/dev/null &&
			killed=$((killed + 1))
	done
	[ $((killed % 7)) -ne 3 ] || pkill -KILL -P "$recorder" -x probee-keeper
	/bin/true
	sleep 0.1
done
has_f30() { "$PROBEE" report -q killed.pbz --csv -p "$PID" 2>/dev/null | grep f30; }
until_true 20 has_f30
kill -INT "$recorder"
wait "$recorder"
check "killed helpers: exit status" equal $? 0
check "killed helpers: were there" at_least "$killed" 10
check "killed helpers: the trace has its end" finished killed.pbz
# /bin/true and what it maps are there, whatever happens to those who look: what is gone is not the reason.
"$PROBEE" info killed.pbz >info.txt 2>&1
check "killed helpers: no file is said to be gone that is there" not grep -qE '(/bin/true|chain30|libc).*(not there|gone)' info.txt
check "killed helpers: samples" at_least "$("$PROBEE" report -q killed.pbz --csv -p "$PID" | grep -c f30)" 1
finish "$PID"
done_testing
