#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: unwind src/elf_unwind
# timeout: 300
# Rules that come from reading code (cfi_callsite.h, cfi_eh_return.h) against libdw, instruction by instruction: programs that bind
# functions, throw exceptions and encrypt are single-stepped, and after each step both unwind the stopped thread.
set -u
cd "$(dirname "$0")/../.."
OUT=${OUT:-.out}
[ "$(uname -m)" = x86_64 ] || { echo "SKIP: such rules are for x86-64"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "SKIP: needs root"; exit 77; }
W=$(tests/workloads/build.sh "$OUT/workloads") || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-gcc} -std=gnu11 -O2 -I. -D_GNU_SOURCE -DARCH_HEADER='"unwind/arch_x86_64.h"' tests/replay/capture.c "$OUT/libprobee.a" \
	-lbpf -ldw -lelf -lz -lzstd -lpcre2-8 -lseccomp -lcap-ng -liberty -lpthread -o "$work/capture" || exit 1
nr=0

# steps NAME STEPS STRIDE NEEDED COMMAND...: NEEDED is what the line with the counts must be like.
steps() {
	local name=$1 count=$2 stride=$3 needed=$4 pid line rc
	shift 4
	nr=$((nr + 1))
	"$@" >/dev/null 2>&1 </dev/null &
	pid=$!
	disown "$pid"
	sleep 0.5
	line=$(timeout 100 "$work/capture" "$pid" "$pid" "$name" "$name" "compare:$count:$stride" 2>"$work/err")
	rc=$?
	kill -KILL "$pid" 2>/dev/null
	sed 's/^/# /' "$work/err"
	if [ $rc = 0 ] && [[ $line =~ $needed ]]; then
		echo "ok $nr - $name: $line"
	else
		echo "not ok $nr - $name: $line"
	fi
}

steps "lazy binding" 5000 1 ' [0-9]+ as libdw.* [1-9][0-9]* further than libdw, 0 different' "$W/lazy"
steps "exceptions" 5000 13 ' [1-9][0-9]* handed to a handler' "$W/throws"
if command -v openssl >/dev/null; then
	# Without AVX-512 and VAES, as on most machines: functions whose CFA counts from rax and r11 call others.
	export OPENSSL_ia32cap=":~0xffffffffffffffff"
	for cipher in aes-128-gcm aes-256-cbc chacha20-poly1305; do
		steps "$cipher" 1500 3 ' 0 different' openssl speed -seconds 60 -bytes 8192 -evp $cipher
	done
else
	echo "ok $((++nr)) - ciphers # SKIP openssl is not installed"
fi
echo "1..$nr"
