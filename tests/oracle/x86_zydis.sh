#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: unwind/x86_insn.c unwind/code_effect.c
# timeout: 300
# What unwind/x86_insn.h says of instructions against Zydis, over all code of large files: compilers' code, libraries full
# of vector instructions, and data between functions. X86_FILES="..." says which.
set -eu
cd "$(dirname "$0")/../.."
[ "$(uname -m)" = x86_64 ] || { echo "files here are for another machine"; exit 77; }
OUT=${OUT:-.out}
tool=$(mktemp -d)/x86_zydis
trap 'rm -rf "${tool%/*}"' EXIT
echo '#include <Zydis/Zydis.h>' | ${CC:-gcc} -E - >/dev/null 2>&1 || { echo "no Zydis: libzydis-dev"; exit 77; }
${CC:-gcc} -std=gnu11 -O2 -Wall -Wextra -I. -D_GNU_SOURCE tests/oracle/code/x86_zydis.c "$OUT/libprobee.a" \
	-lZydis -lZycore -lelf -o "$tool"
lib=/usr/lib/x86_64-linux-gnu
files=()
for file in ${X86_FILES:-$lib/libc.so.6 $OUT/probee $lib/libcrypto.so.3 $lib/libstdc++.so.6 $lib/libgcrypt.so.20 $lib/libmvec.so.1 \
	$lib/libx265.so.199 $lib/libdav1d.so.6 /usr/bin/python3 /usr/bin/gdb}; do
	[ ! -e "$file" ] || files+=("$file")
done
[ ${#files[@]} -ge 3 ]
"$tool" "${files[@]}"
