#!/usr/bin/env bash
# timeout: 300
# Other tests of this folder, run inside a PID namespace as they are: all their numbers are those of the namespace there.
. "$(dirname "$0")/lib.sh"

unshare -pf --mount-proc true 2>/dev/null || skip "no PID namespaces here"
for name in waits peers; do
	unshare -pf --mount-proc --kill-child "$LIVE/$name.sh" >"$name.tap" 2>"$name.err"
	check "$name.sh in there: exit status" equal $? 0
	check "$name.sh in there: checks" at_least "$(grep -c '^ok' "$name.tap")" 20
	grep -A3 '^not ok' "$name.tap" | sed 's/^/# /'
done
done_testing
