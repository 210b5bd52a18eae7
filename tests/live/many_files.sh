#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/capture/processes src/capture/tables src/capture/stacks src/foreign src/parse src/model
# timeout: 240
# One user's processes map tens of thousands of files. Recordings end, other users' stacks are whole, and other processes of
# root's can pass descriptors.
. "$(dirname "$0")/lib.sh"

VICTIM='main'
for i in $(seq 30); do VICTIM+=";f$i"; done

# begin USER PROGRAM ARG...: like start, as another user. Sets PID.
begin() {
	local fd user=$1
	shift
	exec {fd}< <(exec setpriv --reuid="$user" --regid="$user" --clear-groups "$@")
	STARTED+=($!)
	read -r -t 60 -u "$fd" _ PID || { check "$1 gets ready" false; exit 1; }
}

cp "$WORKLOADS/memfds" "$WORKLOADS/chain30" . && chmod 755 memfds chain30
cp chain30 later
begin 4711 ./memfds 6000 calls
caller=$PID
begin 4711 ./memfds 9000 sleep
begin 4712 ./chain30 spin
first=$PID

# --- a recording of all, with few descriptors; more files, and another program, come while it runs
# Root could raise the limit.
bound() { exec setpriv --bounding-set -sys_resource --inh-caps -sys_resource "$@"; }
(ulimit -n 1500; bound "$PROBEE" sample -a -F 199 -o all.pbz 2>all.err) &
recorder=$!
STARTED+=($recorder)
sleep 2			# the length of the first part; nothing depends on it
begin 4711 ./memfds 6000 sleep
begin 4713 ./later spin
second=$PID
sleep 3
kill -INT $recorder
has_ended() { grep -q '^State:.Z' "/proc/$recorder/status" || [ ! -e "/proc/$recorder" ]; }
check "Ctrl-C ends it" until_true 20 has_ended
check "in good order" sh -c '"$PROBEE" info all.pbz | grep -q "^ended .*signal"'
folded all.pbz >all.folded
check "a program that was there before is whole" stacks share all.folded "$VICTIM" --of f30 --min 50 --comm chain30
check "and so is one that came later" stacks share all.folded "$VICTIM" --of f30 --min 50 --comm later
# What is missing of the user with the files is counted.
check "who has the files has stacks, too" stacks share all.folded "main;round_of" --of visited --percent 50 --comm memfds
check "and is named" grep -q "more executable mappings than are followed" all.err

# --- a recording of that process alone
sample -p "$caller" -F 199 -d 2 -q -o caller.pbz
check "the process alone: exit status" equal "$RC" 0
check "ended by its duration" sh -c '"$PROBEE" info caller.pbz | grep -q "^ended .*duration"'
folded caller.pbz >caller.folded
check "its own functions are whole" stacks share caller.folded "main;round_of" --of visited --percent 90

# --- snapshots
snapshot -a -i 5 -d 2 -q -o rows.pbz
check "snapshots: exit status" equal "$RC" 0
folded rows.pbz >rows.folded
check "snapshots: others are whole" stacks share rows.folded "$VICTIM" --of f30 --min 1 --comm chain30

# --- the user's other processes may pass descriptors meanwhile
cat >pass.py <<'PY'
import array, resource, socket
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
a, b = socket.socketpair()
a.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0]))])
PY
passes() {
	setpriv --bounding-set -sys_resource,-sys_admin --inh-caps -sys_resource,-sys_admin python3 pass.py 2>pass.err
}
"$PROBEE" sample -a -F 99 -q -o meanwhile.pbz 2>/dev/null &
recorder=$!
STARTED+=($recorder)
until_true 20 test -s meanwhile.pbz.part || sleep 2
check "root's services can pass descriptors" until_true 5 passes
sample -a -d 0.2 -q -o other.pbz
check "and another recording begins" equal "$RC" 0
kill -INT $recorder
check "both end" until_true 20 has_ended
done_testing
