#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf src/proc src/capture/waits
# light: yes
# beside: live
# timeout: 300
# Runs another test of this folder, unchanged, inside a PID namespace: all numbers in it are those of the namespace.
. "$(dirname "$0")/lib.sh"

unshare -pf --mount-proc true 2>/dev/null || skip "no PID namespaces here"
unshare -pf --mount-proc --kill-child "$LIVE/waits.sh" >waits.tap 2>waits.err
check "waits.sh in there: exit status" equal $? 0
check "waits.sh in there: checks" at_least "$(grep -c '^ok' waits.tap)" 20
grep -A3 '^not ok' waits.tap | sed 's/^/# /'
done_testing
