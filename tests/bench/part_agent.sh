# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the agent takes when it has met all programs: CPU time of all its processes, in per cent of one CPU, and memory (PSS: pages that
# several of them share count once; RSS: the largest figure there is), at 97 Hz and a snapshot a second, windows of 15 s, beside 300
# threads that sleep. It sends to a receiver on this machine that takes everything. AGENT_S (60) seconds after AGENT_WARM_S (60).
# It is in a PID namespace of its own, so that whoever uses the machine meanwhile is not recorded.
#
# PROFILER=PROGRAM, the OpenTelemetry eBPF profiler, is measured in turn with it: 97 Hz, a report every 5 s, to a collector (OTELCOL), to which
# the agent sends, too. It knows processes by their numbers in the machine's own namespace, so both run there, and the
# machine must be quiet.

[ -z "${PROFILER:-}" ] || AGENT_INSIDE=1
if [ -z "${AGENT_INSIDE:-}" ]; then
	AGENT_INSIDE=1 OUT=$OUT PROBEE=$PROBEE ROUNDS=$ROUNDS unshare -pf --mount-proc "$here/bench.sh" agent
	return
fi
AGENT_S=${AGENT_S:-60} AGENT_WARM_S=${AGENT_WARM_S:-60}

# --- who receives

stub_receiver() {
	mkdir receiver
	exec {receiver_fd}> >(exec python3 "$root/tests/push/receiver.py" receiver >port 2>receiver.err)
	for ((i = 0; i < 100; i++)); do [ ! -s port ] || break; sleep 0.1; done
	[ -s port ] || cannot "the receiver does not start: $(tail -n 1 receiver.err)"
}

# real_collector: its ports are in the files port (HTTP) and grpc; what it receives goes nowhere.
real_collector() {
	local otelcol
	otelcol=$(cd "$root" && sh tests/push/collector.sh) || cannot "$otelcol"
	python3 -S -c 'import socket
some = [socket.socket() for _ in range(2)]
for name, s in zip(("port", "grpc"), some): s.bind(("127.0.0.1", 0)); print(s.getsockname()[1], file=open(name, "w"))'
	cat >otelcol.yaml <<-END
		receivers:
		  otlp:
		    protocols:
		      http: {endpoint: "127.0.0.1:$(cat port)"}
		      grpc: {endpoint: "127.0.0.1:$(cat grpc)"}
		exporters:
		  file: {path: /dev/null, format: proto}
		service:
		  telemetry: {metrics: {level: none}}
		  pipelines:
		    profiles: {receivers: [otlp], exporters: [file]}
	END
	"$otelcol" --config otelcol.yaml --feature-gates=service.profilesSupport >otelcol.log 2>&1 &
	collector=$!
	sleep 3
	kill -0 $collector || cannot "the collector does not start: $(tail -n 1 otelcol.log)"
}

# --- what is measured

agent_command() {
	rm -rf spool
	{
		printf '%s\n' '[record]' 'budget = no' '[spool]' "folder = $T/spool"
		[ "$1" = local ] || printf '%s\n' '[target main]' "url = http://127.0.0.1:$(cat port)"
	} >agent.conf
	command=("$PROBEE" agent --config agent.conf)
}

profiler_command() {
	# It asks for tracepoints, so it needs tracefs, in a mount namespace of its own.
	command=(unshare -m sh -c 'mount --make-rprivate /; mount -t tracefs nodev /sys/kernel/tracing && exec "$0" "$@"' "$PROFILER"
		-collection-agent "127.0.0.1:$(cat grpc)" -disable-tls -samples-per-second 97 -reporter-interval 5s)
}

# measure WHO: runs the command.
measure() {
	local load='97 Hz, 300 threads asleep'
	python3 -S "$here/agent_cost.py" "$AGENT_WARM_S" "$AGENT_S" "${command[@]}" >out 2>err || { say "$1: $(tail -n 1 err)"; return 1; }
	record "$load: % of one CPU" "$1" "$(of out cpu_percent)"
	record "$load: PSS, MiB" "$1" "$(of out pss_mib)"
	record "$load: sum of RSS, MiB" "$1" "$(of out rss_mib)"
	say "$1: $(sed -n 's/^# //p' out)"
}

start threads 300 sleep
many=$PID
kinds=("local" sending)
if [ "${PROFILER:-}" ]; then
	real_collector
	kinds=(sending)
else
	stub_receiver
fi
for ((round = 0; round < ROUNDS; round++)); do
	for what in "${kinds[@]}"; do
		agent_command "$what"
		measure "agent, $what" || continue
		record 'a window of 15 s, KiB' "agent, $what" "$(calc "$(find spool -name '*.pbz' -printf '%s\n' | awk '{ n += $1 } END { print n / NR / 1024 }')")"
	done
	[ -z "${PROFILER:-}" ] || { profiler_command; measure 'OTel eBPF profiler'; }
done
[ -z "${receiver_fd:-}" ] || exec {receiver_fd}>&-
[ -z "${collector:-}" ] || { kill $collector; wait $collector; }
finish "$many"
