#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: Makefile sources.mk src/commands src/profile src/report formats
# core: yes
# The report half stands alone: it links with zstd, libseccomp and libcap-ng and nothing else, and what it says of a trace is what probee says.
set -u
unset MAKEFLAGS MFLAGS MAKELEVEL
fail() { echo "$*"; exit 1; }
CC=${CC:-gcc}

make OUT="$OUT" report-half >"$TMP/log" 2>&1 || { cat "$TMP/log"; exit 1; }
half=$OUT/probee-report

# What it asks the dynamic linker for, and what is not in there by another way: linked statically.
allowed=" $(sed -n 's/^REPORT_LDLIBS := //p' Makefile) "
case $allowed in *" -l"*) ;; *) fail 'Makefile: no REPORT_LDLIBS' ;; esac
case $allowed in *" -lbpf "* | *" -ldw "* | *" -lelf "* | *" -liberty "*) fail "Makefile: REPORT_LDLIBS:$allowed" ;; esac
needed=$(objdump -p "$half" | sed -n 's/^ *NEEDED *//p' | sort | tr '\n' ' ')
for library in $needed; do
	case $library in
	libc.so.* | libm.so.* | ld-linux*) continue ;;
	esac
	name=${library#lib}
	[[ $allowed == *" -l${name%%.so*} "* ]] || fail "links with $library: $needed"
done
[[ $needed == *libzstd* ]] || fail "objdump does not tell the libraries: $needed"
nm "$half" | awk '$3 ~ /^(bpf_|btf_|libbpf|elf_|gelf_|elf64_|dwarf_|dwfl_|dwelf_|cplus_demangle|inflate|crc32_z)/ { print $3 }' >"$TMP/foreign"
[ ! -s "$TMP/foreign" ] || fail "holds code of other libraries: $(head -n 3 "$TMP/foreign" | tr '\n' ' ')"
nm "$PROBEE" | grep -q ' bpf_' || fail "nm sees no libbpf in $PROBEE either: it proves nothing"

cat >"$TMP/fixture.c" <<'END'
#include "tests/unit/trace_fixture.h"
int main(int argc, char **argv) { return argc != 2 || trace_fixture_write(argv[1]) ? 1 : 0; }
END
"$CC" -std=gnu11 -D_GNU_SOURCE -I. -o "$TMP/fixture" "$TMP/fixture.c" "$OUT/libprobee.a" -lzstd -lz -lpcre2-8 -lseccomp -lcap-ng -lpthread || exit 1
"$TMP/fixture" "$TMP/fixture.pbz" || fail 'no fixture trace'

# same WORDS...: the output, the messages and the exit code of both programs.
same() {
	local who n=0
	for who in "$PROBEE" "$half"; do
		n=$((n + 1))
		"$who" "$@" >"$TMP/out.$n" 2>"$TMP/err.$n"
		echo "exit $?" >>"$TMP/err.$n"
	done
	cmp "$TMP/out.1" "$TMP/out.2" && cmp "$TMP/err.1" "$TMP/err.2" || fail "$*: another answer than probee's"
}
formats=$("$PROBEE" report --help | sed -n 's/^ *--\([a-z-]*\)\[=FILE\].*/\1/p')
[ "$(wc -w <<<"$formats")" -ge 5 ] || fail "report --help names few formats: $formats"
for f in $formats; do
	same report "$TMP/fixture.pbz" "--$f=-"
	[ -s "$TMP/out.2" ] || fail "--$f: nothing came out"
done
same info "$TMP/fixture.pbz" --sizes
same report "$TMP/none.pbz"
same help report

# The others are not there, and it says so.
"$half" sample -a 2>"$TMP/err" && fail 'sample: succeeds'
grep -q "unknown command 'sample'" "$TMP/err" || fail "sample: $(cat "$TMP/err")"
