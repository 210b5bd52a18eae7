#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/render src/profile src/report
# The loader of the Firefox Profiler reads --firefox, all weights, compressed as well, and --perf-script.
. tests/consumers/lib.sh
command -v python3 >/dev/null || skip 'needs python3'
need_profiler_cli
make_traces
export TZ=UTC

# opens FILE: the profiler takes it; the list of its threads is in $TMP/threads.json.
opens() {
	run profiler_open "$1"; exits 0
	cp "$TMP/stdout" "$TMP/threads.json"
}

handles() { python3 -c 'import json, sys; [print(t["threadHandle"]) for t in json.load(sys.stdin)["threads"]]'; }

# weighs NAME UNIT: the sum of what the profiler finds in each thread is that of --json.
weighs() {
	local name=$1 scale=$2
	opens "$TMP/$name.firefox.json.gz"
	[ "$name" != two ] || { run profiler profile info --json; exits 0; prints 'x1b[31m'; }
	for thread in $(handles <"$TMP/threads.json"); do
		run profiler thread samples --thread "$thread" --include-idle --json; exits 0
		cat "$TMP/stdout" >>"$TMP/$name.all"
	done
	profiler_close
	did="profiler-cli on $name"
	python3 -c '
import json, sys
want = json.load(open(sys.argv[1]))["value"]
text, total = sys.stdin.read(), 0
while text.strip():
	one, end = json.JSONDecoder().raw_decode(text.lstrip())
	text = text.lstrip()[end:]
	total += one["categoryBreakdown"]["totalSamples"]
total = round(total * int(sys.argv[3]))
assert total == want, (total, want)
if "two" in sys.argv[1]:
	cpu = round(1e6 * sum(t["cpuMs"] for t in json.load(open(sys.argv[2]))["threads"]))
	assert cpu == want, (cpu, want)
' "$TMP/$name.want" "$TMP/threads.json" "$scale" <"$TMP/$name.all" 2>"$TMP/stderr" || wrong 'adds up to something else'
}

# write NAME TRACE [OPTION...]
write() {
	local name=$1 trace=$2
	shift 2
	run probee report "$TMP/$trace.pbz" "$@" --firefox="$TMP/$name.firefox.json.gz"; exits 0
	run probee report "$TMP/$trace.pbz" "$@" --json="$TMP/$name.want"; exits 0
}
write two two; weighs two 1000000
write wall events --weight wall; weighs wall 1000000
write bytes events --event alloc; weighs bytes 1

run probee report "$TMP/two.pbz" --perf-script="$TMP/two.perf"; exits 0
opens "$TMP/two.perf"
[ "$(handles <"$TMP/threads.json" | wc -l)" = 2 ] || wrong 'perf script: not the threads 100 and 101'
profiler_close

echo '{"meta": {}}' >"$TMP/broken.firefox.json"
run profiler_open "$TMP/broken.firefox.json"; exits 1; says 'Profile load failed'
finish
