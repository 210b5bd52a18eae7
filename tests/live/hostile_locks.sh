#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/capture/waits bpf
# A process whose locks lie in memory that a file server must deliver: by turns, so that no check of the memory helps.
OWN_MOUNTS=1
. "$(dirname "$0")/lib.sh"

waits() { python3 -S "$LIVE/waits.py" "$@"; }
has_ended() { ! kill -0 "$1" 2>/dev/null || [ "$(sed 's/.*) //; s/ .*//' "/proc/$1/stat")" = Z ]; }

# The process that holds the trace and all samples reads nobody's memory: whatever it checks before, it may hang. One
# file does, in a child.
check "who reads memory of others" equal \
	"$(grep -rlE 'process_vm_readv\(|/pagemap|/proc/[^ ]*/mem"' "$ROOT/src" | sed "s,$ROOT/,,")" src/capture/stacks/memory_reader.c

cp "$WORKLOADS/flipping" . && chmod 755 flipping
cat >as-nobody <<'EOT'
#!/bin/bash
exec setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups ./flipping "$@"
EOT
chmod 755 as-nobody
mkdir -m 755 mnt
exec 9< <(exec "$WORKLOADS/hungfs" "$T/mnt" 2>"$T/hungfs.err")
STARTED+=($!)
server=
read -r -t 10 -u 9 _ server || skip "no FUSE here: $(cat hungfs.err)"

start waits deadlock 2
honest=$PID
exec 8< <(exec "$PWD/as-nobody" "$T/mnt/stack")
STARTED+=($!)
victim=
read -r -t 10 -u 8 _ victim
check "the hostile process runs" test -n "$victim"

# All in one recording, for as long as it may take.
begin=$(date +%s)
background "$PROBEE" snapshot -a -F 20 -i 60 -o flip.pbz 2>err
recorder=$PID
check "flipping locks: the recording ends on time" until_true 25 has_ended "$recorder"
has_ended "$recorder" || cat /proc/"$recorder"/{stat,wchan,stack} 2>/dev/null
finish "$victim"
finish "$server" TERM		# lets go of all who wait
wait "$recorder"
check "flipping locks: exit status" equal $? 0
echo "# $(($(date +%s) - begin)) s; $(grep -c hangs err) readers were left behind"
check "flipping locks: all snapshots" grep -q '60 snapshots of' err
check "flipping locks: nothing is lost" not bash -c "'$PROBEE' info flip.pbz | grep -qi 'not finished\|incomplete'"
check "flipping locks: all its threads have rows" at_least "$("$PROBEE" report -q flip.pbz --csv -p "$victim" | grep -c "|$victim|")" $((60 * 33))
waits rows flip.pbz >flip.rows
check "flipping locks: other deadlocks are found" at_least "$("$PROBEE" report -q flip.pbz --waits | grep -c '^DEADLOCK: 2 threads')" 1
: "$honest"
done_testing
