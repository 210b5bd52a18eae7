#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 500
# The kernel of Debian 12.
set -- 6.1 2
. "$(dirname "$0")/boot_x86_64.sh"
