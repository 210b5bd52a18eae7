#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/runtimes unwind bpf src/capture/session
# timeout: 200
# beside: live
# PHP frames in samples and snapshots of a program whose stacks prove themselves: names, lines, and where native frames are between
# (php_judge.py). All versions that are found, and with the JIT compiler (JIT_KINDS="function tracing").
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
judge() { timeout 100 python3 "$ROOT/tests/live/php_judge.py" "$@"; }
export PROBEE
# with_jit PHP KIND: a program that runs PHP with its JIT compiler; nothing: it has none.
with_jit() {
	local extension options="-d opcache.enable_cli=1 -d opcache.file_update_protection=0 -d opcache.jit_buffer_size=32M -d opcache.jit=$2"
	extension=$(find "$(dirname "$1")" -name opcache.so -path '*/php/*' 2>/dev/null | head -n 1)
	printf '#!/bin/sh\nexec %s -n -d zend_extension=%s %s "$@"\n' "$1" "${extension:-opcache}" "$options" >"jit_$2"
	chmod +x "jit_$2"
	# shellcheck disable=SC2016 # PHP's variables
	"./jit_$2" -r 'exit(opcache_get_status(false)["jit"]["on"] ? 0 : 1);' >/dev/null 2>&1 && echo "$PWD/jit_$2"
}
found=0
while read -r version php; do
	[ "$version" != missing: ] || { skip_part "PHP $php" "not on this machine"; continue; }
	check "PHP $version: stacks are paths of the tree of calls ($php)" judge "$php" "${SECONDS_EACH:-1.5}"
	for kind in ${JIT_KINDS:-function}; do
		jit=$(with_jit "$php" "$kind") || continue
		check "PHP $version: the same with compiled code, opcache.jit=$kind" judge "$jit" "${SECONDS_EACH:-2}"
	done
	[ $found = 1 ] || check "PHP $version: also while it sleeps" judge "$php" "${SECONDS_EACH:-2.5}" sleep
	found=1
done < <("$ROOT/tests/oracle/php/phps.sh")
[ $found = 1 ] || skip "no PHP that is known"
done_testing
