#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf unwind src/capture tests/vm
# timeout: 1600
# The kernel of Debian 13 with four CPUs. Two have no ticks, so the registers in memory are the oldest there.
# Some parts are done on 6.1 alone in a check.
set -- 6.12 4 "nohz_full=2-3$([ "${VM_ARM64:-}" ] || echo " probee.skip=inside,changes,hidden")" 0
. "$(dirname "$0")/boot_x86_64.sh"
