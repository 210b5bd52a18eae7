#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/symbolize src/foreign src/debug_info src/parse src/late_names
# core: yes
# beside: live
# Names of functions come from wherever a file has them: debug files in each of gdb's places beneath the root directory of
# the process, .gnu_debugdata, programs that were deleted, replaced or never had a name, files larger than a parser's memory.
. "$(dirname "$0")/lib.sh"

root=$T/root
mkdir -p "$root"/{app/.debug,usr/lib/app,usr/lib/debug/{app,lib/app,.build-id/{a1,af}}}
cat >where.c <<'EOT'
#include <stdio.h>
#include <unistd.h>
static void __attribute__((noinline)) NAME(void)
{
	for (;;)
		pause();
}
int main(void)
{
	printf("ready %d\n", getpid());
	fflush(stdout);
	NAME();
}
EOT
cc -static -O1 -Wl,--build-id=none -DNAME=in_template -c -o /dev/null where.c 2>/dev/null || skip "no static C library"

# build NAME BUILD-ID: the program NAME, and NAME.debug; its function is called in_NAME.
build() { cc -static -O1 "-Wl,--build-id=$2" "-DNAME=in_$1" -o "$1" where.c && objcopy --only-keep-debug "$1" "$1.debug"; }
# strip_to NAME PATH: what is left of it, with a link to NAME.debug.
strip_to() { strip -o "$2" "$1" && objcopy --add-gnu-debuglink="$1.debug" "$2"; }

declare -A pids
# run NAME COMMAND...: it is one of those that are recorded.
run() {
	start "${@:2}"
	pids[$1]=$PID
}
chroot=$(command -v chroot)

build by_id 0xa101 && strip -o "$root/app/by_id" by_id && cp by_id.debug "$root/usr/lib/debug/.build-id/a1/01.debug"
build beside none && strip_to beside "$root/app/beside" && cp beside.debug "$root/app"
build below 0xa102 && strip_to below "$root/app/below" && cp below.debug "$root/app/.debug"
build global none && strip_to global "$root/app/global" && cp global.debug "$root/usr/lib/debug/app"
build merged 0xa103 && strip_to merged "$root/usr/lib/app/merged" && cp merged.debug "$root/usr/lib/debug/lib/app"
build deleted 0xa104 && strip_to deleted "$root/app/deleted" && cp deleted.debug "$root/app"
build replaced none && strip_to replaced "$root/app/replaced" && cp replaced.debug "$root/usr/lib/debug/app"
build other 0xa105 && strip_to other "$root/app/other" && objcopy --only-keep-debug by_id "$root/app/other.debug"
build changed none && strip_to changed "$root/app/changed" && cp changed.debug "$root/app" && echo >>"$root/app/changed.debug"
for name in by_id beside below global deleted replaced other changed; do run $name "$chroot" "$root" /app/$name; done
run merged "$chroot" "$root" /usr/lib/app/merged
# In a mount namespace of its own, as a container is: paths count from a root that nobody else sees.
build pivoted none && strip_to pivoted "$root/app/pivoted" && cp pivoted.debug "$root/usr/lib/debug/app"
cat >pivot.sh <<'EOT'
mount --rbind "$1" "$1" && cd "$1" && mkdir -p old && pivot_root . old && exec "$2"
EOT
unshare=$(command -v unshare)
if "$unshare" -m --propagation private true 2>/dev/null; then
	run pivoted "$unshare" -m --propagation private sh "$T/pivot.sh" "$root" /app/pivoted
else
	skip_part "no private mounts here"
fi
rm "$root/app/deleted"
cp by_id "$root/app/new" && mv "$root/app/new" "$root/app/replaced"

# As in gdb's manual, "MiniDebugInfo".
build mini 0xa106
nm mini.debug --format=posix --defined-only | awk '$2 ~ /[Tt]/ { print $1 }' >keep
objcopy -S --remove-section .comment --keep-symbols=keep mini.debug mini.symbols
xz mini.symbols && strip mini && objcopy --add-section .gnu_debugdata=mini.symbols.xz mini
run mini "$T/mini"

build memfd 0xa107
cat >memfd.py <<'EOT'
import os, sys
fd = os.memfd_create("memfd")
os.write(fd, open(sys.argv[1], "rb").read())
os.execve(fd, ["memfd"], {})
EOT
run memfd "$(command -v python3)" -S memfd.py memfd

# Symbols at the end of a file that is larger than a parser's memory (1 GiB).
cat >far.py <<'EOT'
# far.py FILE OFFSET: moves .symtab and its strings there, behind a hole.
import struct, sys
f = open(sys.argv[1], "r+b")
to = int(sys.argv[2])
head = f.read(64)
shoff, = struct.unpack_from("<Q", head, 40)
number, = struct.unpack_from("<H", head, 60)
f.seek(shoff)
sections = [bytearray(f.read(64)) for i in range(number)]
symtab = next(s for s in sections if struct.unpack_from("<I", s, 4)[0] == 2)
for s in (symtab, sections[struct.unpack_from("<I", symtab, 40)[0]]):
    offset, size = struct.unpack_from("<QQ", s, 24)
    f.seek(offset)
    data = f.read(size)
    f.seek(offset)
    f.write(bytes(size))
    f.seek(to)
    f.write(data)
    struct.pack_into("<Q", s, 24, to)
    to += (size + 7) & ~7
f.seek(shoff)
for s in sections:
    f.write(s)
f.truncate(to + 1)
EOT
build large 0xa108 && python3 -S far.py large $((5 << 30)) && run large "$T/large"
build far 0xa109 && strip_to far "$root/app/far" && python3 -S far.py far.debug $((3 << 29)) &&
	mv far.debug "$root/usr/lib/debug/.build-id/a1/09.debug" && run far "$chroot" "$root" /app/far

list=$(IFS=,; echo "${pids[*]}")
snapshot -p "$list" -i 1 -o x.pbz
check "exit status" equal "$RC" 0
"$PROBEE" report -q x.pbz --csv >x.csv
named() { grep "|${pids[$1]}|" x.csv | grep -q "$2"; }
for name in by_id beside below global merged ${pids[pivoted]:+pivoted} deleted replaced mini memfd large far; do
	check "$name" named $name "in_$name"
done
check "replaced: not the names of the new file" not named replaced 'in_by_id'
check "debug file with another build-id" not named other 'in_'
check "debug file with another CRC" not named changed 'in_'
check "there are stacks of these two" equal "$(grep -cE "\|(${pids[other]}|${pids[changed]})\|" x.csv)" 2

# gdb finds the same ones, but those at the path from before directories were merged.
command -v gdb >/dev/null || { skip_part "no gdb"; done_testing; }
args=(-nx -batch -ex "set sysroot $root" -ex "set debug-file-directory $root/usr/lib/debug")
ask=(app/by_id app/beside app/below app/global app/other app/changed)
for path in "${ask[@]}"; do
	name=${path##*/}
	args+=(-ex "file $root/$path" -ex "info symbol 0x$(nm "$name" | awk -v f="in_$name" '$3 == f { print $1 }')")
done
gdb "${args[@]}" -ex "file $T/mini" -ex "info symbol 0x$(nm mini.debug | awk '$3 == "in_mini" { print $1 }')" >gdb.out 2>gdb.err
for name in by_id beside below global mini; do
	check "gdb: $name" grep -q "^in_$name in section" gdb.out
done
check "gdb: another build-id" not grep -q "^in_other" gdb.out
check "gdb: another CRC" not grep -q "^in_changed" gdb.out
done_testing
