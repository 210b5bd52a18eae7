# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What --usdt-stack costs: a program calls a function with USDT probes at its entry and its return as often as it can. "added" is what a
# call takes longer than with bare uprobes at both, whose BPF program does nothing; times are those of the quickest thousand calls.

echo '#include <sys/sdt.h>' | gcc -E -x c -o /dev/null - 2>/dev/null || cannot "no sys/sdt.h"
gcc -std=gnu11 -O2 -D_GNU_SOURCE "$here/usdt_calls.c" -o "$bin/usdt_calls" || cannot "usdt_calls could not be built"
gcc -std=gnu11 -O2 -D_GNU_SOURCE "$here/bare_uprobes.c" -o "$bin/bare_uprobes" || cannot "bare_uprobes could not be built"
USDT_S=${USDT_S:-2}
usdt=$bin/usdt_calls
pair=$usdt:calls:entry,$usdt:calls:leave
read -r -a places < <("$here/usdt_offsets.py" "$usdt" | tr '\n' ' ')

for _ in $(seq "$ROUNDS"); do
	"$usdt" "$USDT_S" >none.out
	"$bin/bare_uprobes" "$usdt" "${places[@]}" -- "$usdt" "$USDT_S" >bare.out || cannot "no uprobes by links for many"
	record 'usdt: ns of a call' 'no probes' "$(of none.out call_ns)"
	record 'usdt: ns of a call' 'bare uprobes' "$(of bare.out call_ns)"
	for what in name=arg2 name=arg2,line=arg3 name=arg2,file=arg1,line=arg3; do
		"$PROBEE" sample -q --usdt-stack "$pair,$what" -o usdt.pbz -- "$usdt" "$USDT_S" >usdt.out 2>usdt.err
		record "usdt-stack: ns added to each call, $what" probee "$(calc "$(of usdt.out call_ns) - $(of bare.out call_ns)")"
	done
done
