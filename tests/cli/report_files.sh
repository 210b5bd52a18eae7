#!/bin/bash
# probee report and info of files that are no traces.
. tests/cli/lib.sh

: >"$TMP/empty.pbz"
printf 'GIF89a and some more bytes that are no trace at all' >"$TMP/picture.pbz"
head -c 100000 /dev/urandom >"$TMP/noise.pbz"
printf '\x50\x2a\x4d\x18' >"$TMP/magic.pbz"
mkdir "$TMP/dir.pbz"
echo '#!/bin/sh' >"$TMP/locked.pbz"
chmod 0 "$TMP/locked.pbz"

for c in report info verify; do
	run probee $c;                          exits 2
	run probee $c "$TMP/none.pbz";          exits 1; one_line; says 'none.pbz'; says 'No such file'
	run probee $c "$TMP/dir.pbz";           exits 1; one_line; says 'dir.pbz'
	for bad in empty picture noise magic; do
		run timeout 10 "$PROBEE" $c "$TMP/$bad.pbz"; exits 1; one_line; says "$bad.pbz"
		[ ! -s "$TMP/stdout" ] || wrong 'prints something all the same'
	done
	run timeout 10 "$PROBEE" $c /dev/null;  exits 1; one_line
	run timeout 10 "$PROBEE" $c /bin/ls;    exits 1; one_line
	if [ "$(id -u)" != 0 ]; then
		run probee $c "$TMP/locked.pbz"; exits 1; one_line; says 'Permission denied'
	fi
done
run probee report "$TMP/empty.pbz" --svg="$TMP/new.svg"
exits 1
[ ! -e "$TMP/new.svg" ] || wrong 'leaves a picture of nothing behind'
finish
