#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/push
# timeout: 1600
# needs: quiet
# A real OpenTelemetry collector receives what is pushed, and what it writes is what the trace says.
. tests/consumers/lib.sh
. tests/push/receivers.sh
. tests/push/traces.sh
need_protobuf
need_collector
trap end_receivers EXIT
make_traces
start_collector

# received TRACE [OPTION...]: pushes the trace to the collector, and compares what comes out of it. What was sent is looked at, too,
# because a collector takes nearly everything, and numbers strings anew.
received() {
	name=$1
	shift
	: >"$TMP/otlp.bin"
	run probee push --to "$COLLECTOR" "$@" "$TMP/$name.pbz"; exits 0
	wait_for_file
	readback otlp "$TMP/otlp.bin" "$TMP/$name.pbz" "${compared[@]}"
	receiver sent
	run probee push --to "http://127.0.0.1:$port" "$@" "$TMP/$name.pbz"; exits 0
	receiver_end
	readback otlp "$dir" "$TMP/$name.pbz" "${compared[@]}"
}

compared=()
for name in plain hostile two apart events; do received $name; done
compared=(--service shop --label zone=eu-1 --label team=a,b)
received events --service shop --label zone=eu-1 --label team=a,b
compared=(--rebased)
received plain --rebase-time
compared=(--window 2)
! record_trace || received recorded --window 2s
finish
