#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf unwind src/elf_unwind src/capture/stacks src/symbolize
# core: SHARE=12
# timeout: 600
# beside: live
# Stopped threads of well-known programs have the same frames as in gdb, address by address, and a name wherever gdb has one. ROUNDS=N stops each program N
# times; THREADS=1000 continues until so many threads were judged. SHARE=N takes one program in N, others each day (3); 1: all.
. "$(dirname "$0")/lib.sh"
command -v gdb >/dev/null || skip "no gdb"
export PROBEE WORKLOADS PYTHONDONTWRITEBYTECODE=1
python3 "$LIVE/gdb_equal.py" --rounds "${ROUNDS:-1}" --threads "${THREADS:-0}" --share "${SHARE:-3}" >"$T/out" 2>&1
RC=$?
sed 's/^/# /' "$T/out"
check "$(tail -1 "$T/out")" equal $RC 0
done_testing
