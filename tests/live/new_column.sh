#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf/wire.h bpf/stack.bpf.h src/model/sample_columns.def formats/trace/sample_columns.c src/capture/session/session.c
# timeout: 600
# Two columns of samples are added to a copy of the tree as docs/ARCHITECTURE.md says ("A column of snapshots"): how often a thread gave its CPU up,
# and how often it was taken from it (nvcsw and nivcsw of struct task_struct). /proc/PID/task/TID/status must have the same numbers, in the
# report and for the reader that goes by TRACE.md. Ten files are touched, and the recipe names each.
. "$(dirname "$0")/lib.sh"
. "$LIVE/plant_lib.sh"
cc=${CC:-gcc}
"$cc" -O2 -g -pthread -o "$T/switcher" "$LIVE/toy/switcher.c" || skip "no C compiler"
plant_tree

# --- the recipe: from the kernel to the reports
plant '	uint64_t switches, preemptions;	/* how often it has left its CPU, and had to leave it */' bpf/wire.h '^	uint32_t tgid, tid;		/. in probee'
sed -i 's|sizeof(struct wire_sample) == 64|sizeof(struct wire_sample) == 80|; s|sizeof(struct wire_stay) == 184|sizeof(struct wire_stay) == 200|' "$tree/bpf/wire.h"
plant '	h->switches = task->nvcsw;
	h->preemptions = task->nivcsw;' bpf/stack.bpf.h '^	h->tgid = ids.tgid;'
plant 'COLUMN(64, 54, switches, ANY)		/* how often the thread gave its CPU up */
COLUMN(64, 56, preemptions, ANY)	/* how often it was taken from it */
' src/model/sample_columns.def '^#undef COLUMN$'
plant '		.switches = h->switches,
		.preemptions = h->preemptions,' src/capture/session/session.c '^		.weight = h->weight,'
plant '| 54 | switches | u64 | how often the thread has given its CPU up |
| 56 | preemptions | u64 | how often its CPU was taken from it |' formats/trace/TRACE.md '^A column that is absent is 0'
sed -i "s|52: ('mount', 32)}|52: ('mount', 32), 54: ('switches', 64), 56: ('preemptions', 64)}|" "$tree/tests/spec/pbz.py"
plant 'static int put_switches(struct csv *c, const struct report_sample *s)
{
	csv_put_decimal(c, s->rec->switches);
	return 0;
}

static int put_preemptions(struct csv *c, const struct report_sample *s)
{
	csv_put_decimal(c, s->rec->preemptions);
	return 0;
}
' formats/render/csv/csv_columns.c '^const struct csv_column csv_columns'
plant '	{ "switches", "how often the thread gave its CPU up", COLUMN_INTEGER, true, put_switches },
	{ "preemptions", "how often it was taken from it", COLUMN_INTEGER, true, put_preemptions },' \
	formats/render/csv/csv_columns.c '^	. "stack_end"'
plant '| `switches`, `preemptions` | number | how often the thread gave its CPU up, and how often it was taken from it |' docs/SQL.md '^. `syscall`, `waits_on`'
plant '- Columns `switches` and `preemptions`.' CHANGELOG.md '^- '
echo '# the test of the new columns' >"$tree/tests/live/switches.sh"
build_tree || sed 's/^/# /' "$T/log"
check 'with what the recipe says it is built' [ -x "$tree/.out/probee" ]
[ -x "$tree/.out/probee" ] || done_testing
touched >files
sed 's/^/# /' files
check 'ten files are touched' [ "$(wc -l <files)" -le 10 ]
check 'and the recipe names each' recipe_names 'A column of snapshots'

# --- the numbers are those of /proc
start "$T/switcher" 9
PROBEE=$tree/.out/probee
status() {
	local t
	for t in /proc/"$PID"/task/*; do
		[ "$(cat "$t/comm")" = "$1" ] && awk -v tid="${t##*/}" '/^voluntary/ { v = $2 } /^nonvoluntary/ { print tid "|" v "|" $2 }' "$t/status"
	done
}
# Each has gone to sleep once more than it has slept.
sleeping() { [ "$(cat /proc/"$PID"/task/*/stat | grep -c '(sleeper) S')" = 9 ]; }
check 'all sleep' until_true 20 sleeping
status sleeper | sort >before.proc
status spinner >spinner.before
snapshot -p "$PID" -i 3 -F 20 -o rows.pbz
check 'it is recorded' [ "$RC" = 0 ]
status sleeper | sort >after.proc
status spinner >spinner.after
check 'they have slept on' cmp -s before.proc after.proc
"$PROBEE" report -q rows.pbz --csv --columns comm,tid,switches,preemptions >rows.csv
sed -n 's/^sleeper|//p' rows.csv | sort >rows
sort -u rows >once
sed 's/^/# /' once
check 'each thread has a row in each snapshot' [ "$(wc -l <rows)" = 27 ]
check 'whose numbers are those of /proc' cmp -s once after.proc
check 'and differ from thread to thread' [ "$(cut -d'|' -f2 once | sort -u | wc -l)" -ge 7 ]
between() {
	awk -F'|' 'FILENAME ~ /before/ { low = $2 + $3 } FILENAME ~ /after/ { high = $2 + $3 }
		FILENAME == "rows.csv" && $1 == "spinner" { n++; if ($3 + $4 < low || $3 + $4 > high) bad = 1; if ($3 + $4 < last) bad = 1; last = $3 + $4 }
		END { exit bad || n != 3 }' spinner.before spinner.after rows.csv
}
check 'those of a thread that runs lie between' between
# --- and the reader of TRACE.md finds them
PYTHONDONTWRITEBYTECODE=1 python3 - "$tree/tests/spec" rows.pbz >by_page <<'P'
import sys
sys.path.insert(0, sys.argv[1])
import pbz
f = pbz.read_file(sys.argv[2])
for segment in f.segments:
    for s in segment.samples:
        print(s.thread, s.switches, s.preemptions)
P
check 'the reader of the page has the same' cmp -s <(cut -d' ' -f2,3 by_page | sort | uniq -c) <(cut -d'|' -f3,4 rows.csv | tr '|' ' ' | sort | uniq -c)
done_testing
