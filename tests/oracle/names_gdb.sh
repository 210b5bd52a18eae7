#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/symbolize src/debug_info
# timeout: 120
# The names of a few thousand random addresses against gdb's and c++filt's: libraries with and without debug packages,
# stripped and static programs, C++, Rust, Go. Takes other files as arguments; SEED and NR as in names_gdb.py.
set -eu
cd "$(dirname "$0")/../.."
OUT=${OUT:-.out}
for tool in gdb readelf c++filt python3; do
	command -v "$tool" >/dev/null || { echo "SKIP: no $tool"; exit 77; }
done
finder=$(mktemp -d)/find_names
trap 'rm -rf "${finder%/*}"' EXIT
${CC:-gcc} -O2 -I. -D_GNU_SOURCE tests/oracle/names/*.c "$OUT/libprobee.a" -ldw -lelf -liberty -llzma -lz -lzstd -o "$finder"
if [ $# = 0 ]; then
	workloads=$(tests/workloads/build.sh "$OUT/workloads")
	lib=/usr/lib/$(uname -m)-linux-gnu
	for file in "$lib"/{libc,libstdc++,libcrypto,libpython3.11,libLLVM-15}.so.* "$lib"/ld-linux-*.so.* /usr/bin/{bash,bpftrace,node} \
		"$OUT/probee" "$workloads"/{chain30_static,chain30_stripped,herd,crate_rs,notables,shop}; do
		[ ! -f "$file" ] || set -- "$@" "$file"
	done
fi
exec python3 tests/oracle/names_gdb.py "$finder" "$@"
