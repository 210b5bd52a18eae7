#!/usr/bin/env bash
# timeout: 500
# Debian 13's kernel with four CPUs, two of them without ticks: there the registers in memory are the oldest.
# On a slow machine all tests together would take more than 25 minutes with it.
[ $(($(date +%s) - ${RUN_BEGAN:-$(date +%s)})) -lt 840 ] || { echo "14 minutes are over; make vm runs it"; exit 77; }
set -- 6.12 4 nohz_full=2-3
. "$(dirname "$0")/boot_x86_64.sh"
