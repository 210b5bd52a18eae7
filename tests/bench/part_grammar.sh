# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Counts impossible stacks among a million, from workloads whose call grammar is known (tests/live/grammar.py).

PROBEE=$PROBEE WORKLOADS=$WORKLOADS python3 "$here/../live/grammar.py" --samples "${STACKS:-1000000}"
PROBEE=$PROBEE WORKLOADS=$WORKLOADS python3 "$here/../live/grammar.py" --samples "${WALKS:-100000}" --snapshots
