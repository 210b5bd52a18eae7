# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Real receivers of profiles, sourced by tests/push/real_*.sh after tests/cli/lib.sh. All that is started listens on loopback, on
# free ports, keeps its files in $TMP and ends with the test; nothing else is ended.
#
#	need_protobuf			sets python: a python3 that has protobuf, and the modules of the official .proto files
#	need_collector			sets otelcol (tests/push/collector.sh)
#	need_pyroscope			sets pyroscope: $PYROSCOPE, or the one on PATH
#	start_collector			sets COLLECTOR, its URL; what it receives is in $TMP/otlp.bin (tests/push/readback.py)
#	stop_collector, restart_collector	at the same port, with the same file
#	start_pyroscope			sets PYROSCOPE_URL; each tenant sees only its own
#	stop_pyroscope, restart_pyroscope	with the same ports and data
#
# readback WHAT ARGUMENT...: tests/push/readback.py, which fails with what differs. With PUSH_VERBOSE=1 it says what was equal.
. tests/push/lib.sh

otelcol= pyroscope= python=
collector_pid= pyroscope_pid=
COLLECTOR= PYROSCOPE_URL=

end_receivers() {
	local pid
	for pid in $collector_pid $pyroscope_pid; do kill "$pid" 2>/dev/null; done
	for pid in $collector_pid $pyroscope_pid; do
		# A receiver writes for some seconds what it has; nobody wants that here.
		timeout 3 tail --pid="$pid" -f /dev/null || kill -KILL "$pid" 2>/dev/null
	done
	wait $collector_pid $pyroscope_pid 2>/dev/null
	collector_pid= pyroscope_pid=
}

need_protobuf() {
	protos || skip 'needs protoc and python3-protobuf'
	python=$receiver_python
	export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TMP/proto
}

need_collector() { otelcol=$(sh tests/push/collector.sh) || skip "$otelcol"; }

need_pyroscope() {
	pyroscope=${PYROSCOPE:-$(command -v pyroscope)}
	[ "$pyroscope" ] || skip 'there is no Pyroscope (PYROSCOPE=PROGRAM, or pyroscope on PATH)'
	[ -x "$pyroscope" ] || skip "PYROSCOPE=$pyroscope is no program"
}

# free_ports N: N ports that are free at the moment.
free_ports() {
	python3 -S - "$1" <<-'END'
		import socket, sys
		some = [socket.socket() for _ in range(int(sys.argv[1]))]
		for s in some: s.bind(("127.0.0.1", 0))
		print(*(s.getsockname()[1] for s in some))
	END
}

# wait_until SECONDS PID COMMAND...: until the command succeeds; not longer than the process lives.
wait_until() {
	local tries=$(($1 * 10)) pid=$2
	shift 2
	while ! "$@" >/dev/null 2>&1; do
		[ $((tries--)) -gt 0 ] && kill -0 "$pid" 2>/dev/null || return 1
		sleep 0.1
	done
}

answers() { curl -fsS --max-time 2 "$@"; }

# The answer to an empty request tells that the receiver of profiles is there, and not only its port.
collector_answers() {
	answers -X POST -H 'Content-Type: application/x-protobuf' --data-binary '' "$COLLECTOR/v1development/profiles"
}

collector_config() {
	cat <<-END
		receivers:
		  otlp:
		    protocols:
		      http: {endpoint: "127.0.0.1:$1"}
		exporters:
		  debug: {verbosity: basic}
		  file: {path: "$TMP/otlp.bin", format: proto, append: true, flush_interval: 100ms}
		service:
		  telemetry: {metrics: {level: none}}
		  pipelines:
		    profiles: {receivers: [otlp], exporters: [debug, file]}
	END
}

restart_collector() {
	"$otelcol" --config "$TMP/otelcol.yaml" --feature-gates=service.profilesSupport >>"$TMP/otelcol.log" 2>&1 &
	collector_pid=$!
	wait_until 30 $collector_pid collector_answers && return
	did='the collector'
	cp "$TMP/otelcol.log" "$TMP/stderr"
	wrong 'does not answer'
	finish
}

start_collector() {
	local port
	port=$(free_ports 1)
	COLLECTOR=http://127.0.0.1:$port
	collector_config "$port" >"$TMP/otelcol.yaml"
	restart_collector
}

stop_collector() {
	kill "$collector_pid"
	wait "$collector_pid"
	collector_pid=
}

# begin_gate PORT REQUESTS: a gate before a receiver (tests/push/gate.py); sets GATE, its URL. held: it holds a request; let_go: all
# may pass.
begin_gate() {
	rm -rf "$TMP/gate"
	mkdir "$TMP/gate"
	exec {gate}> >(exec python3 -S tests/push/gate.py "$TMP/gate" "$1" "$2" >"$TMP/gate/port")
	wait_until 10 $$ test -s "$TMP/gate/port"
	GATE=http://127.0.0.1:$(cat "$TMP/gate/port")
}
held() { [ -e "$TMP/gate/held" ]; }
let_go() { : >"$TMP/gate/go"; }
end_gate() { exec {gate}>&-; }

start_pyroscope() {
	read -r http grpc raft gossip < <(free_ports 4)
	PYROSCOPE_URL=http://127.0.0.1:$http
	restart_pyroscope
}

# Everything listens on loopback and keeps its data in its working directory. It is its new storage, whose parts find each
# other by these addresses.
restart_pyroscope() {
	local part addresses=()
	for part in compactor.ring.instance-addr distributor.ring.instance-addr ingester.lifecycler.addr \
		overrides-exporter.ring.instance-addr query-frontend.instance-addr query-scheduler.ring.instance-addr segment-writer.lifecycler.addr \
		store-gateway.sharding-ring.instance-addr; do
		addresses+=("-$part=127.0.0.1")
	done
	mkdir -p "$TMP/pyroscope"
	(cd "$TMP/pyroscope" && exec "$pyroscope" -target=all -config.expand-env=false -log.level=info \
		-architecture.storage=v2 -write-path=segment-writer -segment-writer.min-ready-duration=0s \
		-server.http-listen-address=127.0.0.1 -server.http-listen-port="$http" \
		-server.grpc-listen-address=127.0.0.1 -server.grpc-listen-port="$grpc" \
		-metastore.address="127.0.0.1:$grpc" -query-backend.address="127.0.0.1:$grpc" \
		-metastore.raft.server-id="127.0.0.1:$raft" -metastore.raft.bind-address="127.0.0.1:$raft" \
		-metastore.raft.advertise-address="127.0.0.1:$raft" \
		-memberlist.bind-addr=127.0.0.1 -memberlist.advertise-addr=127.0.0.1 \
		-memberlist.bind-port="$gossip" -memberlist.advertise-port="$gossip" "${addresses[@]}" \
		-self-profiling.disable-push=true -usage-stats.enabled=false -auth.multitenancy-enabled=true) \
		>"$TMP/pyroscope.log" 2>&1 </dev/null &
	pyroscope_pid=$!
	wait_until 90 $pyroscope_pid answers "$PYROSCOPE_URL/ready" && return
	did="$pyroscope"
	tail -n 20 "$TMP/pyroscope.log" >"$TMP/stderr"
	wrong 'is not ready'
	finish
}

stop_pyroscope() {
	kill "$pyroscope_pid"
	wait "$pyroscope_pid"
	pyroscope_pid=
}

readback() {
	run "$python" tests/push/readback.py "$@"; exits 0
	[ -z "${PUSH_VERBOSE:-}" ] || sed "s|^|$name by $1: |" "$TMP/stdout"
}

# The collector writes its file a little later than it answers.
wait_for_file() {
	local size=-1 tries=100
	while [ $((tries--)) -gt 0 ] && [ "$size" != "$(stat -c %s "$TMP/otlp.bin")" ]; do
		size=$(stat -c %s "$TMP/otlp.bin")
		sleep 0.3
	done
}
