#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/agent src/capture/tables bpf/user_rates.bpf.h src/commands/cmd_agent.c
# needs: quiet
# probee agent beside a user whose processes cost more than its budget: 4,000 threads of nobody run for a moment in each second, and one of
# another user always. Only nobody's rate is lowered. Who else works on this machine would cost the agent something, too.
. "$(dirname "$0")/lib.sh"
cd "$ROOT" || exit 1
command -v setpriv >/dev/null || skip "there is no setpriv"

json() { "$PROBEE" info --json "$1" | python3 -c "import json, sys; d = json.load(sys.stdin); print($2)"; }
said() { grep -q -e "$1" "$T/err"; }
cp "$WORKLOADS/chain30" "$WORKLOADS/neighbour" "$T" && chmod 755 "$T/chain30" "$T/neighbour"
background setpriv --reuid=1 --regid=1 --clear-groups "$T/chain30" spin
thrifty=$PID
background setpriv --reuid=65534 --regid=65534 --clear-groups "$T/neighbour" naps >"$T/crowd"
costly=$PID
check "his threads run" until_true 60 grep -q ready "$T/crowd"
printf '%s\n' '[record]' 'window = 1s' 'budget = 0.5%' '[spool]' "folder = $T/fair" >"$T/conf"
"$PROBEE" agent --config "$T/conf" 2>>"$T/err" &
agent=$!
STARTED+=("$agent")
# Whoever asks often is the costly one, so this test asks once a second, and only for the log and the number of windows.
seldom() {
	for _ in $(seq "$1"); do
		! "${@:2}" || return 0
		sleep 1
	done
	return 1
}
check "his rate is lowered, and the log says so" seldom 120 said 'for processes of user 65534: from the next window on one in 2 of their stacks is taken'
windows() { set -- "$T"/fair/*.pbz; [ $# -ge "$enough" ]; }
set -- "$T"/fair/*.pbz
enough=$(($# + 4))
check "more windows come" seldom 60 windows
trace=$(for f in "$T"/fair/*.pbz; do ! "$PROBEE" info "$f" 2>/dev/null | grep -q 'rate.users = .*\b65534=' || { echo "$f"; break; }; done)
check "a trace says so" test -n "$trace"
check "the others keep their rate" equal "$("$PROBEE" info "$trace" | grep -c 'rate.users = .*\b1=')" 0
"$PROBEE" report "$trace" -q --all-events --csv --columns=event,tgid,tid,weight,scan >"$T/fair.csv" 2>>"$T/err"
weights() { awk -F'|' -v event="$1" -v p="$thrifty" '$1 == event && $2 == p { print $4 }' "$T/fair.csv" | sort -u; }
check "each tick of the other weighs one" equal "$(weights cpu-clock)" "$(json "$trace" '[e["period"] for e in d["events"] if e["name"] == "cpu-clock"][0]')"
check "so does each of the other's rows" equal "$(weights snapshot)" "$(json "$trace" '[e["period"] for e in d["events"] if e["name"] == "snapshot"][0]')"
rows=$(awk -F'|' -v p="$costly" -v one="$(weights snapshot)" '$1 == "snapshot" { n[$5] } $1 == "snapshot" && $2 == p { w += $4; rows++ }
	END { for (i in n) scans++; print(rows < 2400 * scans && w / scans / one > 3800 && w / scans / one < 4200 ? "yes" : rows " rows in " scans " weigh " w / one) }' "$T/fair.csv")
check "his rows are fewer, and weigh as much as all of his threads" equal "$rows" yes
kill "$agent"
wait "$agent"
check "it ends in good order" equal $? 0
done_testing
