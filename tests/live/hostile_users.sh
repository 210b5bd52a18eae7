#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/foreign src/parse src/helpers src/capture/processes
# One user has files that never answer. The recording ends in time, and the files of other users are read as always.
OWN_MOUNTS=1
. "$(dirname "$0")/lib.sh"

ms_since() { echo $((($(date +%s%N) - $1) / 1000000)); }
as_user() { setpriv --reuid="$1" --regid="$1" --clear-groups "${@:2}"; }

# serve DIR ARG...: a server on DIR; sets SERVER, which is empty if there is no FUSE.
serve() {
	local fd
	mkdir -p "$1"
	exec {fd}< <(exec "$WORKLOADS/hungfs" "$@" 2>hungfs.err)
	STARTED+=($!)
	SERVER=
	read -r -t 10 -u "$fd" _ SERVER
}

# hang FILE: a process of the hostile user has mapped it. Adds to HUNG.
hang() {
	local fd pid
	exec {fd}< <(as_user 4711 "$PWD/victim" prog "$1")
	STARTED+=($!)
	read -r -t 10 -u "$fd" _ pid && HUNG+=$pid,
}

# run_as USER PROGRAM: it sleeps. Sets PID.
run_as() {
	local fd
	exec {fd}< <(as_user "$1" "$2" sleep)
	STARTED+=($!)
	read -r -t 10 -u "$fd" _ PID
}

end_all() {
	local pid
	for pid in ${1//,/ }; do kill -KILL "$pid"; done
}

names() { csv "$1" | grep -c "|$2|.*f30+.*f1+.*main"; }

mkdir mnt && mount -t tmpfs none mnt && cd mnt || skip "no tmpfs here"
trap 'cd /; umount -Rl "$T/mnt"; cleanup' EXIT
cp "$WORKLOADS/victim" "$WORKLOADS/chain30" . && chmod 755 . victim chain30
serve "$PWD/0"
[ "$SERVER" ] || skip "no FUSE here: $(cat hungfs.err)"

# --- six file systems that never answer; and one of another user that does
HUNG=
hang "$PWD/0/prog"
for i in 1 2 3 4 5; do
	serve "$PWD/$i" && hang "$PWD/$i/prog"
done
serve "$PWD/slow" slow 1 "$PWD/chain30"
run_as 4712 "$PWD/slow/prog"
other=$PID
run_as 0 "$PWD/slow/prog"
before=$(date +%s%N)
snapshot -p "$HUNG$other,$PID" -i 1 -o served.pbz
check "file systems that hang: exit status" equal "$RC" 0
check "file systems that hang: names of another user's program" equal "$(names served.pbz "$other")" 1
check "file systems that hang: names of root's program" equal "$(names served.pbz "$PID")" 1
check "file systems that hang: ends" at_most "$(ms_since "$before")" 12000
end_all "$HUNG$other,$PID"

# --- the same beneath overlayfs, whose files are not copied

# hang_overlay NAME SERVED: a mapped file of an overlayfs that has the served directory beneath.
hang_overlay() {
	mkdir "upper$1" "work$1" "$1" &&
		mount -t overlay none -o "lowerdir=$2,upperdir=upper$1,workdir=work$1" "$1" 2>/dev/null && hang "$PWD/$1/prog"
}

# judge WHAT MS: the hung processes are recorded first, and then another user's.
judge() {
	local before
	run_as 4712 "$PWD/chain30"
	before=$(date +%s%N)
	snapshot -p "$HUNG$PID" -i 1 -o overlay.pbz
	check "$1: exit status" equal "$RC" 0
	check "$1: names of another user's program" equal "$(names overlay.pbz "$PID")" 1
	check "$1: ends" at_most "$(ms_since "$before")" "$2"
	end_all "$HUNG$PID"
}

HUNG=
for i in 1 2 3 4 5 6 7 8; do
	serve "$PWD/beneath$i" && hang_overlay "read$i" "beneath$i"
done
if [ "$HUNG" ]; then
	judge "overlay, files that hang when they are read" 9000	# 8 files, 1.5 s each, would be more
	# Whoever opens the file waits for the page that is being read.
	HUNG=
	for i in 1 2 3 4; do
		serve "$PWD/same$i" && hang_overlay "first$i" "same$i" && hang_overlay "second$i" "same$i"
	done
	judge "overlay, files that hang when they are opened" 12000
else
	skip_part "no overlayfs here"
fi
done_testing
