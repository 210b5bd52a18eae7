# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Functions and lines of 100,000 random addresses of a large program, by llvm-symbolizer and by the code of a parser process,
# without and with its cache file. The program is made of LINES_COPIES (60) copies each of six units of C++ (large.cc), of gcc and
# clang in turn: 1 GB with 574 MB of .debug_info. LINES_PROGRAM names another one. Times are CPU times; lines are those found.

build_bench resolve_lines || cannot "resolve_lines could not be built: make first"
have llvm-symbolizer || cannot "no llvm-symbolizer"

build_large() {
	local unit copy compiler
	for unit in 1 2 3 4 5 6; do
		compiler=g++
		[ "$unit" -le 3 ] || ! have clang++ || compiler=clang++
		"$compiler" -std=gnu++17 -O2 -g -DUNIT="$unit" -c "$here/large.cc" -o "u$unit.o" || return 1
		for copy in $(seq "${LINES_COPIES:-60}"); do
			objcopy --redefine-sym "unit_entry=unit_entry_${unit}_$copy" "u$unit.o" "u${unit}_$copy.o" || return 1
			echo "extern long unit_entry_${unit}_$copy(const char *);" >>declared.h
			echo "n += unit_entry_${unit}_$copy(argv[0]);" >>called.h
		done
	done
	printf '%s\n' '#include "declared.h"' 'int main(int argc, char **argv) { long n = argc;' '#include "called.h"' 'return (int)n; }' >main.c
	gcc -g -c main.c && g++ -o large main.o u?_*.o && rm -f u?_*.o
}

program=${LINES_PROGRAM:-$T/large}
[ -n "${LINES_PROGRAM:-}" ] || build_large || cannot "the large program could not be built"
python3 -S "$here/random_addresses.py" "$program" 100000 >addresses
for round in $(seq "$ROUNDS"); do
	launched llvm.out sh -c "exec llvm-symbolizer --obj='$program' --no-demangle <addresses >llvm.text"
	wait "$LAUNCH"
	record "100,000 addresses, ms of CPU" llvm-symbolizer "$(of llvm.out cpu_ms)"
	record "100,000 addresses, MiB" llvm-symbolizer "$(calc "$(of llvm.out rss_kib) / 1024")"
	record "lines found" llvm-symbolizer "$(grep -cE '^/.*:[1-9][0-9]*:[0-9]+$' llvm.text)"
	for mode in cold cached; do
		"$bin/resolve_lines" "$program" cache $mode <addresses >lines.out || cannot "resolve_lines failed"
		record "100,000 addresses, ms of CPU" "probee $mode" "$(of lines.out cpu_ms)"
		record "100,000 addresses, MiB" "probee $mode" "$(calc "$(of lines.out anonymous_kib) / 1024")"
		record "lines found" "probee $mode" "$(of lines.out frames)"
	done
done
