#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf unwind src/elf_unwind src/capture/stacks
# core: STACKS=2000
# timeout: 200
# beside: live
# Workloads whose call grammar is known: there must be no stack that no execution could have produced. STACKS=N looks at
# more stacks; tests/bench/part_grammar.sh looks at a million.
. "$(dirname "$0")/lib.sh"
export PROBEE WORKLOADS PYTHONDONTWRITEBYTECODE=1
for mode in "" --snapshots; do
	python3 "$LIVE/grammar.py" --samples "${STACKS:-8000}" $mode >"$T/out" 2>&1
	RC=$?
	sed 's/^/# /' "$T/out"
	check "${mode:-sampled}: $(tail -1 "$T/out")" equal $RC 0
done
done_testing
