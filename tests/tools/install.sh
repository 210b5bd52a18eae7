#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: Makefile tools
# make install puts a working program, a correct manual page and a working completion into DESTDIR.
set -u
unset MAKEFLAGS MFLAGS MAKELEVEL
fail() { echo "$*"; exit 1; }

make OUT="$OUT" install DESTDIR="$TMP/root" PREFIX=/usr >"$TMP/log" 2>&1 || { cat "$TMP/log"; exit 1; }
"$TMP/root/usr/bin/probee" --version >/dev/null || fail 'the installed program does not run'
"$TMP/root/usr/bin/pbee" --dry-run --time 100 --svg x.svg 2>&1 | grep -q '^probee sample ' || fail 'pbee does not take the command line of its ancestor'
"$TMP/root/usr/bin/xstack" --help 2>&1 | grep -q xstack || fail 'xstack is not there'

page=$TMP/root/usr/share/man/man1/probee.1
for c in $("$PROBEE" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' | grep -v help); do
	grep -q "^.SS probee ${c//-/\\\\-}$" "$page" || fail "the manual page has no section about $c"
	for o in $("$PROBEE" "$c" --help=all | grep -oE '^ .{0,6}--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+'); do
		grep -qF -- "${o//-/\\-}" "$page" || fail "the manual page misses $o of $c"
	done
	[ "$(grep -c "^\.B \(sudo \)\?probee ${c//-/\\\\-}" "$page")" -ge 2 ] || fail "the manual page has no examples of $c"
done
for s in NAME SYNOPSIS DESCRIPTION COMMANDS EXAMPLES ENVIRONMENT FILES 'EXIT STATUS' 'SEE ALSO'; do
	grep -q "^.SH $s$" "$page" || fail "the manual page has no $s"
done
# What an option does stands there once, unless commands say it in different words.
twice=$(awk '/^\.TP$/ {getline name; getline text; if (seen[name text]++) print name}' "$page")
[ -z "$twice" ] || fail "the manual page describes twice: $twice"
for o in --freq --svg --quiet; do
	grep -A1 -F -- "${o//-/\\-}" "$page" | grep -q . || fail "the manual page says nothing about $o"
done
# Every command line of the examples of docs/USE.md is there.
sed -n '/^## Examples/,/^## /{/^```/,/^```/p}' docs/USE.md | grep -v '^```' | sed 's/-/\\-/g' >"$TMP/examples"
[ -s "$TMP/examples" ] || fail 'docs/USE.md has no examples'
while read -r line; do
	grep -qxF -- "$line" "$page" || fail "the manual page misses the example: $line"
done <"$TMP/examples"
if command -v man >/dev/null; then
	warnings=$(MANROFFSEQ='' man --warnings -l "$page" 2>&1 >/dev/null)
	[ ! "$warnings" ] || fail "the manual page: $warnings"
fi

. "$TMP/root/usr/share/bash-completion/completions/probee"
complete_words() { COMP_WORDS=("$PROBEE" "$@") COMP_CWORD=$#; _probee; echo "${COMPREPLY[*]}"; }
[ "$(complete_words doct)" = doctor ] || fail "completes doct to: $(complete_words doct)"
[ "$(complete_words doctor --qu)" = --quiet ] || fail "completes --qu to: $(complete_words doctor --qu)"

unit=$TMP/root/usr/lib/systemd/system/probee-agent.service
grep -qx 'ExecStart=/usr/bin/probee agent' "$unit" || fail 'the unit of the agent does not start the installed program'
if command -v systemd-analyze >/dev/null; then
	sed "s,^ExecStart=,&$TMP/root," "$unit" >"$TMP/probee-agent.service"
	said=$(systemd-analyze verify "$TMP/probee-agent.service" 2>&1) || fail "systemd does not take the unit: $said"
	[ ! "$said" ] || fail "systemd says of the unit: $said"
fi

make OUT="$OUT" uninstall DESTDIR="$TMP/root" PREFIX=/usr >/dev/null || fail 'make uninstall failed'
[ -z "$(find "$TMP/root" -type f)" ] || fail 'make uninstall leaves files behind'
