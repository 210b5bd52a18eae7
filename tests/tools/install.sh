#!/bin/bash
# make install puts a working program, a correct manual page and a working completion into DESTDIR.
set -u
unset MAKEFLAGS MFLAGS MAKELEVEL
fail() { echo "$*"; exit 1; }

make OUT="$OUT" install DESTDIR="$TMP/root" PREFIX=/usr >"$TMP/log" 2>&1 || { cat "$TMP/log"; exit 1; }
"$TMP/root/usr/bin/probee" --version >/dev/null || fail 'the installed program does not run'

page=$TMP/root/usr/share/man/man1/probee.1
for c in $("$PROBEE" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' | grep -v help); do
	grep -q "^.SH probee $c" "$page" || fail "the manual page has no section about $c"
	for o in $("$PROBEE" "$c" --help | grep -oE '^ .{0,6}--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+'); do
		grep -qF -- "${o//-/\\-}" "$page" || fail "the manual page misses $o of $c"
	done
done
if command -v man >/dev/null; then
	warnings=$(MANROFFSEQ='' man --warnings -l "$page" 2>&1 >/dev/null)
	[ ! "$warnings" ] || fail "the manual page: $warnings"
fi

. "$TMP/root/usr/share/bash-completion/completions/probee"
complete_words() { COMP_WORDS=("$PROBEE" "$@") COMP_CWORD=$#; _probee; echo "${COMPREPLY[*]}"; }
[ "$(complete_words doct)" = doctor ] || fail "completes doct to: $(complete_words doct)"
[ "$(complete_words doctor --qu)" = --quiet ] || fail "completes --qu to: $(complete_words doctor --qu)"

make OUT="$OUT" uninstall DESTDIR="$TMP/root" PREFIX=/usr >/dev/null || fail 'make uninstall failed'
[ -z "$(find "$TMP/root" -type f)" ] || fail 'make uninstall leaves files behind'
