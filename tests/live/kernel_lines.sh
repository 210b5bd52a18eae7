#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/symbolize src/debug_info src/parse
# beside: live
# Inlined functions and lines of the kernel, from a file with its build-id and another address (as with KASLR). The file is made:
# its functions stand where those of the kernel do that a sleeping thread is in. The judge is addr2line.
OWN_MOUNTS=1
. "$(dirname "$0")/lib.sh"
for tool in "${CC:-gcc}" ld addr2line; do command -v "$tool" >/dev/null || skip "no $tool"; done
mount -t tmpfs tmpfs /usr/lib/debug || skip "cannot mount a file system"
export XDG_CACHE_HOME=$T/cache
release=$(uname -r)

sleep 1000 &
STARTED+=($!)
SLEEPER=$!
until_true 5 grep -q nanosleep "/proc/$SLEEPER/stack" || skip "this kernel shows no /proc/PID/stack"

# Two functions of the stack: the system call, and the one that every call goes through.
python3 - "$SLEEPER" >facts <<'EOT' || skip "no function of this stack can be imitated"
import re, struct, sys
where = {}
for line in open('/proc/kallsyms'):
    addr, _, name = line.split()[:3]
    where.setdefault(name, int(addr, 16))
text = min(where['_text'] or where['_stext'], where['_stext'])
stack = [re.search(r'(\w+)\+0x(\w+)/', l).groups() for l in open(f'/proc/{sys.argv[1]}/stack')]
names = [s for s in stack if s[0] in ('hrtimer_nanosleep', 'do_syscall_64', 'invoke_syscall')]
sys.exit(1) if len(names) != 2 or any(int(off, 16) > 0x500 for _, off in names) else None
data, at, ids = open('/sys/kernel/notes', 'rb').read(), 0, []
while at + 12 <= len(data):
    n, d, kind = struct.unpack_from('<III', data, at)
    at += 12 + (n + 3 & ~3)
    if kind == 3: ids.append(data[at:at + d].hex())
    at += d + 3 & ~3
print(ids[0], *(f'{name} {where[name] - text:#x} {int(off, 16) - 1:#x}' for name, off in sorted(names, key=lambda s: where[s[0]])))
EOT
read -r id first first_at first_off second second_at second_off <facts

# vmlinux BUILD-ID TEXT OUTPUT
vmlinux() {
	ld --build-id="0x$1" -e 0 -T <(cat <<-EOT
		SECTIONS {
			. = $2;
			.text : { _text = .; _stext = .; . = $first_at; *(.text.first) . = $second_at; *(.text.second) }
			.notes : { *(.note.gnu.build-id) }
		}
		EOT
	) made.o -o "$3"
}
{
	echo 'static inline __attribute__((always_inline)) void inner(volatile int *p)'
	echo '{'
	for ((i = 0; i < 500; i++)); do echo '	*p += 1;'; done
	echo '}'
	echo 'static inline __attribute__((always_inline)) void outer(volatile int *p) { inner(p); inner(p); }'
	echo '__attribute__((section(".text.first"))) void made_first(volatile int *p) { outer(p); }'
	echo '__attribute__((section(".text.second"))) void made_second(volatile int *p) { outer(p); }'
} >made.c
"${CC:-gcc}" -O2 -g -fno-pie -fcf-protection=none -c made.c 2>made.err || "${CC:-gcc}" -O2 -g -fno-pie -c made.c
base=0xffffffff9a000000
vmlinux "$id" $base right || exit 1
vmlinux "${id//[0-7]/8}" $base wrong || exit 1

# expected NAME AT OFFSET: as folded stacks have it, outermost first.
expected() {
	addr2line -fie right "$(printf '%#x' $((base + $2 + $3)))" | paste - - | sed -E 's/\t.*:/ /; s/ \(discriminator.*//' |
		tac | sed "1s/^made_[a-z]*/$1/" | sed 's/ /:/' | paste -sd ';'
}
want="$(expected "$first" "$first_at" "$first_off")|$(expected "$second" "$second_at" "$second_off")"
# chains TRACE: these two functions as a report has them.
chains() {
	"$PROBEE" report "$1" -q --collapse --lines | tr -d '\n' | sed 's/_\[[ki]\]//g' | tr ';' '\n' |
		awk -v f="$first" -v s="$second" '
			{ sub(/ [0-9]+$/, ""); split($0, w, ":") }
			w[1] == f || w[1] == s { at = w[1]; chain[at] = $0; n = 0; next }
			w[1] == "outer" || w[1] == "inner" { if (at != "" && n++ < 2) chain[at] = chain[at] ";" $0; next }
			{ at = "" }
			END { print chain[f] "|" chain[s] }'
}
record() { snapshot -q -i 1 -p "$SLEEPER" -o "$1" "${@:2}"; }
check "addr2line knows three functions at each address" grep -qE "^$first:[0-9]+;outer:[0-9]+;inner:[0-9]+\|$second:[0-9]+;outer:[0-9]+;inner:[0-9]+$" <<<"$want"

record none.pbz
check "without a file: names alone" equal "$(chains none.pbz)" "$first|$second"
place=boot/vmlinux-$release
mkdir -p /usr/lib/debug/boot && cp wrong "/usr/lib/debug/$place"
record wrong.pbz
check "a file of another build-id is not it" equal "$(chains wrong.pbz)" "$first|$second"
cp right "/usr/lib/debug/$place"
record right.pbz
check "lines" equal "$(chains right.pbz)" "$want"
check "what was read is kept" test -s "$(echo cache/probee/"$id"-*.lines)"

# --- later
record bare.pbz --no-symbolize
rm "/usr/lib/debug/$place"
run_limited symbolize -q none.pbz -o none2.pbz --again
check "probee symbolize: no file, no lines" equal "$(chains none2.pbz)" "$first|$second"
for place in "boot/vmlinux-$release" "lib/modules/$release/vmlinux" ".build-id/${id:0:2}/${id:2}.debug"; do
	rm -rf dbg && mkdir -p "dbg/${place%/*}" && cp right "dbg/$place"
	run_limited symbolize -q bare.pbz -o late.pbz --debug-dir dbg
	check "probee symbolize adds names and lines ($place)" equal "$(chains late.pbz)" "$want"
done
if command -v setpriv >/dev/null; then
	mkdir -m 777 out && chmod 644 bare.pbz && chmod -R a+rX dbg
	setpriv --reuid=nobody --regid=65534 --clear-groups env HOME="$T/out" XDG_CACHE_HOME= \
		"$PROBEE" symbolize -q bare.pbz -o out/nobody.pbz --debug-dir dbg
	check "who may not read kallsyms has the names of the file" equal \
		"$("$PROBEE" report out/nobody.pbz -q --collapse | grep -oE 'made_(first|second)' | sort -u | tr '\n' ' ')" "made_first made_second "
fi
run_limited symbolize -q none.pbz -o again.pbz --again --debug-dir dbg
check "probee symbolize --again adds lines to names" equal "$(chains again.pbz)" "$want"
mkdir -p root/boot && cp right "root/boot/vmlinux-$release"
run_limited symbolize -q bare.pbz -o root.pbz --binary-dir root
check "probee symbolize finds it beneath a root directory" equal "$(chains root.pbz)" "$want"
cp wrong "dbg/$place"
run_limited symbolize -q bare.pbz -o wrong.pbz --debug-dir dbg
check "probee symbolize takes none of another build-id" equal "$(chains wrong.pbz)" "$first|$second"
done_testing
