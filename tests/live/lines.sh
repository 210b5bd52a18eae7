#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/debug_info src/symbolize src/parse
# core: yes
# beside: live
# Inlined functions and source lines, from debug information of every kind, and from the cache.
. "$(dirname "$0")/lib.sh"
command -v "${CC:-gcc}" >/dev/null || skip "no compiler"
export XDG_CACHE_HOME=$T/cache

cat >twice.h <<'EOT'
static inline double norm(double x)
{
	for (int i = 0; i < 100000; i++)
		x = x * 1.000001 + 1;
	return x;
}

static inline double twice(double x)
{
	return norm(x) + norm(x * 3);
}
EOT
cat >one.c <<'EOT'
#include "twice.h"

double other(double x);

static double __attribute__((noinline)) work(double x)
{
	return twice(x);
}

static double __attribute__((noinline)) namesake(double x) { return twice(x) + 1; }

int main(void)
{
	volatile double x = 1;

	for (;;) {
		x = work(x);
		x = namesake(x) + other(x);
	}
}
EOT
cat >other.c <<'EOT'
#include "twice.h"

static double __attribute__((noinline)) namesake(double x) { return twice(x) + 2; }

double other(double x)
{
	return namesake(x) + 1;
}
EOT
build() { "${CC:-gcc}" -O2 -g -fno-ipa-icf "${@:2}" one.c other.c -o "$1"; }
# record NAME: half a second of it, in NAME.pbz.
record() {
	"./$1" &
	STARTED+=($!)
	sample -p $! -F 499 -d 0.5 -o "$1.pbz"
	kill $!
}
# chains TRACE OPTION...: its folded stacks, from main() on.
chains() { "$PROBEE" report "$1" -q --collapse "${@:2}" 2>>report.err | sed -nE 's/.*;(main[;:].*) [0-9]+$/\1/p'; }
has() { grep -qE -e "$2" <<<"$(chains "$1" "${@:3}")" || { chains "$1" "${@:3}" | head -5; return 1; }; }
inlined='main:17;work:7;twice:10_\[i\];norm:[34]_\[i\]$'

build plain && record plain
check "inlined functions, with lines" has plain.pbz "$inlined" --lines
check "inlined functions" has plain.pbz 'main;work;twice_\[i\];norm_\[i\]$'
check "--no-inline" has plain.pbz '^main;work$' --no-inline
check "--inline-depth 2" has plain.pbz '^main;work;norm_\[i\]$' --inline-depth 2
check "JSON has files and lines" python3 -S - plain.pbz <<'EOT'
import json, os, subprocess, sys
out = subprocess.run([os.environ['PROBEE'], 'report', sys.argv[1], '-q', '--json', '--lines'], capture_output=True).stdout
found = set()
def walk(node):
    found.add((node['name'], node.get('libtype'), os.path.basename(node.get('file', '')), node.get('line')))
    for child in node.get('children', []):
        walk(child)
walk(json.loads(out))
print(sorted(found))
sys.exit(('twice:10', 'inlined', 'twice.h', 10) not in found or ('work:7', 'user', 'one.c', 7) not in found)
EOT
namesakes() { "$PROBEE" report "$1" -q --json | python3 -S -c '
import json, os, sys
files = set()
def walk(node):
    if node["name"] == "namesake": files.add(os.path.basename(node["file"]))
    for child in node.get("children", []): walk(child)
walk(json.load(sys.stdin))
print(files)
sys.exit(files != {"one.c", "other.c"})'; }
check "functions of one name in two files stay two" namesakes plain.pbz

# --- code of a file that is included in a function: the function is in one file, its lines in another
cat >loop.inc <<'EOT'
	for (volatile int i = 0; i < 1000; i++)
		x += x / 2 + i;
EOT
cat >parts.c <<'EOT'
static double __attribute__((noinline)) work(double x)
{
#include "loop.inc"
	return x;
}
int main(void)
{
	for (volatile double x = 0;;)
		x = work(x);
}
EOT
gcc -O1 -g parts.c -o parts && record parts
check "a line in another file than its function" has parts.pbz '^main:9;work:loop\.inc:[12]$' --lines
in_two_files() { "$PROBEE" report parts.pbz -q --json "$@" | grep -o '"name":"work[^"]*"[^{}]*"file":"[^"]*/[a-z.]*"' |
	sed -E 's/"name":"([^"]*)".*\/([a-z.]*)"/\1 \2/' | sort -u; }
check "... in JSON" grep -qE '^work:loop.inc:[12] loop.inc$' <(in_two_files --lines)
check "... the function is in its own file" equal "$(in_two_files)" "work parts.c"
check "... in CSV" grep -qE '\|work:loop\.inc:[12]\+0x[0-9a-f]+;main:9' <("$PROBEE" report parts.pbz -q --csv --lines)
./parts & STARTED+=($!)
sample -p $! -F 499 -d 0.5 --no-symbolize -o bare.pbz
kill $!
"$PROBEE" symbolize bare.pbz -o late.pbz --binary-dir / 2>err
check "... named later" has late.pbz '^main:9;work:loop\.inc:[12]$' --lines

# --- Ada: names as GNAT writes them are plain C elsewhere, so the unit's language decides
cat >ada.c <<'EOT'
static inline double __attribute__((always_inline)) spin__p__work(double x) { return x / 2 + 1; }
int main(void)
{
	for (volatile double x = 0;;)
		x = spin__p__work(x);
}
EOT
gcc -O1 -g -dA -S ada.c && gcc ada.s -o not_ada &&
	sed -E 's/^(.*)0x[0-9a-f]+(.*# DW_AT_language)/\10xd\2/' ada.s >really.s && gcc really.s -o ada
record ada && record not_ada
check "Ada's names" has ada.pbz '^main:5;spin.p.work:1_\[i\]$' --lines
check "... and those of C" has not_ada.pbz '^main:5;spin__p__work:1_\[i\]$' --lines

# --- the cache
kept=(cache/probee/*-0-*.lines)
check "what was read is kept" test -s "${kept[0]}"
check "nobody else may read it" equal "$(stat -c %a "${kept[0]}") $(stat -c %a cache/probee)" "600 700"
mkdir .debug
objcopy --only-keep-debug plain .debug/again.debug
cp plain again && objcopy --strip-debug --add-gnu-debuglink=.debug/again.debug again
record again
check "lines from a debug file" has again.pbz "$inlined" --lines
rm -r .debug
record again
check "lines from the cache, without debug information" has again.pbz "$inlined" --lines
cp again forged
record forged
check "the cache of a file is not for another with its build-id" has forged.pbz '^main;work$' --lines
chmod 777 cache/probee
record again
check "a cache that others may write to is not read" has again.pbz '^main;work$' --lines
rm -r cache/probee

# --- places where debug information may be
build split -gsplit-dwarf && record split
check "in .dwo files" has split.pbz "$inlined" --lines
# Clang's -gsplit-dwarf=single leaves split units in the object files; this makes the same with gcc.
for unit in one other; do
	gcc -O2 -g -fno-ipa-icf -gsplit-dwarf -dumpbase $unit -S $unit.c -o $unit.s && gcc -c $unit.s -o $unit.o && cp $unit.o $unit.dwo
done
gcc one.o other.o -o single && record single
check "in object files that have the split units in them" has single.pbz "$inlined" --lines
if command -v dwp >/dev/null; then
	build pack -gsplit-dwarf -gdwarf-4 && dwp -e pack -o pack.dwp && rm pack-*.dwo
	record pack
	check "in a package of split units" has pack.pbz "$inlined" --lines
	objcopy --only-keep-debug pack named.debug && cp pack.dwp named.debug.dwp
	objcopy --strip-debug --add-gnu-debuglink=named.debug pack named && record named
	check "... beside the debug file that .gnu_debuglink names" has named.pbz "$inlined" --lines
fi
build old -gdwarf-2 -gstrict-dwarf && record old
check "DWARF 2, which cannot say that an inlined function is in several places" has old.pbz 'main:17;work;?' --lines
build packed -gz && record packed
check "compressed" has packed.pbz "$inlined" --lines
# unknown FILE: the compression of all its sections becomes one that nobody knows.
unknown() { python3 -S - "$1" <<'EOT'
import struct, sys
f = open(sys.argv[1], 'r+b')
data = f.read()
shoff, = struct.unpack_from('<Q', data, 40)
number, = struct.unpack_from('<H', data, 60)
for i in range(number):
    flags, _, offset = struct.unpack_from('<QQQ', data, shoff + 64 * i + 8)
    if flags & 0x800:
        f.seek(offset)
        f.write(struct.pack('<I', 77))
EOT
}
if objcopy --compress-debug-sections=zstd plain zstd 2>/dev/null && ! cmp -s plain zstd; then
	record zstd
	check "compressed with zstd" has zstd.pbz "$inlined" --lines
	check "... a probe by line" grep -q ' work' <("$PROBEE" probes "u:$T/zstd:one.c:7")
	if [ -e pack.dwp ]; then
		cp pack zpack && objcopy --compress-debug-sections=zstd pack.dwp zpack.dwp && record zpack
		check "... a package of split units" has zpack.pbz "$inlined" --lines
	fi
	cp zstd odd && unknown odd
	./odd &
	STARTED+=($!)
	sample -p $! -F 499 -d 0.5 -o odd.pbz
	kill $!
	check "a compression that is not known is named" grep -qE "[0-9] frames? ha.* of $T/odd is compressed .*compression 77" err
	check "... in the trace" grep -q 'ELF compression 77' <("$PROBEE" info odd.pbz)
	check "... names stay" has odd.pbz 'main;work$'
	check "... by symbolize" grep -q 'ELF compression 77' <("$PROBEE" symbolize odd.pbz --again --binary-dir / -o odd2.pbz 2>&1)
else
	skip_part "objcopy without zstd"
fi
objcopy --only-keep-debug plain linked.debug
cp plain linked && objcopy --strip-debug --remove-section=.note.gnu.build-id --add-gnu-debuglink=linked.debug linked
record linked
check "in a file that .gnu_debuglink names" has linked.pbz "$inlined" --lines
if command -v dwz >/dev/null; then
	build dwz1 && build dwz2 -DSECOND && dwz -m common.alt dwz1 dwz2 2>/dev/null
	record dwz1
	check "in a file of dwz" has dwz1.pbz "$inlined" --lines
	if build sup1 && build sup2 -DSECOND && dwz --dwarf-5 -m common.sup sup1 sup2 2>/dev/null; then
		record sup1
		check "in a file of dwz that .debug_sup names" has sup1.pbz "$inlined" --lines
	fi
fi
cp plain gone
./gone &
STARTED+=($!)
until [ "$(readlink /proc/$!/exe)" = "$PWD/gone" ]; do kill -0 $! || break; sleep 0.02; done
rm gone
sample -p $! -F 499 -d 0.5 -o gone.pbz
check "of a program that was deleted" has gone.pbz "$inlined" --lines
kill $!

# --- a trace that gets its lines later
sample -q --no-symbolize -F 499 -d 0.5 -o bare.pbz -- ./plain
check "without names" not has bare.pbz work
"$PROBEE" symbolize -q bare.pbz -o late.pbz --binary-dir / 2>late.err
check "probee symbolize adds lines" has late.pbz "$inlined" --lines
done_testing
