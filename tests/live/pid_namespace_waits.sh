#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# Another test of this folder, run inside a PID namespace as it is: all its numbers are those of the namespace there.
. "$(dirname "$0")/lib.sh"

unshare -pf --mount-proc true 2>/dev/null || skip "no PID namespaces here"
unshare -pf --mount-proc --kill-child "$LIVE/waits.sh" >waits.tap 2>waits.err
check "waits.sh in there: exit status" equal $? 0
check "waits.sh in there: checks" at_least "$(grep -c '^ok' waits.tap)" 20
grep -A3 '^not ok' waits.tap | sed 's/^/# /'
done_testing
