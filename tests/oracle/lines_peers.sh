#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/debug_info src/symbolize
# timeout: 600
# Inlined functions and source lines against addr2line and llvm-symbolizer: C++ of both compilers in DWARF 2 to 5, compressed, of
# link-time optimisation, with functions that the linker has thrown away; Rust; Go, and Go without its debug information; the C library's
# debug file; split units, packages of them, and units of types, of both compilers. For each of them also: the tables that the reader of
# bytes makes are those that libdw makes, byte for byte.
# NR=N (3000): random addresses of each file; with addr2line, which is slow, a thirtieth of them but 3000 at least.
# SOURCE=FILE: another C++ program to build. FILES="FILE...": these as well, with both peers. EXPLAIN=1: differences are shown, too.
set -u
cd "$(dirname "$0")/../.."
OUT=$(cd "${OUT:-.out}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-gcc} -std=gnu11 -O2 -I. -D_GNU_SOURCE tests/oracle/lines/lines.c "$OUT/libprobee.a" -lelf -lz -lzstd -o "$work/lines" || exit 1
${CC:-gcc} -std=gnu11 -O2 -I. -D_GNU_SOURCE tests/oracle/lines/{tables,libdw_table,libdw_names,libdw_split,libdw_package}.c "$OUT/libprobee.a" -ldw -lelf -lz -lzstd -o "$work/tables" || exit 1
SOURCE=$(realpath "${SOURCE:-tests/oracle/lines/lines.cc}") NR=${NR:-3000}
mkdir "$work/src" && cp "$SOURCE" "$work/src/lines.cc" || exit 1
nr=0

# tables NAME FILE [ALTERNATE]: both readers make the same tables of it.
tables() {
	local out
	nr=$((nr + 1))
	if out=$(cd "$work" && ./tables "${@:2}" 2>&1); then
		echo "ok $nr - $1: $out"
	else
		echo "not ok $nr - $1: tables differ"
		sed 's/^/#   /' <<<"$out" | head -n 20
	fi
}
# compare NAME FILE PEER...: other is the file that the peer reads.
other=
alternate=	# the file that dwz has made
compare() {
	local name=$1 file=$2 peer out number
	shift 2
	[[ $file == *.stripped ]] || tables "$name" "$file" $alternate
	for peer; do
		command -v "$peer" >/dev/null || continue
		nr=$((nr + 1)) number=$NR
		[ "$peer" != addr2line ] || [ "$NR" -le 3000 ] || number=$((NR / 30 > 3000 ? NR / 30 : 3000))
		if out=$(cd "$work" && python3 -S "$OLDPWD/tests/oracle/lines/lines_peer.py" "$work/lines" "$file" "$number" "$peer" $other 2>&1); then
			echo "ok $nr - $name: $(head -n 1 <<<"$out"), with $peer"
			[ -z "${EXPLAIN:-}" ] || sed '1d; /./!d; s/^/#   /' <<<"$out"
		else
			echo "not ok $nr - $name: $peer"
			sed 's/^/#   /' <<<"$out" | cut -c1-1000
		fi
	done
}
missing() {
	nr=$((nr + 1))
	echo "ok $nr - # SKIP no $1 here"
}
# build NAME COMPILER OPTION...
build() {
	local name=$1
	shift
	command -v "$1" >/dev/null || return
	(cd "$work" && "$@" -std=gnu++17 "$work/src/lines.cc" -pthread -o "$name") 2>"$work/err" && return
	missing "$name, which $1 can build: $(head -n 1 "$work/err")"
	return 1
}

build gcc5 g++ -O2 -g -gdwarf-5 && compare "gcc, DWARF 5" "$work/gcc5" llvm-symbolizer
build gcc2 g++ -O2 -g -gdwarf-2 -gstrict-dwarf && compare "gcc, DWARF 2" "$work/gcc2" addr2line
build gcc4 g++ -O1 -g -gdwarf-4 -gz && compare "gcc, DWARF 4, compressed" "$work/gcc4" llvm-symbolizer
build lto g++ -O2 -g -flto && compare "gcc, link-time optimisation" "$work/lto" llvm-symbolizer
# package NAME FILE TOOL: FILE.dwp in place of the .dwo files.
package() {
	command -v "$3" >/dev/null || { missing "$3"; return; }
	if ! (cd "$work" && "$3" -e "$2" -o "$2.dwp"; echo "exit $?") >"$work/err" 2>&1 || ! grep -qx 'exit 0' "$work/err"; then
		rm -f "$work/$2.dwp"
		missing "package of $1 by $3, which fails: $(tr '\n' ' ' <"$work/err")"
		return
	fi
	mkdir "$work/hidden" && mv "$work"/*.dwo "$work/hidden"
	compare "$1, package of $3" "$work/$2" llvm-symbolizer
	mv "$work/hidden"/* "$work" && rmdir "$work/hidden" && rm "$work/$2.dwp"
}
# split NAME FILE COMPILER OPTION...: its split units, and packages of them.
split() {
	build "$2" "${@:3}" || return
	compare "$1" "$work/$2" llvm-symbolizer
	[[ " $* " == *=single* ]] && return
	package "$1" "$2" dwp
	package "$1" "$2" llvm-dwp
}
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || { missing $compiler; continue; }
	for version in 4 5; do
		name="$compiler, DWARF $version" file=$compiler$version
		build "${file}t" $compiler -O2 -g -gdwarf-$version -fdebug-types-section && compare "$name, type units" "$work/${file}t" llvm-symbolizer
		split "$name, split" "${file}s" $compiler -O2 -g -gdwarf-$version -gsplit-dwarf
		split "$name, split, type units" "${file}st" $compiler -O2 -g -gdwarf-$version -gsplit-dwarf -fdebug-types-section
	done
	# The object file has the split units, so it is kept.
	if [ $compiler = g++ ]; then
		missing "-gsplit-dwarf=single of $compiler"
	elif (cd "$work" && $compiler -std=gnu++17 -O2 -g -gsplit-dwarf=single src/lines.cc -c -o single.o && $compiler single.o -pthread -o single); then
		compare "$compiler, split units in the object file" "$work/single" llvm-symbolizer
	fi
done
if command -v dwz >/dev/null && cp "$work/gcc5" "$work/dwz1" && cp "$work/gcc4" "$work/dwz2" && objcopy --decompress-debug-sections "$work/dwz2" &&
	(cd "$work" && dwz -m common.alt dwz1 dwz2); then
	other=$work/gcc5 alternate=$work/common.alt
	compare "dwz" "$work/dwz1" llvm-symbolizer	# which does not read what dwz makes
	other='' alternate=''
else
	missing dwz
fi
if command -v clang++ >/dev/null; then
	build clang5 clang++ -O2 -g -gdwarf-5 && compare "clang, DWARF 5" "$work/clang5" addr2line llvm-symbolizer
	build clang3 clang++ -O2 -g -gdwarf-3 -ffunction-sections -Wl,--gc-sections &&
		compare "clang, DWARF 3, sections thrown away" "$work/clang3" llvm-symbolizer
else
	missing clang++
fi
if command -v rustc >/dev/null; then
	rustc -O -g tests/oracle/lines/lines.rs -o "$work/rust" 2>"$work/err" && compare rustc "$work/rust" llvm-symbolizer
else
	missing rustc
fi
# build_go NAME GO OPTION...: also NAME.stripped, without debug information
build_go() {
	local name=$1 go=$2
	shift 2
	cp tests/oracle/lines/lines.go.txt "$work/lines.go"
	(cd "$work" && export HOME=$work GOFLAGS=-mod=mod GOTOOLCHAIN=local && "$go" build "$@" -o "$name" lines.go &&
		strip -o "$name.stripped" "$name") 2>"$work/err"
}
# compare_stripped NAME FILE: what the peer reads of FILE, and we of its stripped copy
compare_stripped() {
	other=$2
	compare "$1, stripped" "$2.stripped" llvm-symbolizer
	other=
}
if command -v go >/dev/null; then
	build_go go go && compare go "$work/go" llvm-symbolizer && compare_stripped go "$work/go"
else
	missing go
fi
if [ -x /usr/lib/go-1.19/bin/go ]; then
	build_go go1.19 /usr/lib/go-1.19/bin/go -ldflags=-compressdwarf=false && compare_stripped "go 1.19" "$work/go1.19"
fi
libc=$(ldconfig -p | sed -nE 's/.*libc\.so\.6 .*x86-64.* => //p' | head -n 1)
id=$(readelf -n "$libc" 2>/dev/null | sed -n 's/.*Build ID: //p')
debug=/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
[ -e "$debug" ] && compare "the C library's debug file" "$debug" llvm-symbolizer
for file in ${FILES:-}; do
	MINIMUM=100 compare "$file" "$file" llvm-symbolizer
	MINIMUM=0 compare "$file" "$file" addr2line
done
[ "$nr" -gt 3 ] || { echo "not ok - hardly anything was compared"; cat "$work/err"; }
echo "1..$nr"
