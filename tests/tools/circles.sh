#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src formats unwind
# core: yes
# No circle of files by what they call, and no knot of more than four modules by what they include (circles.py). First it is seen to
# find both where they are planted.
set -u
OUT=${OUT:-.out}
command -v nm >/dev/null || { echo 'no nm (binutils)'; exit 77; }
bad=0
mkdir -p "$TMP/t/src" && cd "$TMP/t" || exit 1
root=$OLDPWD
echo 'int b(void); int a(void); int a(void) { return b(); }' >src/a.c
echo 'int c(void); int b(void); int b(void) { return c(); }' >src/b.c
echo 'int c(void); int c(void) { return 0; }' >src/c.c
compile() { for f in src/*.c; do ${CC:-gcc} -c "$f" -o "${f%.c}.o" || exit 1; done; }
look() { PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/tools/circles.py" "$@"; }
compile
look . . src >"$TMP/log" || { echo 'finds a circle where there is none:'; cat "$TMP/log"; bad=1; }
echo 'int a(void); int c(void); int c(void) { return a(); }' >src/c.c
compile
look . . src >"$TMP/log" && { echo 'does not find a circle'; bad=1; }
grep -qx 'circle of 3 files: src/a src/b src/c' "$TMP/log" || { echo 'a circle of three is:'; cat "$TMP/log"; bad=1; }
echo 'int c(void); int c(void) { return 0; }' >src/c.c
compile
for i in 1 2 3 4 5; do echo "#include \"src/m$((i % 5 + 1)).h\"" >src/m$i.h; done
look . . src >"$TMP/log" && { echo 'does not find a knot'; bad=1; }
grep -q '^knot of 5 modules: src/m1 ' "$TMP/log" || { echo 'a knot of five is:'; cat "$TMP/log"; bad=1; }
cd "$root" || exit 1
[ -e "$OUT/src/main.o" ] || { echo 'nothing is built'; exit 77; }
look "$OUT" . src formats unwind || bad=1
exit $bad
