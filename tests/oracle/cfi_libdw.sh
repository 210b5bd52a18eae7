#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: unwind src/elf_unwind
# core: FILE_SHARE=30
# timeout: 600
# Our unwind rows against libdw's, at every row boundary, over every ELF file of this machine's /usr.
# FILE_SHARE=N (3): one file in N, others each day; 1: all.
set -eu
export FILE_SHARE=${FILE_SHARE:-3}
cd "$(dirname "$0")/../.."
OUT=${OUT:-.out}
tool=$(mktemp -d)/cfi_libdw
trap 'rm -rf "${tool%/*}"' EXIT
${CC:-gcc} -O2 -I. -D_GNU_SOURCE tests/oracle/*.c "$OUT/libprobee.a" -ldw -lelf -lz -lzstd -o "$tool"
"$tool" -n 0 "${@:-/usr}"
