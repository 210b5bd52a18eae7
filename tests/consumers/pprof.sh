#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/render src/profile src/report
# core: yes
# go tool pprof reads --pprof: all weights, all names, all stacks.
. tests/consumers/lib.sh
command -v python3 >/dev/null || skip 'needs python3'
pprof=$(ls -d /usr/lib/go-*/pkg/tool/*/pprof 2>/dev/null | head -n 1)
# Newer versions of go build it when it is asked for, which takes long without a cache.
export GOCACHE=$OUT/consumers/go-cache GOFLAGS=-mod=mod
[ "$pprof" ] || { command -v go >/dev/null && pprof='go tool pprof'; }
# shellcheck disable=SC2086  # words
[ "$pprof" ] && $pprof -h 2>&1 | grep -q usage: || skip 'needs go tool pprof'
make_traces
export TZ=UTC PYTHONDONTWRITEBYTECODE=1 HOME=$TMP
# -raw makes no file and asks no server; the profile must not be looked for by its names.
export PPROF_BINARY_PATH=$TMP/none PPROF_TMPDIR=$TMP

# reads NAME TRACE [OPTION...]: pprof finds the stacks that --collapse has, with the weights of --json.
reads() {
	local name=$1 trace=$2
	shift 2
	run probee report "$TMP/$trace.pbz" "$@" --pprof="$TMP/$name.pb.gz"; exits 0
	run probee report "$TMP/$trace.pbz" "$@" --kernel-suffix= --collapse="$TMP/$name.folded"; exits 0
	run probee report "$TMP/$trace.pbz" "$@" --json="$TMP/$name.json"; exits 0
	# shellcheck disable=SC2086
	run $pprof -raw "$TMP/$name.pb.gz"; exits 0
	cp "$TMP/stdout" "$TMP/$name.raw"
	python3 tests/consumers/pprof_test.py "$TMP/$name" || wrong "$name differs"
}
reads plain plain
reads hostile hostile
reads two two
reads faults events --event page-faults
reads bytes events --event alloc
reads wall events --weight wall
reads one plain --tid 101
reads outermost plain --no-inline

# shellcheck disable=SC2086
run $pprof -top "$TMP/plain.pb.gz"; exits 0
prints 'Type: cpu'
prints 'Total samples = 50.51ms'
prints '20.20ms 40.00% 40.00%    20.20ms 40.00%  hot_loop'
# shellcheck disable=SC2086
run $pprof -diff_base="$TMP/plain.pb.gz" -top "$TMP/plain.pb.gz"; exits 0
prints 'Showing nodes accounting for 0, 0% of 50.51ms total'

# It is called by the program that took most, whether or not a frame is in the program's own file.
called() {
	run probee report "$TMP/$1.pbz" --pprof="$TMP/$1.pb.gz"; exits 0
	# shellcheck disable=SC2086
	run $pprof -top "$TMP/$1.pb.gz"; exits 0
	prints "File: $2"
}
called plain server
called lib server
called programs other

# The same input gives the same bytes, and an earlier profile is replaced, another file is not.
run probee report "$TMP/plain.pbz" -o "$TMP/again.pprof"; exits 0
cmp "$TMP/plain.pb.gz" "$TMP/again.pprof" || wrong 'differs'
run probee report "$TMP/two.pbz" -o "$TMP/again.pprof"; exits 0
echo other | gzip >"$TMP/other.pb.gz"
run probee report "$TMP/two.pbz" -o "$TMP/other.pb.gz"; exits 1
says "is no earlier report"
finish
