#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/proc src/capture/processes bpf
# core: yes
# Processes that stay in the middle of exec(): a file that is closed by it lies on a file system that does not answer.
# Much of /proc waits for them then: stat, maps, and the links exe and root.
OWN_MOUNTS=1
. "$(dirname "$0")/lib.sh"

getent passwd nobody >/dev/null || skip "no user nobody"
mkdir -m 755 mnt
exec 9< <(exec "$WORKLOADS/hungfs" "$T/mnt" flush 2>"$T/hungfs.err")
STARTED+=($!)
server=
read -r -t 10 -u 9 _ server || skip "no FUSE here: $(cat hungfs.err)"
cp "$WORKLOADS/stuckexec" . && chmod 755 stuckexec
victims=()
for _ in 1 2 3; do
	background setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups ./stuckexec "$T/mnt/stack" >/dev/null
	victims+=("$PID")
done
is_stuck() { ! timeout 0.5 cat "/proc/${victims[2]}/environ" >/dev/null; }
until_true 10 is_stuck || skip "this kernel does not keep them in exec"
start chain30
busy=$PID

for what in "snapshot -F 5 -i 5" "sample -F 199 -d 2" "snapshot -p ${victims[0]} -i 1"; do
	name=${what%% *}
	begin=$(date +%s%N)
	# shellcheck disable=SC2086
	case $what in *-p*) run_limited $what -o stuck.pbz ;; *) run_limited $what -a -o stuck.pbz ;; esac
	took=$((($(date +%s%N) - begin) / 1000000))
	check "$what: exit status" equal "$RC" 0
	check "$what: ends" at_most "$took" 30000
	check "$what: the trace has its end" not bash -c "'$PROBEE' info stuck.pbz | grep -q 'not finished'"
	case $what in
	*-p*) check "$what: its row" equal "$("$PROBEE" report -q stuck.pbz --csv | grep -c "|${victims[0]}|${victims[0]}|")" 1 ;;
	*) check "$what: the others are there" at_least "$("$PROBEE" report -q stuck.pbz --csv -p "$busy" | grep -c 'f30')" 3 ;;
	esac
	check "$what: they are named" grep -q "process ${victims[0]} .*/proc/${victims[0]}/stat does not answer" err
	echo "# $what: $took ms"
done
finish "$server" TERM		# lets go of them
done_testing
