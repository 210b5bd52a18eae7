#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: Makefile
# Without a library make says which package is missing, and how to get it, before the compiler says anything.
set -u
unset MAKEFLAGS MFLAGS MAKELEVEL
bad=0
wrong() { echo "$*"; sed 's/^/    /' "$TMP/log"; bad=1; }

# without HEADER...: a compiler that sees all headers of this machine but these (first part of their names under /usr/include).
without() {
	local entry arch
	rm -rf "$TMP/include" "$TMP/out"
	mkdir "$TMP/include"
	for entry in /usr/include/*; do
		[[ " $* " == *" ${entry##*/} "* ]] || ln -s "$entry" "$TMP/include/"
	done
	arch=$(gcc -print-multiarch)
	printf '#!/bin/sh\nexec gcc -nostdinc -isystem "%s" -isystem "%s" -isystem "%s" "$@"\n' "$(gcc -print-file-name=include)" \
		"$TMP/include" "$TMP/include/$arch" >"$TMP/cc"
	chmod +x "$TMP/cc"
}
build() { make OUT="$TMP/out" CC="$TMP/cc" -j2 "$@" >"$TMP/log" 2>&1; }

# says TARGET TEXT: it fails with this line, and nothing was compiled or complained about.
says() {
	build "$1" && wrong "make $1: does not fail"
	grep -qxF "probee: $2" "$TMP/log" || wrong "make $1: does not say: $2"
	! grep -qE 'error:|fatal' "$TMP/log" || wrong "make $1: the compiler complains"
}

without libiberty zstd.h
says all 'not installed: libzstd-dev. Try: make deps'
without libiberty bpf
says all 'not installed: libbpf-dev libiberty-dev. Try: make deps'
says "$TMP/out/CAPTURE.headers" 'not installed: libbpf-dev libiberty-dev. Try: make deps'
build "$TMP/out/REPORT.headers" || wrong 'the report half needs them, too'
without cmocka.h
says "$TMP/out/CHECK.headers" 'not installed: libcmocka-dev. Try: make deps LEVEL=check'
without nothing
build "$TMP/out/CAPTURE.headers" "$TMP/out/REPORT.headers" "$TMP/out/CHECK.headers" || wrong 'fails although all are there'

# Each package that make can name is one that make deps installs.
for package in $(sed -n '/^[A-Z]*_HEADERS := /,/[^\\]$/p' Makefile | grep -o ':[a-z0-9-]*-dev' | tr -d :); do
	grep -qE "^(build|check)='.*\b$package\b" .ci/install-deps.sh || wrong "make deps does not know $package"
done
exit $bad
