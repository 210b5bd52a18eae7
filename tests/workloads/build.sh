#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# build.sh [DIR]: builds every workload into DIR (default: .out/workloads) and prints DIR. What is newer than
# its source is left alone. A compiler that is missing (rustc, go, javac) costs its workloads, nothing else.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-$here/../../.out/workloads}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
CC=${CC:-gcc} CXX=${CXX:-g++}
opt="-O2 -g -Wall -Wextra"
failed=0

exec 9>"$dir/.lock"
flock 9			# two tests may ask at once

# build OUTPUT SOURCE COMMAND...: runs COMMAND -o OUTPUT SOURCE unless OUTPUT is newer than all it is made of.
build() {
	local out=$dir/$1 src=$here/$2
	shift 2
	if [ "$out" -nt "$src" ] && [ "$out" -nt "$here/ready.h" ] && [ "$out" -nt "$here/build.sh" ]; then
		return
	fi
	if "$@" -o "$out.tmp" "$src" 2>"$out.log"; then
		mv "$out.tmp" "$out"
		rm -f "$out.log"
	else
		echo "workloads: cannot build ${out##*/}: $*" >&2
		cat "$out.log" >&2
		failed=1
	fi
}

nofp="$CC $opt -fomit-frame-pointer -fPIE -pie"
fp="$CC $opt -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fPIE -pie"
case $(uname -m) in
x86_64) ;;
*) fp="$CC $opt -fno-omit-frame-pointer -fPIE -pie" ;;
esac

for name in chain30 deep twochains threads; do
	build "$name" "$name.c" $nofp -pthread
	build "${name}_fp" "$name.c" $fp -pthread
done
build sigalt_fp sigalt.c $fp -pthread
build twochains_leaf twochains.c $CC $opt -fno-omit-frame-pointer -momit-leaf-frame-pointer -fPIE -pie -pthread
build chain30_nopie chain30.c $CC $opt -fomit-frame-pointer -fno-pie -no-pie
build chain30_static chain30.c $CC $opt -fomit-frame-pointer -fno-pie -static
build chain30_static_pie chain30.c $CC $opt -fomit-frame-pointer -fPIE -static-pie
build chain30_stripped chain30.c $nofp -s
build chain30_O0 chain30.c $CC -O0 -g
build chain30_O3 chain30.c $CC -O3 -g -fomit-frame-pointer -fPIE -pie
if command -v musl-gcc >/dev/null; then
	build chain30_musl chain30.c musl-gcc $opt -fomit-frame-pointer -static
fi
for name in sigalt drap rename states leaderless brief kids jit made coroutine vforked bpf_programs hungfs victim storm pagedout waits uring traced peers counts flipping forbid astray stuckexec mayfly rounds naps map_lock large_frames stalls slow_calls memfds neighbour; do
	build "$name" "$name.c" $nofp -pthread
done
# Frame pointers and no unwind tables: leaves with and without a frame, and with endbr64 in front.
bare="-fno-asynchronous-unwind-tables -fno-unwind-tables"
build leaves leaves.c $fp $bare
if [ "$(uname -m)" = x86_64 ]; then
	build leaves_frameless leaves.c $fp $bare -momit-leaf-frame-pointer
	build leaves_endbr leaves.c $fp $bare -fcf-protection=full
	build leaves_O1 leaves.c $fp $bare -O1 -momit-leaf-frame-pointer
fi
# Neither frame pointers nor unwind tables.
if [ "$(uname -m)" = x86_64 ]; then
	build notables notables.c $CC $opt -fomit-frame-pointer $bare -fPIE -pie -pthread
	build notables_stripped notables.c $CC $opt -fomit-frame-pointer $bare -fPIE -pie -pthread -s
	build notables_size notables.c $CC $opt -Os -fomit-frame-pointer $bare -fno-pie -no-pie -pthread
	build notables_static notables.c $CC $opt -fomit-frame-pointer $bare -fno-pie -static -pthread
	if command -v musl-gcc >/dev/null; then
		build notables_musl notables.c musl-gcc $opt -fomit-frame-pointer $bare -pthread
		build notables_musl_static notables.c musl-gcc $opt -fomit-frame-pointer $bare -static -pthread
	fi
	build shapes shapes.c $CC $opt -fomit-frame-pointer $bare -fPIE -pie
	build shapes_stripped shapes.c $CC $opt -fomit-frame-pointer $bare -fPIE -pie -s
	if echo 'int x;' | $CC -mindirect-branch=thunk -x c -c -o /dev/null - 2>/dev/null; then
		build shapes_retpoline shapes.c $CC $opt -fomit-frame-pointer $bare -fPIE -pie -mindirect-branch=thunk
	fi
	build stackless stackless.c $CC $opt -static
	build initlib.so initlib.c $CC $opt -fomit-frame-pointer -fPIC -shared
	build reopen reopen.c $nofp
	build firstbyte firstbyte.c $nofp
	if command -v rustc >/dev/null; then
		build notables_rs notables.rs rustc --crate-name notables_rs -O -C panic=abort -C force-unwind-tables=no \
			-C force-frame-pointers=no
	fi
fi
# Not every compiler makes 32-bit code; its test says so.
if [ "$(uname -m)" = x86_64 ] && echo 'int x;' | $CC -m32 -x c -c -o /dev/null - 2>/dev/null; then
	build compat32 compat32.c $CC -O1 -m32 -nostdlib -static -fno-pie -no-pie -fno-stack-protector
fi
build lazy lazy.c $nofp -Wl,-z,lazy,-z,norelro
build red reexec.c $nofp -DCOLOUR=red -DOTHER=blue
build blue reexec.c $nofp -DCOLOUR=blue -DOTHER=red
build late late.c $nofp
build many many.c $nofp -ldl
# Copies are made by many_copies.py. -fno-ipa-icf: its functions are alike and shall stay many.
lib="$CC $opt -fomit-frame-pointer -fPIC -shared -fno-ipa-icf -s -Wl,--build-id=0x$(printf 'a5%.0s' {1..20})"
for bytes in 64 200 1024; do
	build "many_lib_$bytes.so" many_lib.c $lib -DFRAME_BYTES=$bytes
done
build plugin.so plugin.c $CC $opt -fomit-frame-pointer -fPIC -shared
# The innermost frames of these two are at the same addresses and in code of the same length, but one has another size.
for bytes in 1000 2000; do
	build "plugin_mid_$bytes.so" plugin.c $CC $opt -fomit-frame-pointer -fPIC -shared -DMID_BYTES=$bytes \
		-DENTRY_BYTES=$((3000 - bytes))
done
build shop shop.cc $CXX -std=c++17 $opt -fomit-frame-pointer
build throws throws.cc $CXX -std=c++17 $opt -fomit-frame-pointer
build calls calls.cc $CXX -std=c++17 $opt -fomit-frame-pointer
if echo '#include <sys/sdt.h>' | $CC -E -x c -o /dev/null - 2>/dev/null; then
	build usdt usdt.c $nofp
	build usdt_nopie usdt.c $CC $opt -fomit-frame-pointer -fno-pie -no-pie
fi
if command -v rustc >/dev/null; then
	build crate_rs crate.rs rustc --crate-name crate_rs -O -g
fi
if command -v javac >/dev/null && [ ! "$dir/Deep.class" -nt "$here/Deep.java" ]; then
	javac -d "$dir" "$here/Deep.java" || failed=1
fi
if command -v go >/dev/null; then
	go_build() { env GO111MODULE=off GOCACHE="$dir/.gocache" go build "$@"; }
	build goblin goblin.go go_build
	build herd herd.go go_build
	build herd_pie herd.go go_build -buildmode=pie
	build herd_stripped herd.go go_build '-ldflags=-s -w'
	build herdc herdc.go go_build
	build herdc_stripped herdc.go go_build -buildmode=pie '-ldflags=-s -w'
fi
echo "$dir"
exit $failed
