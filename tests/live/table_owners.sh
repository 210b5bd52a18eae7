#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/capture/tables src/capture/stacks
# core: yes
# timeout: 240
# One user's processes have far more different libraries than there is room for tables, and all are met by stacks: the
# stacks of another user's program stay whole, and its library keeps its table.
. "$(dirname "$0")/lib.sh"

chain="main;child;many_outer;many_middle;many_inner;wait_here"
as() { local uid=$1; shift; setpriv --reuid="$uid" --regid="$uid" --clear-groups "$@"; }
command -v setpriv >/dev/null || skip "no setpriv"

check "a program with room for little" build_small

chmod 777 .
mapfile -t flood < <(as 4001 "$ROOT/tests/workloads/many_copies.py" "$T/flood" 60 "$WORKLOADS/many_lib_1024.so")
mapfile -t own < <(as 4002 "$ROOT/tests/workloads/many_copies.py" "$T/own" 1 "$WORKLOADS/many_lib_64.so")
cp "$WORKLOADS/many" victim
cp "$WORKLOADS/many" flooder
program() { printf '#!/bin/bash\nexec setpriv --reuid=%s --regid=%s --clear-groups %s "$@"\n' "$2" "$2" "$T/$3" >"$1"; chmod 755 "$1"; }
program run_flooder 4001 flooder
program run_victim 4002 victim
start "$T/run_flooder" 60 1 "${flood[@]}"
pids=$(pgrep -d, -P "$PID")
start "$T/run_victim" 4 1 "${own[@]}"
pids+=,$(pgrep -d, -P "$PID")

PROBEE=$T/small snapshot -p "$pids" --walk-all -F 10 -d 10 -o all.pbz
check "exit status" equal "$RC" 0
zstd -dcq all.pbz | grep -ao 'rows=[a-z0-9= ]*' >said
check "tables are thrown out" at_least "$(tr ' ' '\n' <said | sed -n 's/^evicted=//p')" 10
folded all.pbz >all.folded
victims() { awk -v chain="$1" '/^victim;/ && index($0, chain) { n += $NF } END { printf "%.0f\n", n }' all.folded; }
n=$(victims victim)
check "the victim has stacks" at_least "$n" 40
check "99 of 100 of them are whole" at_least $((100 * $(victims "$chain"))) $((99 * n))
done_testing
