#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: unwind src/elf_unwind
# timeout: 300
# Our rows of Go programs against the .debug_frame that Go's linker writes: static, through C, position independent.
set -eu
cd "$(dirname "$0")/../.."
OUT=${OUT:-.out}
command -v go >/dev/null || { echo "SKIP: no go"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "SKIP: Go's tables are read on x86-64 only"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
workloads=$(tests/workloads/build.sh "$OUT/workloads")
build() { env GO111MODULE=off GOCACHE="$workloads/.gocache" go build -ldflags=-compressdwarf=false "$@"; }
build -o "$dir/herd" tests/workloads/herd.go
build -buildmode=pie -o "$dir/herd_pie" tests/workloads/herd.go
build -o "$dir/herdc" tests/workloads/herdc.go
build -buildmode=pie -o "$dir/herdc_pie" tests/workloads/herdc.go
${CC:-gcc} -O2 -I. -D_GNU_SOURCE tests/oracle/go/go_libdw.c "$OUT/libprobee.a" -ldw -lelf -lz -lzstd -o "$dir/go_libdw"
"$dir/go_libdw" "$dir/herd" "$dir/herd_pie" "$dir/herdc" "$dir/herdc_pie" "$@"
