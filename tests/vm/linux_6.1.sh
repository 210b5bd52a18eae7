#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 500
# Debian 12's own kernel.
set -- 6.1 2
. "$(dirname "$0")/boot_x86_64.sh"
