#!/usr/bin/env bash
# timeout: 500
# Debian 12's own kernel.
set -- 6.1 2
. "$(dirname "$0")/boot_x86_64.sh"
