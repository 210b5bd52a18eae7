#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/commands formats/trace
# probee report and info of files that are not traces.
. tests/cli/lib.sh

: >"$TMP/empty.pbz"
printf 'GIF89a and some more bytes that are no trace at all' >"$TMP/picture.pbz"
head -c 100000 /dev/urandom >"$TMP/noise.pbz"
printf '\x50\x2a\x4d\x18' >"$TMP/magic.pbz"
mkdir "$TMP/dir.pbz"
echo '#!/bin/sh' >"$TMP/locked.pbz"
chmod 0 "$TMP/locked.pbz"

for c in report info verify symbolize; do
	o=; [ $c != symbolize ] || o="-o $TMP/out.pbz"
	run probee $c;                          exits 2
	run probee $c "$TMP/none.pbz" $o;       exits 1; one_line; says 'none.pbz'; says 'No such file'
	run probee $c "$TMP/dir.pbz" $o;        exits 1; one_line; says 'dir.pbz'
	for bad in empty picture noise magic; do
		run timeout 10 "$PROBEE" $c "$TMP/$bad.pbz" $o; exits 1; one_line; says "$bad.pbz"
		[ ! -s "$TMP/stdout" ] || wrong 'prints something all the same'
	done
	run timeout 10 "$PROBEE" $c /dev/null $o; exits 1; one_line
	run timeout 10 "$PROBEE" $c /bin/ls $o; exits 1; one_line
	if [ "$(id -u)" != 0 ]; then
		run probee $c "$TMP/locked.pbz" $o; exits 1; one_line; says 'Permission denied'
	fi
	[ ! -e "$TMP/out.pbz" ] || wrong "writes a trace all the same"
done
# A recording made by root, read by another user.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"; }
	cp "$PROBEE" "$TMP/copy" && chmod 755 "$TMP" "$(dirname "$TMP")" "$TMP/copy"
	: >"$TMP/roots.pbz" && cp "$TMP/roots.pbz" "$TMP/of root.pbz"
	chmod 600 "$TMP/roots.pbz" "$TMP/of root.pbz"
	run as_nobody "$TMP/copy" report "$TMP/roots.pbz";   exits 1; one_line
	says "roots.pbz: Permission denied. Try: sudo chown \$USER $TMP/roots.pbz"
	run as_nobody "$TMP/copy" info "$TMP/of root.pbz";   exits 1; one_line
	says "Try: sudo chown \$USER '$TMP/of root.pbz'"
	chown 65534 "$TMP/roots.pbz" && chmod 0 "$TMP/roots.pbz"
	run as_nobody "$TMP/copy" info "$TMP/roots.pbz";     exits 1; one_line; says 'Permission denied'
	grep -q chown "$TMP/stderr" && wrong 'advises to take over what is ours already'
fi

run probee report "$TMP/empty.pbz" --svg="$TMP/new.svg"
exits 1
[ ! -e "$TMP/new.svg" ] || wrong 'leaves a picture of nothing behind'
finish
