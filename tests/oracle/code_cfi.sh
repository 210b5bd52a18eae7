#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: unwind src/elf_unwind
# core: FILE_SHARE=30
# timeout: 600
# Rows that come from reading code against call frame information, over every ELF file of this machine's /usr with up to
# 1 MB of code (MAX_CODE=N: up to N bytes): read as if it had no CFI, once with the starts of functions known, once with
# the symbols that are there.
# FILE_SHARE=N (3): one file in N, others each day; 1: all.
set -eu
export FILE_SHARE=${FILE_SHARE:-3}
cd "$(dirname "$0")/../.."
[ "$(uname -m)" = x86_64 ] || { echo "SKIP: code is only read on x86-64"; exit 77; }
OUT=${OUT:-.out}
tool=$(mktemp -d)/code_cfi
trap 'rm -rf "${tool%/*}"' EXIT
${CC:-gcc} -O2 -I. -D_GNU_SOURCE tests/oracle/code/code_cfi.c tests/oracle/file_list.c "$OUT/libprobee.a" -lelf -lz -lzstd -o "$tool"
"$tool" -m "${MAX_CODE:-1000000}" "${@:-/usr}"
"$tool" -s -m "${MAX_CODE:-1000000}" "${@:-/usr}"
