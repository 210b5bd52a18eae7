# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# How long it takes to build the unwind tables of files: of all that this machine has mapped now, of all in /usr/lib, and of
# the largest file alone; with one thread, and with one for each CPU.

built_tables() {
	gcc -std=gnu11 -O2 -Wall -D_GNU_SOURCE -I"$root" "$here/build_tables.c" "$root/tests/oracle/file_list.c" \
		"$OUT/libprobee.a" -lbpf -lelf -lz -lzstd -lpcre2-8 -lseccomp -lcap-ng -liberty -lpthread -o "$bin/build_tables"
}

# built WHAT THREADS FILE...
built() {
	local what=$1 threads=$2 rows ns bytes
	shift 2
	"$bin/build_tables" -j "$threads" "$@" >built || return
	rows=$(of built rows) ns=$(of built wall_ns) bytes=$(of built eh_frame_bytes)
	record "$what: rows" "$threads threads" "$rows"
	record "$what: ms" "$threads threads" "$(calc "$ns / 1e6")"
	record "$what: ms of CPU" "$threads threads" "$(calc "$(of built cpu_ns) / 1e6")"
	record "$what: million rows a second" "$threads threads" "$(calc "$rows / $ns * 1e3")"
	record "$what: MB of .eh_frame a second" "$threads threads" "$(calc "$bytes / $ns * 1e3")"
}

built_tables || { say "build_tables cannot be built"; return; }
mapfile -t largest < <(find /usr/lib /usr/bin -type f -size +20M -printf '%s %p\n' 2>/dev/null | sort -rn | cut -d' ' -f2- |
	while read -r file; do readelf -SW "$file" 2>/dev/null | grep -q ' \.eh_frame ' && echo "$file"; done | head -6)
for ((round = 0; round < ROUNDS; round++)); do
	for threads in 1 "$(nproc)"; do
		built "mapped now" "$threads" /proc
		built "/usr/lib" "$threads" /usr/lib
	done
	for file in "${largest[@]}"; do
		built "$file" 1 "$file"
	done
done
