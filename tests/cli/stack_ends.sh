#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/profile/stack_note.c src/report/stack_cause.c formats/render/columns.c formats/render/svg/svg_text.c formats/render/page/page_functions.c formats/render/waits/wait_stacks.c
# Why a stack is not whole is said in words where people read, and by the names of TRACE.md in files for programs.
. tests/cli/lib.sh

need_library
make_fixture "$TMP/trace.pbz"
cd "$TMP"
words='[cut: no unwind table for this address]' name='[truncated: no-fde]'
prints_not() { ! grep -qF -e "$1" stdout || wrong "prints: $1"; }

for o in --text --svg; do
	run probee report trace.pbz $o; exits 0; prints "$words"; prints_not "$name"
done
# The strings of a page are packed.
strings_of() {
	python3 -c 'import base64, re, sys, zlib
for run in re.findall(rb"[A-Za-z0-9+/]{100,}=*", sys.stdin.buffer.read()):
    data = base64.b64decode(run + b"==")
    for at in [i for i in range(len(data)) if data[i] == 0x78]:
        try: sys.stdout.buffer.write(zlib.decompressobj().decompress(data[at:]))
        except zlib.error: pass
    sys.stdout.buffer.write(data)'
}
run bash -c "$(declare -f strings_of); \"\$PROBEE\" report trace.pbz --html | strings_of"
for prints in "$words" hot_loop; do grep -qaF "$prints" stdout || wrong "the page has no $prints"; done
! grep -qaF "$name" stdout || wrong "the page has $name"
run probee diff trace.pbz trace.pbz --text --by none; exits 0; prints_not "$name"
run probee tui trace.pbz --once --view flame --size 250x40; exits 0; prints "$words"; prints_not truncated
run probee report trace.pbz --weight wall --text; exits 0; prints '[cut: it ran during the snapshot]'
for o in --collapse --csv --json --ndjson --speedscope --firefox --callgrind --perf-script '--text --full-names'; do
	run probee report trace.pbz $o; exits 0; prints "$name"; prints_not "$words"
done
run bash -c '"$PROBEE" report trace.pbz --pprof | gzip -dc'; exits 0; grep -qaF "$name" stdout || wrong "has no $name"
finish
