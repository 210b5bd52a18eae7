#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/push
# timeout: 1600
# A real collector goes away in the middle of a push, comes back, hangs: in the end it has the whole trace. What was taken but
# not answered is sent twice, and told by the ids of its profiles.
. tests/consumers/lib.sh
. tests/push/receivers.sh
need_protobuf
need_collector
trap end_receivers EXIT
make_traces
# Each recording in a file is one by itself, so this makes many requests.
for _ in {1..60}; do cat "$TMP/plain.pbz" "$TMP/hostile.pbz"; done >"$TMP/many.pbz"
start_collector

begin_push() {
	: >"$TMP/otlp.bin"
	"$PROBEE" push --body-size 8K "$@" "$TMP/many.pbz" >"$TMP/push.out" 2>&1 &
	push_pid=$!
}

# begin_gated_push REQUESTS [OPTION...]: returns when the collector has had so many, and the next one is held.
begin_gated_push() {
	begin_gate "${COLLECTOR##*:}" "$1"
	shift
	begin_push --to "$GATE" "$@"
	wait_until 30 $push_pid held || wrong 'sends fewer requests'
}

end_push() {
	wait "$push_pid"
	rc=$?
	did='push' && cp "$TMP/push.out" "$TMP/stderr" && : >"$TMP/stdout"
	exits 0
	says "$1"
	wait_for_file
	run "$python" tests/push/readback.py otlp "$TMP/otlp.bin" "$TMP/many.pbz" --quick; exits 0
}

# Ends, and comes back.
begin_gated_push 20
stop_collector
let_go
sleep 2
kill -0 $push_pid || wrong 'does not wait for the receiver'
restart_collector
end_push 'is there again'
end_gate

# Is not there at first.
stop_collector
begin_push --to "$COLLECTOR"
sleep 2
kill -0 $push_pid || wrong 'does not wait for the receiver'
restart_collector
end_push 'is there again'

# Hangs for longer than push waits for an answer.
begin_gated_push 20 --timeout 1s
kill -STOP "$collector_pid"
let_go
sleep 4
kill -CONT "$collector_pid"
end_push 'is there again'
end_gate

# Never comes back: the command says so.
stop_collector
run probee push --to "$COLLECTOR" --give-up 2s "$TMP/many.pbz"; [ "$rc" != 0 ] || wrong 'says that all was sent'
says 'not all is delivered'
finish
