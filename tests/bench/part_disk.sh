# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Bytes per sample of DISK_S (60) seconds at 999 Hz: one hot process, then a mixed load. All recorders run at
# the same time, so they see the same.

DISK_S=${DISK_S:-60}

# sizes LOAD TARGET...: TARGET selects the processes: -a, or -p PID.
sizes() {
	local load=$1 jobs=() count
	shift
	if have perf; then
		perf record -q -g -F 999 "$@" -o g.data -- sleep "$DISK_S" & jobs+=($!)
		perf record -q -z -g -F 999 "$@" -o gz.data -- sleep "$DISK_S" & jobs+=($!)
		perf record -q -z --call-graph dwarf -F 999 "$@" -o dz.data -- sleep "$DISK_S" 2>/dev/null & jobs+=($!)
	fi
	"$PROBEE" sample -q -F 999 --unwind fp "$@" -d "$DISK_S" -o fp.pbz & jobs+=($!)
	"$PROBEE" sample -q -F 999 "$@" -d "$DISK_S" -o auto.pbz & jobs+=($!)
	wait "${jobs[@]}"
	for file in g.data gz.data dz.data fp.pbz auto.pbz; do
		[ -s $file ] || continue
		case $file in
		*.data) count=$(perf script -i $file -F time -G 2>/dev/null | wc -l) ;;
		*) count=$("$PROBEE" report $file --csv -q | wc -l) ;;
		esac
		[ "$count" -gt 0 ] || continue
		record "$load: bytes per sample" "${names[$file]}" "$(calc "$(stat -c %s $file) / $count")"
		record "$load: MB in $DISK_S s" "${names[$file]}" "$(calc "$(stat -c %s $file) / 1e6")"
		rm -f $file
	done
}

declare -A names=([g.data]='perf -g' [gz.data]='perf -g -z' [dz.data]='perf dwarf -z' [fp.pbz]='probee fp'
	[auto.pbz]='probee auto')
start chain30_fp
sizes "one process" -p "$PID"
finish "$PID"

start shop
mixed=("$PID")
perl -e 'sub f { my $n = shift; return $n < 2 ? $n : f($n - 1) + f($n - 2) } while (1) { f(22) }' &
mixed+=($!)
python3 -c 'import json
while True: json.loads(json.dumps([{"a": i, "b": [i] * 5} for i in range(500)]))' &
mixed+=($!)
gzip -9 </dev/urandom >/dev/null &
mixed+=($!)
STARTED+=("${mixed[@]}")
sizes "mixed load" -a
for p in "${mixed[@]}"; do finish "$p"; done
