#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/capture/bpf
# The large programs are loaded at once; where that fails, one by one. gdb makes it fail.
. "$(dirname "$0")/lib.sh"

command -v gdb >/dev/null || { skip_part "gdb is not installed"; done_testing; exit; }
start chain30 sleep
timeout 100 gdb -q -batch -ex 'set breakpoint pending on' -ex 'break parallel_load_end' -ex run \
	-ex 'printf "first %d at once %d\n", p->nr, p->at_once' -ex 'set var loaded = -22' -ex continue \
	-ex 'printf "again %d at once %d threads %d\n", p->nr, p->at_once, p->v[0].has_thread' -ex continue \
	--args "$PROBEE" snapshot -p "$PID" -i 1 -o again.pbz >gdb.out 2>&1
check "the first time at once" grep -qE '^first [1-9][0-9]* at once 1$' gdb.out
check "then one by one" grep -qE '^again [1-9][0-9]* at once 0 threads 0$' gdb.out
check "it ends well" grep -q 'exited normally' gdb.out
check "no error" not grep -q "load BPF" gdb.out
csv again.pbz >again.csv
check "the row is there" equal "$(stacks rows again.csv)" 1
check "and whole" stacks rooted again.csv
done_testing
