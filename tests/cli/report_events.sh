#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/profile src/report src/commands formats/render
# Traces of several events (tests/unit/events_fixture.h): one of them is shown; a missing one is an error.
. tests/cli/lib.sh
CC=${CC:-gcc}
[ -e "$OUT/libprobee.a" ] && command -v "$CC" >/dev/null || skip 'nothing to build the fixture traces with'

cat >"$TMP/fixture.c" <<'END'
#include "tests/unit/events_fixture.h"
static int emit_nothing(struct trace_writer *w)
{
	return trace_writer_record(w, &(struct record){ .tag = REC_END, .end = { .time_ns = 1 } });
}
static int put(const char *path, int (*emit)(struct trace_writer *w))
{
	struct trace_writer *w;
	return trace_writer_open(path, NULL, &w) || emit(w) || trace_writer_close(w);
}
int main(int argc, char **argv)
{
	return argc != 4 || put(argv[1], events_emit) || put(argv[2], events_emit_more) || put(argv[3], emit_nothing);
}
END
run "$CC" -std=gnu11 -D_GNU_SOURCE -I. -Wno-unused -o "$TMP/fixture" "$TMP/fixture.c" "$OUT/libprobee.a" -lzstd -lz -lpcre2-8 -lseccomp -lcap-ng -lpthread
exits 0
cd "$TMP" || exit 1
./fixture events.pbz more.pbz empty.pbz || wrong 'the fixture traces could not be written'
cat events.pbz more.pbz >both.pbz
export TZ=UTC

# One event at a time, with its unit.
run probee report events.pbz; exits 0; silent
prints 'title     appcpp, CPU time, 40.4 ms, 4 samples'
prints 'shown     CPU time (cpu-clock, 99 Hz). Also recorded: page-faults, alloc, snapshot; see --event'
run probee report events.pbz --event page-faults; exits 0
prints 'title     appcpp, 350 page-faults, 2 samples'
prints ' 71.43   71.43   250       1  leaf'
run probee report events.pbz --event alloc; exits 0; prints 'appcpp, alloc, 4.0 MB, 2 samples'
run probee report events.pbz --weight wall; exits 0; prints 'appcpp, wall time, 2 snapshots, 3 thread states'
run probee report events.pbz --weight wall --callees main; exits 0; prints 'samples   2 snapshots, '
run probee report both.pbz; exits 0; prints 'title     appcpp, CPU time, 60.8 ms, 5 samples'
run probee report both.pbz --event page-faults --collapse; exits 0; prints 'appcpp;main;work 110'; prints 'worker;main;work;leaf 250'
run probee report events.pbz --collapse; exits 0; prints 'appcpp;main;work;leaf 2'
run probee report events.pbz --event alloc --json; exits 0
prints '"event":"alloc","unit":"bytes","weight":4000000'
run probee report events.pbz --svg=-; exits 0
prints 'appcpp, CPU time, 40.4 ms, 4 samples</title>'; prints '20.2 ms, 2 samples, 50.00%'
run probee report events.pbz --csv; exits 0; prints '|0|0|swapper/0|'
run probee info events.pbz; exits 0; prints '         2            350  page-faults       software    count, one per 100'

# Events that the trace does not have.
run probee report events.pbz --event nosuch; exits 1; one_line; says 'samples of: cpu-clock, page-faults, alloc, snapshot'
run probee report events.pbz --event context-switches; exits 1; one_line; says 'has no samples'
run probee report more.pbz --weight wall; exits 1; one_line; says '--weight wall'; says 'page-faults, cycles, cpu-clock'
run probee report events.pbz --event alloc --weight cpu; exits 2
for format in text svg json collapse csv speedscope perf-script firefox; do
	run probee report events.pbz --comm nosuch --$format="$TMP/none"; exits 1; one_line; says 'thread names appcpp, worker, swapper/0'
	run probee report events.pbz --from 20s --$format="$TMP/none"; exits 1; one_line; says 'the trace has 0-0.0 s'
done
for format in waits waits-json; do
	run probee report events.pbz --walk 99 --$format="$TMP/none"; exits 1; one_line; says 'snapshots 1 to 2'
	run probee report more.pbz --$format="$TMP/none"; exits 1; one_line; says 'no snapshots in it'
done
[ ! -e "$TMP/none" ] || wrong 'a report of nothing was written'

# An empty trace: a report of all of it is no mistake.
for format in text svg json collapse csv waits waits-json speedscope perf-script firefox; do
	run probee report empty.pbz --$format=-; exits 0; one_line; says 'empty.pbz is empty'
done
run probee report empty.pbz --comm x; exits 1; one_line; says 'is empty'
# One that was cut before its first sample is not called empty.
cut=0
for bytes in $(seq 100 100 "$(stat -c %s events.pbz)"); do
	head -c "$bytes" events.pbz >cut.pbz
	run probee report cut.pbz --text="$TMP/cut.txt" --force
	! grep -q 'nothing was sampled' "$TMP/stderr" || wrong "cut after $bytes bytes it is called empty"
	! grep -q 'no samples in what can be read' "$TMP/stderr" || cut=$((cut + 1))
done
[ "$cut" -gt 0 ] || wrong 'no cut left a trace without samples'
cd - >/dev/null || exit 1
finish
