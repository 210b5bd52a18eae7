# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests/cli/*.sh: runs probee and compares what it did. Ends with `finish`.
#
#	run probee report x.pbz		runs it; output in $TMP/stdout, $TMP/stderr, exit code in $rc
#	exits 2				the exit code
#	says 'text'			a line on stderr that holds this text
#	one_line			stderr is one line that starts with "probee: "
#	silent				nothing on stderr
#	prints 'text'			a line on stdout that holds this text
#	need_library			skips the test if nothing can be built with probee's library
#	build_with_library PROGRAM SOURCE [LIBRARY...]
#	make_fixture FILE		the recording of tests/unit/trace_fixture.h; leaves $TMP/fixture, which makes it
# need_recording			skips the test if the machine cannot record; can_record only asks
failures=0

probee() { "$PROBEE" "$@"; }

run() {
	did="$*"
	"$@" >"$TMP/stdout" 2>"$TMP/stderr"
	rc=$?
}

wrong() {
	echo "$did: $1"
	sed 's/^/  stdout: /' "$TMP/stdout" | head -n 5
	sed 's/^/  stderr: /' "$TMP/stderr" | head -n 20
	failures=$((failures + 1))
}

exits() { [ "$rc" = "$1" ] || wrong "exit $rc, not $1"; }
says() { grep -qF -e "$1" "$TMP/stderr" || wrong "does not say: $1"; }
prints() { grep -qF -e "$1" "$TMP/stdout" || wrong "does not print: $1"; }
silent() { [ ! -s "$TMP/stderr" ] || wrong "is not silent"; }
one_line() {
	[ "$(wc -l <"$TMP/stderr")" = 1 ] && grep -q '^probee: ' "$TMP/stderr" ||
		wrong "does not say one line that starts with probee:"
}

# Only properties of the machine are reasons to skip a test. What probee says about itself is none: a probee that has lost a
# command, or whose doctor crashes, must fail.
skip() {
	echo "$1"
	exit 77
}

# Whether this machine can record. The doctor's "cannot" counts only if the doctor's output is complete, and if
# tests/machine_can.sh, which asks the kernel without probee, does not say the contrary.
can_record() {
	run probee doctor
	[ "$rc" != 0 ] || return 0
	[ "$rc" = 77 ] && grep -q '^probee cannot record here' "$TMP/stdout" && ! tests/machine_can.sh ||
		wrong "exit $rc, but this machine can record"
	return 1
}

need_recording() {
	can_record && return
	[ "$failures" = 0 ] || finish
	skip "cannot record here: $(grep -m1 '^no ' "$TMP/stdout")"
}

need_library() {
	CC=${CC:-gcc}
	[ -e "$OUT/libprobee.a" ] && command -v "$CC" >/dev/null || skip 'nothing to build the traces with'
}

build_with_library() {
	"$CC" -std=gnu11 -D_GNU_SOURCE -I. -o "$1" "$2" "$OUT/libprobee.a" -lzstd -lz -lpcre2-8 -lseccomp -lcap-ng -lpthread "${@:3}"
}

make_fixture() {
	cat >"$TMP/fixture.c" <<-'END'
		#include "tests/unit/trace_fixture.h"
		int main(int argc, char **argv) { return argc != 2 || trace_fixture_write(argv[1]) ? 1 : 0; }
	END
	run build_with_library "$TMP/fixture" "$TMP/fixture.c"; exits 0
	run "$TMP/fixture" "$1"; exits 0
}

finish() { [ "$failures" = 0 ]; exit; }
