#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: formats/render src/profile src/report
# core: yes
# DuckDB (and ClickHouse's engine, with CONSUMERS=all) and Python read --csv-dialect=rfc4180, compressed too.
. tests/consumers/lib.sh
command -v python3 >/dev/null && command -v node >/dev/null || skip 'needs python3 and node'
make_traces
export TZ=UTC

for name in plain hostile two calls odd; do
	run probee report "$TMP/$name.pbz" --csv-dialect=rfc4180 --columns=all -o "$TMP/$name.csv"; exits 0
	run probee report "$TMP/$name.pbz" --csv-dialect=rfc4180 --columns=all -o "$TMP/$name.csv.zst"; exits 0
	zstd -dcq "$TMP/$name.csv.zst" | cmp - "$TMP/$name.csv" || wrong "$name.csv.zst is not $name.csv"
	run probee report "$TMP/$name.pbz" --csv --columns=timestamp,tid,tgid,comm,state,ustack,kstack; exits 0
	cp "$TMP/stdout" "$TMP/$name.xstack"
	run probee report "$TMP/$name.pbz" --csv; exits 0
	cmp "$TMP/stdout" "$TMP/$name.xstack" || wrong "--columns with xstack's columns differs from --csv"
	run probee report "$TMP/$name.pbz" --json="$TMP/$name.json"; exits 0
done
# It is replaced like any earlier report, and another file is not.
run probee report "$TMP/plain.pbz" --csv-dialect=rfc4180 --columns=all -o "$TMP/plain.csv.zst"; exits 0
echo other | zstd -q >"$TMP/other.csv.zst"
run probee report "$TMP/plain.pbz" -o "$TMP/other.csv.zst"; exits 1; says 'is no earlier report'
run probee report --columns help; exits 0; silent; prints 'exe_build_id    build id'
run probee report "$TMP/plain.pbz" --csv --columns=tid,nothing; exits 2; says "'nothing' is no column. Try: some of all, sql, timestamp"
run probee report "$TMP/plain.pbz" --csv --csv-dialect=other; exits 2; says 'Try: xstack or rfc4180'
[ "$failures" = 0 ] || finish

python3 tests/consumers/csv_test.py "$TMP" plain hostile two calls odd || failures=1
consumer duckdb
NODE_PATH=$modules node tests/consumers/csv_duckdb.js "$TMP" plain hostile two calls odd || failures=1
[ "${CONSUMERS:-}" = all ] || finish
consumer chdb
NODE_PATH=$modules node tests/consumers/csv_chdb.js "$TMP" plain hostile two calls odd || failures=1
finish
