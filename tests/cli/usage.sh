#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/base/opt.c src/base/opt_help.c src/commands src/main.c
# Help, version and mistakes on the command line.
. tests/cli/lib.sh

run probee;                     exits 0; prints 'usage: probee COMMAND'
run probee --help;              exits 0; silent; prints 'usage: probee COMMAND'; prints 'doctor'; prints 'Exit codes'
run probee -h;                  exits 0; silent; prints 'usage: probee COMMAND'
run probee help;                exits 0; silent; prints 'usage: probee COMMAND'
run probee --version;           exits 0; silent; prints 'probee '; prints 'libbpf '; prints 'zstd '
run probee doctr;               exits 2; one_line; says "unknown command 'doctr'. Try: probee doctor"
run probee Doctor;              exits 2; says 'Try: probee doctor'
run probee xyzzyx;              exits 2; one_line; says 'Try: probee --help'
run probee help nothing_such;   exits 2; one_line
run probee --nothing-such;      exits 2; one_line; says 'unknown option'
run probee '';                  exits 2; one_line
run probee $'\e[31mred';        exits 2; one_line; says '\x1b[31mred'

commands=$("$PROBEE" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' | grep -v '^help$')
[ "$(wc -w <<<"$commands")" -ge 1 ] || { echo "no commands in --help"; exit 1; }
for c in $commands; do
	run probee "$c" --help; exits 0; silent; prints "usage: probee $c"; prints '-h, --help'
	run probee help "$c";   exits 0; silent; prints "usage: probee $c"
	run probee "$c" --no-such-option; exits 2; says 'unknown option --no-such-option'
	run probee "$c" --help
	[ "$(awk 'length > 80' "$TMP/stdout" | wc -l)" = 0 ] || wrong "help is wider than 80 columns"
	[ -z "$(grep -E '^[A-Z].*:$' "$TMP/stdout" | sort | uniq -d)" ] || wrong 'has two groups of one name'
done
run probee --help
[ "$(awk 'length > 80' "$TMP/stdout" | wc -l)" = 0 ] || wrong "help is wider than 80 columns"

# No usage line ends in a full stop too many.
for c in report diff info verify symbolize; do
	run probee "$c" 1 2 3; exits 2; says "usage: probee $c"; says " Try: probee $c --help"
	grep -qF '....' "$TMP/stderr" && wrong 'has a full stop behind an ellipsis'
done
finish
