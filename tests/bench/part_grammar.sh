# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Impossible stacks among a million, of workloads whose call grammar is known (tests/live/grammar.py).

PROBEE=$PROBEE WORKLOADS=$WORKLOADS python3 "$here/../live/grammar.py" --samples "${STACKS:-1000000}"
PROBEE=$PROBEE WORKLOADS=$WORKLOADS python3 "$here/../live/grammar.py" --samples "${WALKS:-100000}" --snapshots
