#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# gdb.sh N: tests/live/gdb_equal.sh with all of its programs, each stopped N times.
set -u
exec env ROUNDS="$1" SHARE=1 TMP="$PWD" "$(cd "$(dirname "$0")" && pwd)/../live/gdb_equal.sh"
