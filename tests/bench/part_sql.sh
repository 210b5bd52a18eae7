# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# SQL over many traces: TRACES (100) artificial ones of SAMPLES (1000000) samples each, of hosts of their own. What it takes to make a
# table of them, and how long DuckDB takes to answer which functions used the most CPU time on all hosts: from a CSV.zst for each trace,
# and from one Parquet file. The rows are read from the page cache. Queries of Parquet run ROUNDS times, the one of CSV once. Besides, a
# table with all columns of docs/SQL.md, of a tenth of the traces. With 100 traces it takes some 10 minutes of CPU time.

TRACES=${TRACES:-100} SAMPLES=${SAMPLES:-1000000}
build_bench make_trace || cannot "make_trace could not be built: make first"
duckdb=$(OUT=$OUT sh -c "cd '$root' && sh tests/consumers/install.sh duckdb-cli") || cannot "$duckdb"
PATH=$duckdb/duckdb_cli:$PATH
columns=timestamp,host,event,unit,weight,process,comm,tid,cpu,state,function,kind,user_function,build_id

mkdir traces some tables
for i in $(seq "$TRACES"); do
	"$bin/make_trace" "traces/$(printf %04d "$i").pbz" "$SAMPLES" 3385 "$i" || exit 1
	[ $((i % 10)) != 0 ] || ln "traces/$(printf %04d "$i").pbz" some/
done

# took METRIC TOOL COMMAND...
took() {
	local metric=$1 tool=$2
	shift 2
	launched life "$@"
	wait $LAUNCH
	[ "$(of life status)" = 0 ] || { say "$metric, $tool: $(head -1 launched.err)"; return 1; }
	record "$metric, s" "$tool" "$(calc "$(of life wall_ms) / 1000")"
	record "$metric, CPU s" "$tool" "$(calc "$(of life cpu_ms) / 1000")"
	record "$metric, peak RSS MiB" "$tool" "$(calc "$(of life rss_kib) / 1024")"
}

csv_of_each() {
	for trace in traces/*.pbz; do
		"$PROBEE" report "$trace" --csv-dialect=rfc4180 --columns $columns -o "tables/$(basename "$trace" .pbz).csv.zst" || return
	done
}
export -f csv_of_each
export PROBEE columns
took "$TRACES traces to a table" "CSV.zst of each" bash -c csv_of_each
took "$TRACES traces to a table" "Parquet by duckdb" "$PROBEE" export traces --columns $columns --parquet-by duckdb -o all.parquet
took "$((TRACES / 10)) traces to a table, all columns" "Parquet by duckdb" "$PROBEE" export some --parquet-by duckdb -o some.parquet
took "$TRACES traces" "merge" "$PROBEE" merge -q traces -o merged.pbz
for what in "traces/*.pbz" merged.pbz "tables/*.csv.zst" all.parquet some.parquet; do
	# shellcheck disable=SC2086  # a glob
	record "size, MB" "$what" "$(calc "$(cat $what | wc -c) / 1000000")"
done

# The query of docs/SQL.md, and that of totals.
query() { sed -n "/^-- duckdb: $1\$/,/^\`\`\`/p" "$root/docs/SQL.md" | grep -v '^`'; }
for round in $(seq "$ROUNDS"); do
	for table in "tables/*.csv.zst" all.parquet; do
		[ "$round" = 1 ] || [ "$table" = all.parquet ] || continue		# CSV takes long
		took "slowest functions, $TRACES traces" "$table" duckdb -init /dev/null -c "CREATE VIEW samples AS FROM '$table'; $(query 'slowest functions')"
	done
	took "slowest functions, $((TRACES / 10)) traces" some.parquet duckdb -init /dev/null -c "CREATE VIEW samples AS FROM 'some.parquet'; $(query 'slowest functions')"
	took "self and total, $((TRACES / 10)) traces" some.parquet duckdb -init /dev/null -c "CREATE VIEW samples AS FROM 'some.parquet'; $(query 'self and total')"
done

# What it found is what a report says.
want=$("$PROBEE" report merged.pbz --by none --json --no-limits 2>/dev/null | python3 -c '
import json, sys
sys.setrecursionlimit(10000)
total, nodes = {}, [json.load(sys.stdin)]
while nodes:
    n = nodes.pop()
    if n.get("self"): total[n["name"]] = total.get(n["name"], 0) + n["self"]
    nodes += n.get("children", [])
print(max(total.items(), key=lambda x: x[1])[0])')
got=$(duckdb -init /dev/null -csv -noheader -c "CREATE VIEW samples AS FROM 'all.parquet'; $(query 'slowest functions')" | head -1 | cut -d, -f1)
echo "hottest function: $got (report: $want)"
