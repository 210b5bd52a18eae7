#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/render src/profile src/report
# timeout: 400
# inferno-collapse-perf reads --perf-script, and adds up to the weights of --json. It is compiled only if CONSUMERS=all;
# otherwise it must be installed.
. tests/consumers/lib.sh
inferno=$(command -v inferno-collapse-perf) || { consumer inferno; inferno=$modules/inferno-collapse-perf; }
command -v python3 >/dev/null || skip 'needs python3'
make_traces

# adds_up TRACE [OPTION...]
adds_up() {
	local trace=$1 want
	shift
	run probee report "$TMP/$trace.pbz" "$@" --perf-script="$TMP/x.perf" --force; exits 0
	want=$("$PROBEE" report "$TMP/$trace.pbz" "$@" --json 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["value"])')
	run "$inferno" "$TMP/x.perf"; exits 0; silent
	[ "$(awk '{ n += $NF } END { printf "%.0f\n", n }' "$TMP/stdout")" = "$want" ] || wrong "does not add up to $want"
}
adds_up plain
prints 'server;_start;main;handle_request;parse_header;hot_loop 20202020'
prints 'worker;[truncated: no-fde];[unknown] 10101010'
adds_up hostile
adds_up two
adds_up two --tid 101
adds_up events --weight wall
adds_up events --event page-faults
adds_up plain --weight wall
finish
