#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/report src/model src/profile formats/render src/commands
# What --hide and --script-only leave out is its callers', in every format; sums stay, and a stack of hidden frames alone says so.
. tests/cli/lib.sh
need_library
make_fixture "$TMP/f.pbz"

folded() { run "$PROBEE" report "$TMP/f.pbz" --collapse --by none "$@"; exits 0; }
is() {
	[ "$(cat "$TMP/stdout")" = "$1" ] || { wrong 'prints other stacks:'; diff "$TMP/stdout" - <<<"$1"; }
}

folded --hide '^handle_req' --hide '^hot'
is '[truncated: no-fde];[unknown] 1
_start;main;parse_header_[i] 2
_start;main;parse_header_[i];[server+0x7700] 1
_start;main;parse_header_[i];entry_SYSCALL_64_[k];do_syscall_64_[k];schedule_[k] 1'
# The innermost functions, inlined or not, and the outermost.
folded --hide 'parse|hot_loop|schedule|_start|\+0x7700'
is '[truncated: no-fde];[unknown] 1
main;handle_request(int) 3
main;handle_request(int);entry_SYSCALL_64_[k];do_syscall_64_[k] 1'
folded --hide .
is '[hidden] 4
[truncated: no-fde];[hidden] 1'
folded --script-only
is '[native] 4
[truncated: no-fde];[native] 1'
folded --inverted --hide 'parse|hot_loop|schedule|_start|\+0x7700'
grep -q '^handle_request(int);main 3$' "$TMP/stdout" || wrong 'does not give the weight to the caller'

# Other programs' formats.
run "$PROBEE" report "$TMP/f.pbz" --csv --columns ustack,kstack,stack --hide .
exits 0
grep -qx '\[hidden\]||server;\[hidden\]\|\[hidden\]||\[hidden\]' "$TMP/stdout" || wrong 'CSV does not say [hidden]'
! grep -q 'missing\|main' "$TMP/stdout" || wrong 'CSV shows what is hidden'
run "$PROBEE" report "$TMP/f.pbz" --perf-script --hide '^_start|main|^handle|parse|hot'
exits 0
prints '([unknown])'; prints '[hidden]'; prints 'schedule'
! grep -q 'missing\|main' "$TMP/stdout" || wrong 'shows what is hidden'
run "$PROBEE" report "$TMP/f.pbz" -o "$TMP/f.pb.gz" --hide 'main|handle|parse'
exits 0
gzip -dc "$TMP/f.pb.gz" | tr '\0' ' ' >"$TMP/pprof"
! grep -qa 'missing\|handle_request' "$TMP/pprof" || wrong 'pprof shows what is hidden'
grep -qa hot_loop "$TMP/pprof" || wrong 'pprof does not show what is not'
run "$PROBEE" diff "$TMP/f.pbz" "$TMP/f.pbz" --all --hide 'main'
exits 0; prints handle_request
! grep -q 'main' "$TMP/stdout" || wrong 'diff shows what is hidden'

# What is said of the quality of stacks is of whole stacks.
run "$PROBEE" report "$TMP/f.pbz" --text; grep '^stacks' "$TMP/stdout" >"$TMP/stacks"
run "$PROBEE" report "$TMP/f.pbz" --text --hide .; exits 0
grep '^stacks' "$TMP/stdout" | cmp - "$TMP/stacks" || wrong 'tells other stacks'

run "$PROBEE" report "$TMP/f.pbz" --hide '('
exits 2; says "--hide: '(' is no regular expression"
run "$PROBEE" report "$TMP/f.pbz" --script-only --native-only
exits 2; says 'leave nothing to see'
finish
