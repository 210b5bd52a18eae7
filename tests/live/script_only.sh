#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/report src/model
# timeout: 60
# beside: live
# --script-only shows the functions of a Python program alone, with the time of what these call in C; --native-only shows none.
. "$(dirname "$0")/lib.sh"
read -r version python < <("$ROOT/tests/oracle/python/pythons.sh" | grep -v '^missing:')
[ "$python" ] || skip "no Python that is known"
cat >spin.py <<-'END'
	import time, zlib
	data = bytes(1 << 20)
	def in_c():
	    zlib.compress(data, 9)
	def outer():
	    until = time.process_time() + 2
	    while time.process_time() < until:
	        in_c()
	outer()
END
"$PROBEE" sample -q -F 199 -o t.pbz -- bash -c 'for ((i = 0; i < 300000; i++)); do :; done; exec "$0" -S spin.py' "$python"
report() { "$PROBEE" report t.pbz --collapse --by none "$@" 2>/dev/null; }
sum() { awk '{ s += $NF } END { print s + 0 }'; }
all=$(report | sum)
check "the stacks with in_c end there ($version)" [ "$(report --script-only --include '^in_c$' | grep -vc '^<module>;outer;in_c [0-9]*$')" = 0 ]
check "they have most of the time" [ "$(report --script-only | grep '^<module>;outer;in_c ' | sum)" -gt $((all / 2)) ]
check "the others are [native]" grep -q '^\[native\] [0-9]*$' <(report --script-only)
check "sums stay the same" [ "$(report --script-only | sum)" = "$all" ]
check "--hide takes a function of Python away" [ "$(report --script-only --hide '^in_c$' | grep '^<module>;outer ' | sum)" -gt $((all / 2)) ]
check "--native-only has none" [ "$(report --native-only | grep -cw 'in_c\|outer')" = 0 ]
done_testing
