#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/render docs/SQL.md src/commands/cmd_export.c src/commands/sql_engine.c
# timeout: 300
# The queries of docs/SQL.md, run by DuckDB (and ClickHouse's engine, with CONSUMERS=all) on tables of a small fleet: they find what
# probee's own reports say. `export` has its Parquet made by the real engines.
. tests/consumers/lib.sh
need_library
command -v python3 >/dev/null || skip 'needs python3'
run build_with_library "$TMP/make_fleet" tests/consumers/make_fleet.c; exits 0
mkdir "$TMP/traces" && "$TMP/make_fleet" "$TMP/traces" 6 || skip 'the traces could not be made'
export TZ=UTC
t=$TMP/traces

# What the reports say. Of what is compared with CPU time of all: of one trace of all.
run probee merge "$t" -o "$TMP/fleet.pbz"; exits 0
json() { run probee report "$TMP/$1.pbz" --json="$TMP/$2.json" "${@:3}"; exits 0; }
json fleet fleet --by none
json fleet by-host --by host
json fleet by-cgroup --by cgroup
run probee report "$TMP/fleet.pbz" --by none --collapse="$TMP/fleet.folded"; exits 0
cat "$t"/web-[123].pbz >"$TMP/release1.pbz"
cat "$t"/web-[456].pbz >"$TMP/release2.pbz"
for r in 1 2; do json release$r release$r --process shop --by none; done
for i in 1 2 3 4 5 6; do
	run probee report "$t/web-$i.pbz" --json="$TMP/web-$i.json" --by none; exits 0
	run probee report "$t/web-$i.pbz" --event snapshot --state D --from '2026-09-21 14:13:21' --to '2026-09-21 14:13:24' \
		--csv-dialect=rfc4180 --columns host,process,comm,tid,syscall,filename --csv="$TMP/disk-web-$i.csv"
	[ $((i % 2)) = 1 ] && exits 0		# the others have nothing, which is said
done

# Tables without an engine.
run probee report "$t" --csv-dialect=rfc4180 --columns sql --all-events -o "$TMP/fleet.csv.zst"; exits 0; silent
run probee report "$t/web-*.pbz" --all-events -o "$TMP/fleet.ndjson.zst"; exits 0; silent
[ "$failures" = 0 ] || finish

consumer duckdb-cli
path=$PATH PATH=$modules/duckdb_cli:$PATH		# the program itself, without the script of the wheel
run probee export "$t" --parquet-by duckdb -o "$TMP/fleet.parquet"; exits 0; silent
python3 tests/consumers/sql_test.py duckdb "$TMP" || failures=$((failures + 1))
# Its errors are passed on, and nothing is left of the file.
printf '#!/bin/sh\necho "the disk is on fire" >&2\nexit 3\n' >"$TMP/duckdb"; chmod +x "$TMP/duckdb"
PATH=$TMP:$PATH run probee export "$t" -o "$TMP/other.parquet"; exits 1
says 'the disk is on fire'; says 'duckdb failed (exit status 3)'
[ ! -e "$TMP/other.parquet" ] || wrong 'leaves a file'
PATH=$path
[ -L /dev/stdout ] || wrong 'has replaced /dev/stdout by a file'

consumer duckdb-python
PYTHONPATH=$modules run probee export "$t/web-1.pbz" --parquet-by duckdb -o "$TMP/one.parquet"; exits 0; silent
PYTHONPATH=$modules python3 - "$TMP" <<'PY' || failures=$((failures + 1))
import sys, duckdb
n, w = duckdb.execute(f"SELECT count(*), sum(weight) FILTER (WHERE event = 'cpu-clock') FROM '{sys.argv[1]}/one.parquet'").fetchone()
print(*[] if (n, w) == (660, 600 * 10101010) else [f'{n} rows of {w} ns in one.parquet'], end='')
sys.exit((n, w) != (660, 600 * 10101010))
PY
[ "${CONSUMERS:-}" = all ] || finish
consumer chdb-python
export PYTHONPATH=$modules
run probee export "$t" --parquet-by clickhouse --force -o "$TMP/fleet.parquet"; exits 0; silent
python3 tests/consumers/sql_test.py clickhouse "$TMP" || failures=$((failures + 1))
[ -L /dev/stdout ] || wrong 'has replaced /dev/stdout by a file'
finish
