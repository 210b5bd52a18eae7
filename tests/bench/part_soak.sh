# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The memory of all processes of `top -a`, recorder and helpers too, after SOAK_SECONDS (3600) beside 300 sleeping threads, a few
# that run, and programs that come and go: python3, perl and the compiler, five of them in a second. One round: it takes as long
# as it says.

start threads 300 sleep
asleep=$PID
(while :; do
	python3 -c 'import json, random; [json.dumps(list(range(random.randrange(2000)))) for _ in range(300)]'
	perl -e '$s += $_ for 1 .. 300000'
	echo 'int f(int a) { return a * 3; }' | gcc -O1 -xc -c -o soak.o -
	sleep 0.5
done) &
STARTED+=($!)
load=$!
python3 -S "$here/soak.py" "${SOAK_SECONDS:-3600}" 30 "$PROBEE" top -a -F 99 --refresh-ms 2000 >soak.out 2>&1 ||
	say "soak: $(tail -n 1 soak.out)"
finish "$load"
finish "$asleep"
[ -z "${SOAK_ROWS:-}" ] || cp soak.out "$SOAK_ROWS"
record "top -a for ${SOAK_SECONDS:-3600} s: most PSS of all its processes, MiB" probee "$(of soak.out most_mib)"
record "top -a for ${SOAK_SECONDS:-3600} s: most PSS of the view, MiB" probee "$(of soak.out view_mib)"
record "top -a for ${SOAK_SECONDS:-3600} s: growth in the second half, %" probee "$(of soak.out growth_percent)"
