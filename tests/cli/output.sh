#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/output src/commands
# The place where output goes may be full, closed or gone.
. tests/cli/lib.sh

run bash -c '"$PROBEE" --help >/dev/full';          exits 1; one_line; says 'write to standard output: No space left'
run bash -c '"$PROBEE" doctor >/dev/full';          [ "$rc" = 1 ] || [ "$rc" = 77 ] || wrong "exit $rc"; one_line
run bash -c '"$PROBEE" --help >&-';                 exits 1; one_line; says 'write to standard output'
run bash -c '"$PROBEE" --help 2>&-';                exits 0
run bash -c '"$PROBEE" nonsense 2>&-';              exits 2
run bash -c '"$PROBEE" --version <&- >&- 2>&-';     exits 1

# A reader that has seen enough: no message, no failure, not killed.
run bash -c '"$PROBEE" --help | true; echo "${PIPESTATUS[0]}"'; silent; prints 0
mkfifo "$TMP/pipe"
sleep 0.2 <"$TMP/pipe" &
run bash -c 'exec >"$TMP/pipe"; sleep 0.5; exec "$PROBEE" --help'
exits 0; silent
finish
