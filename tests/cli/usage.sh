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
# In tiers: a screen of the options that matter, the groups, all of them; topics; recipes.
for c in $commands; do
	run probee "$c" -h; exits 0; silent; prints "usage: probee $c"; prints 'Examples:'; prints "probee $c --help"
	brief=$(grep -c '^ .*--[a-z]' "$TMP/stdout")
	[ "$(wc -l <"$TMP/stdout")" -le 34 ] || wrong "is longer than a screen"
	run probee "$c" --help=all; exits 0; silent
	[ "$(grep -c '^ .*--[a-z]' "$TMP/stdout")" -ge "$((brief - 6))" ] || wrong 'has fewer options than -h'
	while read -r o; do
		run probee "$c" --help=all; prints "--$o"
	done < <(probee "$c" -h | sed -n '/^Options:/,/^Examples:/s/^  .\{0,6\}--\([a-z-]*\).*/\1/p')
done
run probee sample --help;     prints 'probee help output'; prints '--freq'; prints 'Examples:'
grep -q -- --speedscope "$TMP/stdout" && wrong 'has what a topic has'
run probee sample --help=all; prints '--speedscope'; prints '--flight'
run probee help output;       exits 0; silent; prints '--speedscope'
grep -q 'usage:' "$TMP/stdout" && wrong 'is more than a topic'
run probee help flight;       prints '--trigger'
run probee help filters;      prints '--include'
run probee help recipes;      exits 0; silent; prints 'probee diff'
# Each recipe is a command line that is understood, but for its program and its process.
while read -r line; do
	for part in "${line%%;*}" "${line##*; }"; do
		part=${part#sudo }
		[[ $part != 'probee dump'* ]] || continue
		[[ $part == 'probee report'* || $part == 'probee diff'* || $part == 'probee top'* ]] ||
			{ run bash -c "\"$PROBEE\" ${part#probee } --columns help"; exits 0; prints timestamp; }
	done
done < <(probee help recipes | sed -n 's/ -- .*//; s/^    //p')

run probee --help
[ "$(awk 'length > 80' "$TMP/stdout" | wc -l)" = 0 ] || wrong "help is wider than 80 columns"

# No usage line ends in a full stop too many.
for c in report diff info verify symbolize; do
	run probee "$c" 1 2 3; exits 2; says "usage: probee $c"; says " Try: probee $c --help"
	grep -qF '....' "$TMP/stderr" && wrong 'has a full stop behind an ellipsis'
done
finish
