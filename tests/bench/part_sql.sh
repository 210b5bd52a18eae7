# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# SQL over many traces: TRACES (100) artificial ones of SAMPLES (1000000) samples each, of hosts of their own. What it takes to make tables
# of them, and how long DuckDB takes to answer which functions used the most CPU time on all hosts: from a CSV.zst of each trace, and from
# Parquet, a file for each ten traces. The rows are read from the page cache. Queries of Parquet run ROUNDS times, the one of CSV once.
# Besides, a table of ten traces with all columns of docs/SQL.md.
# With DISTINCT=10 only so many traces are made, and ten names stand for each of their tables: the queries read as many rows.
# With all 100 it takes some 10 minutes of CPU time.

TRACES=${TRACES:-100} SAMPLES=${SAMPLES:-1000000} DISTINCT=${DISTINCT:-$TRACES} GROUP=10
build_bench make_trace || cannot "make_trace could not be built: make first"
duckdb=$(cd "$root" && OUT=$OUT sh tests/consumers/install.sh duckdb-cli) || cannot "$duckdb"
PATH=$duckdb/duckdb_cli:$PATH
columns=timestamp,host,event,unit,weight,process,comm,tid,cpu,state,function,kind,user_function,build_id

mkdir csv parquet
for ((i = 0; i < DISTINCT; i++)); do
	mkdir -p "traces/$((i / GROUP))"
	"$bin/make_trace" "traces/$((i / GROUP))/$i.pbz" "$SAMPLES" 3385 2 $((i + 1)) || exit 1
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

ten="$((DISTINCT < GROUP ? DISTINCT : GROUP)) traces to a table"
for group in traces/*; do
	for trace in "$group"/*; do
		took "one trace to a table" CSV.zst "$PROBEE" report "$trace" --csv-dialect=rfc4180 --columns $columns \
			-o "csv/$(basename "$trace" .pbz).csv.zst"
	done
	took "$ten" Parquet "$PROBEE" export "$group" --columns $columns --parquet-by duckdb -o "parquet/$(basename "$group").parquet"
	took "$ten" merge "$PROBEE" merge -q "$group" -o merged.pbz
done
took "$ten" "Parquet, all columns" "$PROBEE" export traces/0 --parquet-by duckdb -o all.parquet
for what in "traces/*/*.pbz" merged.pbz "csv/*" "parquet/*" all.parquet; do
	# shellcheck disable=SC2086  # a glob
	record "size, MB" "$what" "$(calc "$(cat $what | wc -c) / 1000000")"
done
for ((i = DISTINCT; i < TRACES; i++)); do ln "csv/$((i % DISTINCT)).csv.zst" "csv/$i.csv.zst"; done
for ((i = (DISTINCT + GROUP - 1) / GROUP; i < TRACES / GROUP; i++)); do ln "parquet/$((i * GROUP % DISTINCT / GROUP)).parquet" "parquet/$i.parquet"; done

# The queries of docs/SQL.md.
query() { sed -n "/^-- duckdb: $1\$/,/^\`\`\`/p" "$root/docs/SQL.md" | grep -v '^`'; }
ask() { took "$1" "$2" duckdb -init /dev/null -c "CREATE VIEW samples AS FROM '$2'; $(query "$3")"; }
for round in $(seq "$ROUNDS"); do
	ask "slowest functions, $((TRACES * SAMPLES / 1000000)) million rows" "parquet/*.parquet" 'slowest functions'
	ask "hosts compared, $((TRACES * SAMPLES / 1000000)) million rows" "parquet/*.parquet" 'hosts compared'
	ask "self and total, ten traces" all.parquet 'self and total'
done
ask "slowest functions, $((TRACES * SAMPLES / 1000000)) million rows" "csv/*.csv.zst" 'slowest functions'

# What it finds is what a report says.
want=$("$PROBEE" report merged.pbz --by none --json --no-limits 2>/dev/null | python3 -c '
import json, sys
sys.setrecursionlimit(10000)
total, nodes = {}, [json.load(sys.stdin)]
while nodes:
    n = nodes.pop()
    if n.get("self"): total[n["name"]] = total.get(n["name"], 0) + n["self"]
    nodes += n.get("children", [])
print(max(total.items(), key=lambda x: x[1])[0])')
got=$(duckdb -init /dev/null -csv -noheader -c "CREATE VIEW samples AS FROM 'parquet/$(basename "$group").parquet'; $(query 'slowest functions')" | head -1 | cut -d, -f1)
echo "hottest function of the last ten: $got (report: $want)"
