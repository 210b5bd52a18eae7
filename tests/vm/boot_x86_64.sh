# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Boots a kernel of the series $1 with $2 CPUs and judges all results. Sourced by the tests of x86_64 kernels.
# They take minutes of two CPUs, so a check boots one of them, in turns: $4 is the day's number modulo 2. make vm (VM_ARM64) and
# VM_ALL=1 boot each.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$VM/judge.sh"

if [ -z "${VM_ARM64:-}${VM_ALL:-}" ] && [ $(($(date +%s) / 86400 % 2)) != "$4" ]; then
	skip "a check boots one kernel a day, and today not this one; make vm boots all"
fi
[ "$(uname -m)" = x86_64 ] || skip "its programs are built for $(uname -m)"
busybox=$(command -v busybox) || skip "no busybox"
if ldd "$busybox" >/dev/null 2>&1; then skip "busybox is not static"; fi
vm_kernel x86_64 "$1"
workloads=$("$ROOT/tests/workloads/build.sh" "$OUT/workloads") || exit 1
${CC:-gcc} -std=gnu11 -O2 -I"$ROOT" -I"$OUT" -D_GNU_SOURCE "$VM/load_programs.c" "$ROOT/src/capture/bpf/trusted_args.c" -lbpf -lelf -lz -o "$T/load_programs" || exit 1
vm_add "$busybox" /bin/busybox
vm_add "$PROBEE"
vm_add "$T/load_programs"
vm_add "$(command -v setpriv)"
for w in chain30 chain30_fp twochains twochains_fp threads threads_fp states counts naps; do
	vm_add "$workloads/$w"
done
vm_boot x86_64 "$2" "${3:-}"
judge_all
done_testing
