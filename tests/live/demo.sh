#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: tools/demo.sh tests/workloads/orders.cc
# What `make demo` shows: the service's stacks have names for all frames, the hot function is first, and its lock has a holder.
. "$(dirname "$0")/lib.sh"
command -v g++ >/dev/null || { echo "there is no g++ to build the service with"; exit 77; }

OUT="${OUT:-$ROOT/.out}" DEMO="$T/demo" DEMO_SECONDS=2 "$ROOT/tools/demo.sh" >out 2>err
check "it ends well" equal $? 0
for f in orders.svg orders.html orders.folded machine.html orders.pbz machine.pbz; do
	check "it writes $f" test -s "demo/$f"
done
check "no frame of the service is without a name" not grep -oE '\[[^];]*\+0x[0-9a-f]+\]' demo/orders.folded
check "the hot function is on top" grep -qE '^ *[0-9.]+ .*orders::checksum' out
check "it says who holds the lock" grep -qE 'billing .* journal [0-9]+' out
check "it says what to try next" grep -q 'help recipes' out
# The commands that it names are commands.
while read -r words; do
	check "$words" timeout 20 bash -c "cd '$ROOT' && $words >/dev/null 2>&1 </dev/null"
done < <(sed -n '/^What to try next/,$s/ *#.*//p' out | grep -v ' top$' | sed 's/^ *//; s/^sudo //')
done_testing
