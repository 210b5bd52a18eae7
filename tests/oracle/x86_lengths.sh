#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: unwind/x86_insn.c
# timeout: 300
# Our instruction lengths against objdump's, over whole files: compilers' code, and libraries full of vector instructions.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
[ "$(uname -m)" = x86_64 ] || { echo "SKIP: objdump here is for another machine"; exit 77; }
OUT=${OUT:-.out}
tool=$(mktemp -d)/x86_lengths
trap 'rm -rf "${tool%/*}"' EXIT
${CC:-gcc} -O2 -I. -D_GNU_SOURCE tests/oracle/code/x86_lengths.c "$OUT/libprobee.a" -o "$tool"
lib=/usr/lib/x86_64-linux-gnu
found=0
for file in "${@:-$lib/libc.so.6}" "$OUT/probee" $lib/libcrypto.so.3 $lib/libm.so.6 $lib/libx265.so.199 $lib/libdav1d.so.6 \
	$lib/libstdc++.so.6 $lib/libgcrypt.so.20 $lib/libmvec.so.1; do
	[ -e "$file" ] || continue
	found=$((found + 1))
	printf '%s: ' "${file##*/}"
	objdump -d -w -M intel64 "$file" | "$tool"
done
[ $found -ge 3 ]
