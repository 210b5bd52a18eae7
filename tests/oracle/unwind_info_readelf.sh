#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/inspect src/commands/cmd_unwind_info.c unwind src/elf_unwind
# timeout: 300
# probee unwind-info against readelf --debug-dump=frames-interp: counts of entries, and the rules at sampled addresses.
set -eu
cd "$(dirname "$0")/../.."
PROBEE=${PROBEE:-${OUT:-.out}/probee}
[ "$(uname -m)" = x86_64 ] || { echo "SKIP: knows the registers of x86_64 only"; exit 77; }
files=()
for f in /bin/bash /lib/x86_64-linux-gnu/lib{c,m,crypto,stdc++,gcc_s}.so.? /lib64/ld-linux-x86-64.so.2 /usr/bin/gdb \
	/lib/x86_64-linux-gnu/libelf.so.1 "$PROBEE"; do
	[ ! -e "$f" ] || files+=("$f")
done
exec python3 tests/oracle/unwind_info_readelf.py "$PROBEE" "${files[@]}"
