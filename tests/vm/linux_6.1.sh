#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf unwind src/capture tests/vm
# timeout: 1600
# The kernel of Debian 12.
# Some parts are done on 6.12 alone in a check.
set -- 6.1 2 "$([ "${VM_ARM64:-}" ] || echo probee.skip=two_chains)" 1
. "$(dirname "$0")/boot_x86_64.sh"
