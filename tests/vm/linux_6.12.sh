#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 500
# Debian 13's kernel with four CPUs, two of them without ticks: there the registers in memory are the oldest.
set -- 6.12 4 nohz_full=2-3
. "$(dirname "$0")/boot_x86_64.sh"
