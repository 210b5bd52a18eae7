# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that nobody here wrote, which read what probee writes: npm packages, wheels of pip and a crate of cargo, at fixed versions,
# kept in $OUT/consumers.
#
#	modules=$(sh tests/consumers/install.sh NAME) || skip "$modules"
#
# prints the directory node_modules (of a crate: bin; of a wheel: that for PYTHONPATH, with bin in it) that has NAME and what it needs, and installs it first if it is not there. If that
# cannot be done, it prints the reason and exits with 77. Without NAME it lists the names.
#
# Each name has a directory of its own, so a test waits for nothing that it does not use. It is made beside its place and
# then renamed: half of it is never seen, and two tests may ask for the same one. No package runs a script of its own.
# Seconds are those of a first install, MB those on disk, measured on 2 CPUs near a registry.
set -eu

arch=$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')
# name: packages. Heavy ones (below) are installed only if CONSUMERS=all.
packages="
speedscope:     speedscope@1.25.0
profiler-cli:   @firefox-devtools/profiler-cli@0.10.0
node:           node-linux-$arch@24.9.0
duckdb:         @duckdb/node-api@1.5.6-r.1
chdb:           chdb@3.4.0
axe-core:       axe-core@4.14.1
d3-flame-graph: d3@7.9.0 d3-flame-graph@5.0.0
inferno:        crate inferno@0.12.4
duckdb-cli:     wheel duckdb-cli==1.5.6
duckdb-python:  wheel duckdb==2.0.0
chdb-python:    wheel chdb==4.4.0
"
heavy=' chdb inferno chdb-python '	# 8 s and 546 MB; 40 to 80 s to compile; 30 s and 887 MB

cannot() { echo "$*"; exit 77; }

install_crate() {
	command -v cargo >/dev/null || cannot "cargo is not installed, so $name is not there"
	nice timeout 300 cargo install --quiet --locked --root "$new" "${wanted#crate }" >"$new/log" 2>&1 ||
		cannot "cargo cannot install ${wanted#crate }: $(tail -n 1 "$new/log")"
}

install_wheels() {
	[ ! "$(find "$out/failed" -mmin -10 2>/dev/null)" ] || cannot "$(cat "$out/failed") (a moment ago)"
	python3 -m pip --version >/dev/null 2>&1 || cannot "pip is not installed, so $name is not there"
	timeout 200 python3 -m pip install --quiet --disable-pip-version-check --no-input --only-binary :all: --retries 1 --timeout 10 \
		--target "$new" "${wanted#wheel }" >"$new/log" 2>&1 && return
	echo "pip cannot install ${wanted#wheel }: $(grep -v '^ *$' "$new/log" | tail -n 1)" >"$out/failed"
	cannot "$(cat "$out/failed")"
}

install_modules() {
	[ ! "$(find "$out/failed" -mmin -10 2>/dev/null)" ] || cannot "$(cat "$out/failed") (a moment ago)"
	command -v npm >/dev/null || cannot "npm is not installed, so $name is not there"
	echo '{"private": true}' >"$new/package.json"
	# shellcheck disable=SC2086  # a list of words
	(cd "$new" && timeout 100 npm install --loglevel=error --no-audit --no-fund --ignore-scripts --prefer-offline \
		--fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-timeout=10000 $wanted) >"$new/log" 2>&1 && return
	# Without a network each test would wait for it again.
	echo "npm cannot install $wanted: $(grep -v '^ *$' "$new/log" | head -n 1)" >"$out/failed"
	cannot "$(cat "$out/failed")"
}

if [ $# = 0 ]; then
	echo "$packages" | sed -n 's/:.*//p'
	exit 0
fi
name=$1
wanted=$(echo "$packages" | sed -n "s/^$name: *//p")
[ "$wanted" ] || { echo "$0: no consumer: $name" >&2; exit 2; }

out=$(realpath -m "${OUT:-.out}")/consumers
dir=$out/$(echo "$wanted" | tr -c 'a-z0-9.\n-' '_')	# another version is another directory
if [ ! -d "$dir" ]; then
	case $heavy in *" $name "*) [ "${CONSUMERS:-}" = all ] || cannot "$name is large: only with CONSUMERS=all" ;; esac
	mkdir -p "$out"
	new=$(mktemp -d "$out/new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	trap 'exit 130' INT TERM
	case $wanted in
	crate*) install_crate ;;
	wheel*) install_wheels ;;
	*) install_modules ;;
	esac
	chmod 755 "$new"
	mv -T "$new" "$dir" 2>/dev/null || [ -d "$dir" ]	# or another test was faster
fi
case $wanted in crate*) echo "$dir/bin" ;; wheel*) echo "$dir" ;; *) echo "$dir/node_modules" ;; esac
