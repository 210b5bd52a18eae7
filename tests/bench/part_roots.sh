# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Share of user stacks that reach the outermost frame, by kind of program, and of the machine that runs them all.

python3 "$here/roots.py" "$PROBEE" "$WORKLOADS"
