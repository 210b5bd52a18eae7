# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the agent takes when it has met all programs: CPU time of all its processes, in per cent of one CPU, and memory (PSS: pages that
# several of them share count once; RSS: the largest figure there is), at 97 Hz and a snapshot a second, windows of 15 s, beside 300
# threads that sleep. It sends to a receiver on this machine that takes everything. AGENT_S (60) seconds after AGENT_WARM_S (60).
# It is in a PID namespace of its own, so that whoever uses the machine meanwhile is not recorded.

if [ -z "${AGENT_INSIDE:-}" ]; then
	AGENT_INSIDE=1 OUT=$OUT PROBEE=$PROBEE ROUNDS=$ROUNDS unshare -pf --mount-proc "$here/bench.sh" agent
	return
fi
AGENT_S=${AGENT_S:-60} AGENT_WARM_S=${AGENT_WARM_S:-60}

start threads 300 sleep
many=$PID
mkdir receiver
exec {receiver_fd}> >(exec python3 "$root/tests/push/receiver.py" receiver >port 2>receiver.err)
for ((i = 0; i < 100; i++)); do [ ! -s port ] || break; sleep 0.1; done
[ -s port ] || cannot "the receiver does not start: $(tail -n 1 receiver.err)"

for ((round = 0; round < ROUNDS; round++)); do
	for what in "local" "sending"; do
		rm -rf spool
		{
			printf '%s\n' '[record]' 'budget = no' '[spool]' "folder = $T/spool"
			[ "$what" = "local" ] || printf '%s\n' '[target main]' "url = http://127.0.0.1:$(cat port)"
		} >agent.conf
		python3 -S "$here/agent_cost.py" "$AGENT_WARM_S" "$AGENT_S" "$PROBEE" agent.conf >out 2>err || { say "$what: $(tail -n 1 err)"; continue; }
		record '97 Hz and 1 Hz snapshots, 300 threads asleep: % of one CPU' "agent, $what" "$(of out cpu_percent)"
		record '97 Hz and 1 Hz snapshots, 300 threads asleep: PSS, MiB' "agent, $what" "$(of out pss_mib)"
		record '97 Hz and 1 Hz snapshots, 300 threads asleep: sum of RSS, MiB' "agent, $what" "$(of out rss_mib)"
		record 'a window of 15 s, KiB' "agent, $what" "$(calc "$(find spool -name '*.pbz' -printf '%s\n' | awk '{ n += $1 } END { print n / NR / 1024 }')")"
		say "$what: $(sed -n 's/^# //p' out)"
	done
done
exec {receiver_fd}>&-
finish "$many"
