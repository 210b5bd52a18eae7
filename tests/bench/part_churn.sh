# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Memory of `top -a` beside Python and Java programs that start and end one after the other, as fast as they can: PSS of all its
# processes, and of the recorder and the view alone, after each of CHURN_MINUTES (5). BEFORE=FILE: another probee at the same time,
# beside the same programs. In a PID namespace of its own.

if [ -z "${CHURN_INSIDE:-}" ]; then
	CHURN_INSIDE=1 OUT=$OUT PROBEE=$PROBEE ROUNDS=$ROUNDS unshare -pf --mount-proc "$here/bench.sh" churn
	return
fi

churn() {
	while :; do
		python3 -S -c 'import json, decimal, email, argparse, unittest
for _ in range(300): json.loads(json.dumps({str(k): [k] * 5 for k in range(50)}))'
		! have java || java -version
	done >/dev/null 2>&1
}

# begin_top PROBEE: sets TOP.
begin_top() {
	python3 -S -c 'import os, pty, sys
pid, fd = pty.fork()
if not pid: os.execv(sys.argv[1], [sys.argv[1], "top", "-a"])
print(pid, flush=True)
try:
    while os.read(fd, 65536): pass
except OSError: pass' "$1" >top.pid &
	STARTED+=("$!")
	until [ -s top.pid ]; do sleep 0.1; done
	TOP=$(cat top.pid)
	rm top.pid
	STARTED+=("$TOP")
}

# top_memory NAME MINUTE PID
top_memory() {
	local p most=0 kib
	record "after $2 min: all, MiB" "$1" "$(calc "$(pss "$3") / 1024")"
	record "after $2 min: view, MiB" "$1" "$(calc "$(awk '/^Pss:/ { print $2 }' "/proc/$3/smaps_rollup") / 1024")"
	for p in $(family "$3"); do
		[ "$p" != "$3" ] || continue
		kib=$(awk '/^Pss:/ { print $2 }' "/proc/$p/smaps_rollup" 2>/dev/null)
		[ "${kib:-0}" -le $most ] || most=$kib
	done
	record "after $2 min: recorder, MiB" "$1" "$(calc "$most / 1024")"
}

tops=() names=()
[ -z "${BEFORE:-}" ] || { begin_top "$BEFORE"; tops+=("$TOP") names+=(before); }
begin_top "$PROBEE"
tops+=("$TOP") names+=(probee)
churn &
churning=$!
STARTED+=("$churning")
for minute in $(seq "${CHURN_MINUTES:-5}"); do
	sleep 60
	for i in "${!tops[@]}"; do top_memory "${names[i]}" "$minute" "${tops[i]}"; done
done
finish $churning
for p in "${tops[@]}"; do finish "$p"; done
