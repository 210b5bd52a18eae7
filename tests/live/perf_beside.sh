#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf unwind src/elf_unwind src/capture src/symbolize
# timeout: 300
# A busy program is sampled by perf (--call-graph dwarf,65528) and by probee at the same time. Both must show the same
# functions, roots and stacks. PROGRAMS="..." compares other programs of perf_beside.py, PROGRAMS=all all of them;
# SECONDS_EACH=S samples longer.
. "$(dirname "$0")/lib.sh"
command -v perf >/dev/null || skip "no perf"
export PROBEE WORKLOADS PYTHONDONTWRITEBYTECODE=1
PROGRAMS=${PROGRAMS:-chain30 drap twochains throws xz}
[ "$PROGRAMS" != all ] || PROGRAMS=
# shellcheck disable=SC2086	# a list of words
python3 "$LIVE/perf_beside.py" --seconds "${SECONDS_EACH:-3}" $PROGRAMS >"$T/out" 2>&1
RC=$?
sed 's/^/# /' "$T/out"
[ $RC != 77 ] || skip "$(tail -1 "$T/out")"
check "$(tail -1 "$T/out")" equal $RC 0
done_testing
