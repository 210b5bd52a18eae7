#!/usr/bin/env bash
# timeout: 500
# Debian 12's own kernel.
# On a slow machine all tests together would take more than 25 minutes with it.
[ $(($(date +%s) - ${RUN_BEGAN:-$(date +%s)})) -lt 1200 ] || { echo "20 minutes are over; make vm runs it"; exit 77; }
set -- 6.1 2
. "$(dirname "$0")/boot_x86_64.sh"
