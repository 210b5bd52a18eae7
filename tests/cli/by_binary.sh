#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/profile/fold_roots.c src/profile/fold_stacks.c src/profile/fold.c formats/render/text.c
# --by binary: a box and a row for each file, in which frames that call each other are one.
. tests/cli/lib.sh

need_library
make_fixture "$TMP/trace.pbz"
cd "$TMP"
# is TEXT: what was printed.
is() { [ "$(cat stdout)" = "$1" ] || wrong "is not: $1"; }

run probee report trace.pbz --by binary --collapse; exits 0
is '[truncated: no-fde];[unknown] 1
server 3
server;[kernel.kallsyms]_[k] 1'
run probee report trace.pbz --by comm,binary --collapse; exits 0
is 'server;server 3
worker;[truncated: no-fde];[unknown] 1
worker;server;[kernel.kallsyms]_[k] 1'
run probee report trace.pbz --by binary --lines --collapse-recursion --collapse; exits 0
prints 'server;[kernel.kallsyms]_[k] 1'
run probee report trace.pbz --by binary --text; exits 0
prints 'binary (3 of 3)'
grep -qE '^ 60\.00   80\.00 +30\.3 ms +3  server$' stdout || wrong 'has no row of the program'
grep -qE '^ 20\.00   20\.00 +10\.1 ms +1  \[kernel.kallsyms\]_\[k\]$' stdout || wrong 'has no row of the kernel'
# Functions that are asked for, too, have their file beside them.
run probee report trace.pbz --by binary,symbol --text; exits 0; prints 'function ('
run probee diff trace.pbz trace.pbz --by binary; exits 0
for o in --svg --html --json --pprof; do run probee report trace.pbz --by binary $o; exits 0; done
finish
