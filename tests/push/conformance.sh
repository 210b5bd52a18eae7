#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/push
# core: yes
# Requests of OTLP conform to the specification, says the checker of OpenTelemetry's profiling SIG: $PROFCHECK, or profcheck on
# PATH (https://github.com/open-telemetry/sig-profiling, folder profcheck).
. tests/consumers/lib.sh
. tests/push/receivers.sh
. tests/push/traces.sh
need_protobuf
checker=${PROFCHECK:-$(command -v profcheck)}
[ "$checker" ] || skip 'there is no profcheck (PROFCHECK=PROGRAM, or profcheck on PATH)'
make_traces

# conforms NAME [OPTION...]
conforms() {
	local name=$1
	shift
	receiver sent
	run probee push --to "http://127.0.0.1:$port" "$@" "$TMP/$name.pbz"; exits 0
	receiver_end
	for body in "$dir"/*.body; do
		run "$checker" -check-dupes -check-orphans "$body"; exits 0
	done
}

for name in plain hostile two apart events more odd calls recursive; do conforms $name; done
conforms events --service shop --label zone=eu-1 --rebase-time
conforms two --body-size 8K
! record_trace || conforms recorded --window 2s

# The checker sees what is wrong.
printf 'x' >>"$body"
run "$checker" "$body"; [ "$rc" != 0 ] || wrong 'takes a message with a byte behind it'
head -c 100 "$body" >"$TMP/cut"
run "$checker" "$TMP/cut"; [ "$rc" != 0 ] || wrong 'takes a message that is cut'
finish
