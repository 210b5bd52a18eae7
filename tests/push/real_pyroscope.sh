#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/push
# timeout: 1000
# needs: quiet
# A real Pyroscope receives what is pushed, in each of the three ways, and its answers are what the trace says. Each push is of
# a tenant of its own.
. tests/consumers/lib.sh
. tests/push/receivers.sh
. tests/push/traces.sh
need_protobuf
need_pyroscope
trap end_receivers EXIT
make_traces
start_pyroscope

# received TRACE PROTOCOL [OPTION...]
received() {
	local protocol=$2 tenant=$1-$2
	name=$1
	shift 2
	run probee push --to "$PYROSCOPE_URL" --protocol "$protocol" --tenant "$tenant" "$@" "$TMP/$name.pbz"; exits 0
	readback pyroscope "$PYROSCOPE_URL" "$TMP/$name.pbz" --tenant "$tenant" "${compared[@]}"
}

# Fixed traces are too old for a receiver.
compared=()
run probee push --to "$PYROSCOPE_URL" --protocol pyroscope --tenant old "$TMP/plain.pbz"
[ "$rc" != 0 ] || wrong 'says that a trace of long ago was taken'
for protocol in otlp pyroscope ingest; do
	compared=(--rebased)
	for name in plain hostile events; do received $name $protocol --rebase-time; done
	compared=(--rebased --service shop --label zone=eu-1)
	received two $protocol --rebase-time --service shop --label zone=eu-1
done
# More distinct stacks than one profile may have, and more bytes than Pyroscope takes in a second by default (4 MiB). A request
# of several profiles that meets this limit is stored in part and refused, so senders have to stay below it.
run "${CC:-gcc}" -O1 -std=gnu11 -D_GNU_SOURCE -I. -Wno-unused -o "$TMP/make_recording" tests/bench/make_recording.c "$OUT/libprobee.a" \
	-lzstd -lz -lpcre2-8 -lseccomp -lcap-ng -lpthread; exits 0
run "$TMP/make_recording" "$TMP/large.pbz" samples=40000 hz=97 cpus=64 threads=64 stacks=20000 lines=1 scans=1; exits 0
compared=(--rebased --quick)
for protocol in otlp pyroscope ingest; do received large $protocol --rebase-time --pace 2M; done

# It ends in the middle of a push, and comes back with what it had.
begin_gate "${PYROSCOPE_URL##*:}" 3
"$PROBEE" push --to "$GATE" --protocol ingest --tenant restarted --rebase-time --body-size 1M "$TMP/large.pbz" >"$TMP/push.out" 2>&1 &
push_pid=$!
wait_until 30 $push_pid held || wrong 'sends fewer requests'
stop_pyroscope
restart_pyroscope
let_go
wait $push_pid || { cp "$TMP/push.out" "$TMP/stderr"; wrong 'push fails'; }
end_gate
readback pyroscope "$PYROSCOPE_URL" "$TMP/large.pbz" --tenant restarted --rebased --quick

if record_trace; then
	compared=(--window 2)
	for protocol in otlp pyroscope ingest; do received recorded $protocol --window 2s; done
fi
finish
