#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/commands src/profile src/report tests/unit/trace_fixture.h
# probee info and probee report of the fixture trace (tests/unit/trace_fixture.h): the same figures everywhere.
. tests/cli/lib.sh
CC=${CC:-gcc}

cat >"$TMP/fixture.c" <<'END'
#include "tests/unit/trace_fixture.h"
int main(int argc, char **argv) { return argc != 2 || trace_fixture_write(argv[1]) ? 1 : 0; }
END
run "$CC" -std=gnu11 -D_GNU_SOURCE -I. -o "$TMP/fixture" "$TMP/fixture.c" "$OUT/libprobee.a" -lzstd -lz -lpcre2-8 -lseccomp -lcap-ng -lpthread; exits 0
run "$TMP/fixture" "$TMP/fixture.pbz"; exits 0

# To change the golden file: look at the difference, then run the test with PROBEE_GOLDEN=write.
TZ=UTC run probee info "$TMP/fixture.pbz"; exits 0; silent
sed -i '/^file /d; /^size /d' "$TMP/stdout"
[ "${PROBEE_GOLDEN:-}" != write ] || cp "$TMP/stdout" tests/golden/fixture.info
diff tests/golden/fixture.info "$TMP/stdout" >"$TMP/stderr" || wrong 'is not tests/golden/fixture.info'

# info and the line about losses describe the whole trace, a report describes the event that it shows.
whole='71.4 % of 7 user stacks are whole (14.3 % with guessed frames)'
cpu='80.0 % of 5 user stacks are whole (20.0 % with guessed frames)'
prints "$whole"
run probee report "$TMP/fixture.pbz" --text;  exits 0; says "$whole"; prints "$cpu"
run probee report "$TMP/fixture.pbz" --svg=-; exits 0; says "$whole"; prints "$cpu"
run probee report "$TMP/fixture.pbz" --json;  exits 0; prints '"user_stacks":5,"user_stacks_whole":4,"user_stacks_whole_guessed":1'
run probee report "$TMP/fixture.pbz" --collapse; exits 0; says "$whole"

# With filters a report describes what it shows; the line about losses describes the whole trace.
run probee report "$TMP/fixture.pbz" --comm server; exits 0; prints '100.0 % of 3 user stacks are whole (33.3 % with'; says "$whole"
run probee report "$TMP/fixture.pbz" --weight wall --comm 'kworker*'; exits 0; prints 'stacks    no user stacks'

# --- the same as JSON: every figure is compared with the text

if command -v python3 >/dev/null; then
	for f in "$TMP"/*.pbz; do
		run probee info --json --sizes "$f"; exits 0; silent
		cp "$TMP/stdout" "$TMP/json"
		run probee info --sizes "$f"
		cp "$TMP/stdout" "$TMP/text"
		TZ=UTC run python3 tests/cli/info_json.py "$TMP/json" "$TMP/text"; exits 0
	done
	printf '\220' | dd of="$TMP/fixture.pbz" bs=1 seek=400 conv=notrunc status=none
	run probee info --json "$TMP/fixture.pbz"; exits 0
	cp "$TMP/stdout" "$TMP/json"
	run python3 -c 'import json, sys; d = json.load(open(sys.argv[1]))["damage"]; sys.exit(not (d["bad_chunks"] or d["truncated"]))' "$TMP/json"; exits 0
	run probee info --json "$TMP/none.pbz"; exits 1; [ ! -s "$TMP/stdout" ] || wrong 'prints something all the same'
fi
finish
