#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/flight src/recording
# timeout: 300
# The flight recorder (--flight): each kind of trigger has the last seconds written, with a snapshot of every thread at that
# moment, as a trace like any other; triggers that come too soon are counted.
. "$(dirname "$0")/lib.sh"
. "$LIVE/flight_lib.sh"

start threads 20 sleep
SLEEPERS=$PID

# --- SIGUSR1: again and again, with snapshots in between
flight usr record --flight 6s --flight-after 1s --trigger-every 2s -F 99 -o usr.pbz
sleep 9		# more than it keeps
check "the keeper has the rights that files take, at most" \
	equal $((0x$(awk '/^CapPrm/ { print $2 }' "/proc/$FLIGHT/status") & ~0xb)) 0
kill -USR1 "$FLIGHT"
until_true 10 grep -q '^probee: trigger' usr.err
pkill -USR1 -P "$FLIGHT"	# its helpers and the recorder are not what the signal is for, and it ends none of them
kill -USR1 "$FLIGHT"		# too soon
check "SIGUSR1: a file comes" until_true 20 said_file usr.err 1
sleep 2
kill -USR1 "$FLIGHT"
check "SIGUSR1: and another one" until_true 20 said_file usr.err 2
kill -TERM "$FLIGHT"
ended usr
check "SIGUSR1: exit status" equal "$RC" 0
check "two files, and none at the end" equal "$(files usr*.pbz)" 2
check "it says what became of the triggers" grep -q '3 triggers, 2 files, 1 too soon' usr.err
for f in usr-*.pbz; do
	whole "SIGUSR1" "$f" SIGUSR1
	check "it ended by the trigger" equal "$(json "$f" 'd["ended"]["by"]')" trigger
	check "what came before is there, and not all that ever was" \
		awk -v k="$(json "$f" 'd["flight"]["kept"]')" 'BEGIN { print k " ms"; exit !(k >= 5000 && k <= 9500) }'
	check "and a second of what came behind" \
		awk -v d="$(json "$f" 'd["duration_ns"] / 1e9 - d["flight"]["at_s"]')" 'BEGIN { print d " s"; exit !(d > 0.8) }'
	check "every thread is in the snapshot of the trigger" equal "$(rows_near "$f" "$SLEEPERS")" 21
	check "stacks of the sleepers have names" grep -q 'thread_main;t1;t2' <(folded "$f" --event snapshot --all-threads)
	check "no sample is lost" equal "$(json "$f" 'd["lost"]["samples"]')" 0
	check "info says where it is" grep -q 'trigger *SIGUSR1' <("$PROBEE" info --no-pager "$f")
done
second=$(ls usr-*.pbz | tail -1)
check "the second knows of the one too soon" equal "$(json "$second" 'd["flight"]["too_soon"], d["flight"]["files"]')" "1 1"

# The scan of a trigger takes the place of the next one, so that rows still stand for the time that has passed: from that of the
# first trigger, which the second file has as well, to the next one it is longer than the interval.
first=$(ls usr-*.pbz | head -1)
asked=$(csv "$first" -q --event snapshot --columns scan --from "$(json "$first" 'd["flight"]["at_s"]')" | sort -n | head -1)
gap() {
	csv "$second" -q --event snapshot --all-threads --columns scan,timestamp | awk -F'[|: ]' -v s="$asked" '!($1 in t) { t[$1] = ($3 * 60 + $4) * 60 + $5 }
		END { g = s in t && s + 1 in t ? t[s + 1] - t[s] : 0; print g " s"; exit !(g < -80000 || g > 0.95) }'
}
check "the scan of a trigger is not one more" gap

# --- a probe, in a recording without snapshots: one file, which has one, of the name that was asked for
flight probe sample --flight 5s --flight-after 0 --trigger-count 1 --trigger "probe:u:$WORKLOADS/calls:leaf" -o probe.pbz
sleep 2
"$WORKLOADS/calls" 1 3 >/dev/null
ended probe
check "probe: exit status, by itself" equal "$RC" 0
whole probe probe.pbz "probe:u:$WORKLOADS/calls:leaf"
check "probe: its calls and samples are there" equal \
	"$(json probe.pbz '*sorted(e["name"].split(":")[-1] for e in d["events"])')" "cpu-clock leaf snapshot"
check "probe: there is one snapshot" equal "$(json probe.pbz 'd["snapshots"]["count"]')" 1
check "probe: which has every thread" equal "$(rows_near probe.pbz "$SLEEPERS")" 21
check "probe: and nothing counts as left out" equal "$(json probe.pbz 'd["lost"]["by_cause"].get("walks-left-out", 0)')" 0

# --- a USDT probe
flight usdt sample --flight 5s --flight-after 0 --trigger-count 1 --trigger "probe:usdt:$WORKLOADS/usdt:fixture:plain" -o usdt.pbz
sleep 1
"$WORKLOADS/usdt" calls 1 >/dev/null
ended usdt
check "USDT: exit status, by itself" equal "$RC" 0
whole USDT usdt.pbz "probe:usdt:$WORKLOADS/usdt:fixture:plain"

# --- a thread in D
flight disk record --flight 3s --flight-after 0 --trigger-count 1 --trigger 'd-state>1s' -o disk.pbz
sleep 1
start states
IN_D=$(sed -nE 's/.*D=([0-9]+).*/\1/p' <<<"$READY")
ended disk
check "d-state: exit status" equal "$RC" 0
whole d-state disk.pbz "d-state>1s: thread $IN_D for"
check "d-state: the thread is there" grep -qE "^$IN_D\|(DISK|KILLABLE)" <(csv disk.pbz -q --event snapshot --all-threads --columns tid,state)

# --- runnable threads, pressure, a control group: by the same spinners
CPUS=$(nproc)
flight runq record --flight 3s --flight-after 0 --trigger-count 1 --trigger "runq>$((CPUS + 3))" -o runq.pbz
start threads $((CPUS + 6)) spin
SPINNERS=$PID
ended runq
check "runq: exit status" equal "$RC" 0
whole runq runq.pbz "runq>$((CPUS + 3)): "

if [ -r /proc/pressure/cpu ]; then
	for over in '' ' over 2s'; do
		rm -f psi.pbz
		flight psi record -v --flight 3s --flight-after 0 --trigger-count 1 --trigger "psi:cpu>30%$over" -o psi.pbz
		ended psi
		check "psi$over: exit status" equal "$RC" 0
		whole "psi$over" psi.pbz "psi:cpu>30%$over: "
		[ "$over" ] || [ $((0x$(awk '/^CapEff/ { print $2 }' /proc/self/status) >> 24 & 1)) = 1 ] || continue	# CAP_SYS_RESOURCE
		check "psi$over: the kernel watches for it" not grep -q 'so it is read' psi.err
	done
else
	skip_part "this kernel does not measure pressure"
fi

unified=/sys/fs/cgroup
[ -e $unified/cgroup.controllers ] || unified=/sys/fs/cgroup/unified
GROUP=probee-flight-$$
if mkdir "$unified/$GROUP" 2>/dev/null; then
	flight group record --flight 3s --flight-after 0 --trigger-count 1 --trigger "cgroup:$GROUP cpu>20%" -o group.pbz
	sleep 2
	check "cgroup: an idle one is no trigger" equal "$(files group.pbz)" 0
	echo "$SPINNERS" >"$unified/$GROUP/cgroup.procs"
	ended group
	check "cgroup: exit status" equal "$RC" 0
	whole cgroup group.pbz "cgroup:$GROUP cpu>20%: "
	finish "$SPINNERS"
	until_true 5 rmdir "$unified/$GROUP"
else
	skip_part "no control group can be made here"
	finish "$SPINNERS"
fi

done_testing
