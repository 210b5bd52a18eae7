# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Share of user stacks that reach the outermost frame, by kind of program, and on a machine that runs all of them.

python3 "$here/roots.py" "$PROBEE" "$WORKLOADS"
