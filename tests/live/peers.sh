#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/capture/waits src/proc bpf src/profile src/report src/waits
# The process at the other end of what a thread waits for: pipes, sockets, locks, children, and look-alikes.
. "$(dirname "$0")/lib.sh"

peers() { python3 -S "$LIVE/peers.py" "$@"; }
says() { grep -qE "$2" "$1" || { head -40 "$1"; return 1; }; }
of() { local word; for word in $READY; do [ "${word%%=*}" != "$1" ] || echo "${word#*=}"; done; }

start peers
ready=$READY
for word in $READY; do	# children of theirs that are not ours to wait for
	case $word in *.peer=0) ;; *) STARTED+=("${word#*=}") ;; esac
done
snapshot -a -F 2 -i 3 -o all.pbz
check "exit status" equal "$RC" 0
"$PROBEE" report -q all.pbz --waits-json >all.json
check "JSON as python reads it" python3 -S -m json.tool all.json /dev/null
! command -v jq >/dev/null || check "JSON as jq reads it" jq -e '.format == 1 and (.threads | length) > 20' all.json

# No thread has run between the first and the last scan, so the last one comes from REPEAT; --walk 1 is the first.
"$PROBEE" report -q all.pbz --walk 1 --waits-json >first.json
kinds="read=pipe write=pipe poll=pipe epoll=pipe high=pipe opath=pipe fifo=fifo stream=unix seqpacket=unix dgram=unix
	sendfull=unix named=unix tcp=tcp mapped=tcp tcp6=tcp flock=file-lock fcntl=file-lock waitany=child waitid=child vfork=vfork
	ringa=pipe ringb=pipe self=pipe sub=child subchild=pipe"
for word in $kinds; do
	name=${word%%=*}
	[ -n "$(of "$name")" ] || continue	# no IPv6 here
	for walk in first all; do
		check "$walk: $name waits for ${word#*=} of its peer" peers edge $walk.json "$(of "$name")" "${word#*=}" "$(of "$name.peer")"
	done
done
# A connection that is not accepted yet: kernels before 6.10 do not say which process it belongs to.
if [ "$(printf '6.10\n%s\n' "$(uname -r)" | sort -V | head -1)" = 6.10 ]; then
	check "unaccepted: the listener" peers edge all.json "$(of unaccepted)" unix "$(of unaccepted.peer)"
fi
check "several: two holders, nobody followed" peers holders all.json "$(of several)" 2
check "flight: no holder" peers holders all.json "$(of flight)" 0
for name in poll2 epoll2 epollmany closed waittwo; do
	check "$name: nobody" peers nobody all.json "$(of $name)"
done
check "inode and descriptor as /proc has them" peers proc all.json "$READY"

# Another pid namespace, and a connection of the same addresses and ports in another network namespace.
for name in ns.pipe:ns.peer ns.tcp:ns.tcppeer; do
	check "$name" peers comms all.json "${name%:*}" "${name#*:}"
done

# Rings.
"$PROBEE" report -q all.pbz --waits --all-waits >all.txt
check "ring of two pipes" says all.txt " ring.a $(of ringa)  .* data from pipe:.[0-9]+.  +ring.b $(of ringb)  "
check "child without room, parent that waits for it" says all.txt \
	" sub.child $(of subchild)  .* room in pipe:.[0-9]+.  +sub $(of sub)  "
check "parent of the two" says all.txt " sub $(of sub)  .* its child  +sub.child $(of subchild)  "
check "reads what only itself could write" says all.txt "^Possible deadlock .*: 1 thread waits for itself"
check "none of them is certain" not grep -q "^DEADLOCK" all.txt
check "rings in JSON" peers rings all.json "$READY"
check "several in words" says all.txt " several $(of several)  .*  2 processes$"

# A pipeline of a shell, recorded while the shell makes it and later.
bash -c 'exec sleep 60' | cat >/dev/null &
STARTED+=($!)
cat=$!
snapshot -a -F 5 -i 4 -o line.pbz
"$PROBEE" report -q line.pbz --waits-json >line.json
check "pipeline: cat waits for sleep" peers comms line.json cat sleep "$cat"

# The process at the other end is replaced by another while the waiting thread stays asleep.
python3 -S "$LIVE/peers.py" change >change.ready &
STARTED+=($!)
until_true 10 test -s change.ready
background "$PROBEE" snapshot -q -a -F 4 -i 12 -o change.pbz
recorder=$PID
sleep 1
read -r _ changer waiter <change.ready
kill -USR1 "$changer"
wait "$recorder"
"$PROBEE" report -q change.pbz --waits-json >change.json
check "one holder of two has left: the other one is named" peers comms change.json python3 python3 "$waiter"
done_testing
