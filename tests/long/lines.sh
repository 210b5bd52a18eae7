#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lines.sh N: inlined functions and lines at N random addresses of each of some 25 binaries, against llvm-symbolizer, and of a thirtieth
# of them against addr2line: what tests/oracle/lines_peers.sh compares, with a larger C++ program, and the largest real programs
# with debug information that are installed: the C library's debug files, Python, Go's compiler and tools, Rust's tools. FILES
# names others. A line for each file; differences are shown with their kind.
set -u
here=$(cd "$(dirname "$0")" && pwd)
{
	echo '#define UNIT 1'
	cat "$here/../bench/large.cc"
	echo 'int main(int argc, char **argv) { return (int)unit_entry(argv[0]); }'
} >large_unit.cc

# largest NUMBER FILE...: those of them with lines, the largest first, one of each name.
largest() {
	local number=$1 file
	shift
	for file in $(ls -S "$@" 2>/dev/null); do
		! readelf -SW "$file" 2>/dev/null | grep -q '\.debug_line ' || echo "${file##*/} $file"
	done | awk -v n="$number" '!seen[$1]++ && nr++ < n { print $2 }'
}
go_roots=("$(go env GOROOT 2>/dev/null)" "$HOME"/go/pkg/mod/golang.org/toolchain*)
FILES=${FILES:-$(
	largest 6 /usr/lib/debug/.build-id/*/*.debug
	largest 4 "$HOME"/.pyenv/versions/*/lib/libpython*.so.1.0 /usr/lib/x86_64-linux-gnu/libpython*.so.*
	largest 4 "${go_roots[@]/%//pkg/tool/linux_amd64/compile}" "${go_roots[@]/%//pkg/tool/linux_amd64/vet}" \
		"${go_roots[@]/%//pkg/tool/linux_amd64/link}" "${go_roots[@]/%//bin/go}"
	largest 2 "$HOME"/.rustup/toolchains/*/lib/rustlib/*/lib/libstd-*.so "$HOME"/.rustup/toolchains/*/bin/cargo
)}
export FILES
out=$(NR=$1 SOURCE=$PWD/large_unit.cc EXPLAIN=1 "$here/../oracle/lines_peers.sh")
sed 's/^/  /' <<<"$out"
awk '/^ok.*llvm-symbolizer/ && match($0, /[0-9]+ of [0-9]+ equal/) { split(substr($0, RSTART, RLENGTH), f, " "); e += f[1]; n += f[3]; files++ }
	END { printf "  %d of %d equal (%.4f %%) in %d comparisons\n", e, n, 100 * e / (n ? n : 1), files; exit files < 20 }' <<<"$out" &&
	! grep -q '^not ok' <<<"$out"
