# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The memory of `record -a` at 999 Hz and 10 walks a second beside 300 processes of some 60 programs of this machine, of
# which a few compute, for MEMORY_SECONDS (600): all processes of probee together, once in two seconds. BASELINE: another
# probee, for the same time after the first. On a machine that others use, too, their programs count: with
# `unshare -pf --mount-proc tests/bench/bench.sh memory` only those of this file are recorded.

MEMORY_SECONDS=${MEMORY_SECONDS:-600}

# Programs that wait for their input, and more that read it as long as it comes.
waiting=(cat tac sort uniq wc head tail cut tr rev nl od hexdump base64 md5sum sha1sum sha256sum sha512sum b2sum gzip bzip2
	xz zstd awk sed python3 perl bash dash node gdb m4 bc xargs paste fold fmt pr expand unexpand cksum sum tsort shuf
	factor sha224sum sha384sum tee column col colrm look comm strings iconv openssl cc1 as php ruby lua sqlite3 bash)
busy=(md5sum sha512sum xz zstd wc sort awk gzip)

# begin_programs: 300 processes, five of each program. Their input is a pipe that stays open.
begin_programs() {
	local name i fd input
	mkfifo input
	exec {input}<>input
	for name in "${waiting[@]}"; do
		have "$name" || continue
		for i in 1 2 3 4 5; do
			case $name in
			sleep) set -- 100000 ;;
			tr) set -- a b ;;
			cut) set -- -c1 ;;
			sed | awk) set -- 1 ;;
			iconv) set -- -t utf-8 ;;
			openssl) set -- sha256 ;;
			comm) set -- - /dev/null ;;
			look) set -- x input ;;
			*) set -- ;;
			esac
			"$name" "$@" <&"$input" >/dev/null 2>&1 &
			STARTED+=($!)
			disown
		done
	done
	for name in "${busy[@]}"; do
		nice -n 19 "$name" </dev/zero >/dev/null 2>&1 &
		STARTED+=($!)
		disown
	done
	sleep 2
}

# one NAME PROBEE: the largest PSS, and by how much the second half's median exceeds that of the first.
one() {
	local end
	launched life "$2" record -q -a -F 999 --snap-freq 10 -o memory.pbz
	[ -n "$TOOL_PID" ] || return
	end=$(($(date +%s) + MEMORY_SECONDS))
	while [ "$(date +%s)" -lt "$end" ]; do
		pss "$TOOL_PID"
		sleep 2
	done >pss
	kill -INT "$TOOL_PID"
	wait $LAUNCH
	record "record -a: PSS MiB, largest" "$1" "$(sort -n pss | awk 'END { print $1 / 1024 }')"
	record "record -a: PSS MiB, median" "$1" "$(sort -n pss | awk '{ v[NR] = $1 } END { print v[int(NR / 2) + 1] / 1024 }')"
	record "record -a: % that the second half has more" "$1" "$(awk '{ v[NR] = $1 } END { n = int(NR / 2)
		for (i = 1; i <= n; i++) a += v[i]; for (; i <= 2 * n; i++) b += v[i]; print (b - a) * 100 / a }' pss)"
	record "record -a: BPF tables, MiB" "$1" "$(zstd -dcq memory.pbz | grep -ao 'bytes=[0-9]* tables=' | tail -1 |
		awk -F'[= ]' '{ print $2 / 1048576 }')"
}

begin_programs
say "$(pgrep -c .) processes, $(nproc) CPUs"
one probee "$PROBEE"
[ -z "${BASELINE:-}" ] || one baseline "$BASELINE"
