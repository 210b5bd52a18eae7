#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Checks without probee whether this machine can do what probee needs; exits 0 if it surely can. A test that probee calls
# impossible here (exit code 77) is skipped only if this script does not say the contrary.
[ "$(id -u)" = 0 ] && [ -s /sys/kernel/btf/vmlinux ] || exit 1
[ "$(sort -V <<END | head -n 1
$(uname -r | sed 's/[^0-9.].*//')
5.18
END
)" = 5.18 ] || exit 1
grep -q '\[confidentiality\]' /sys/kernel/security/lockdown 2>/dev/null && exit 1
[ "$(cat /proc/sys/net/core/bpf_jit_enable 2>/dev/null || echo 1)" != 0 ] || exit 1
caps=$((0x$(awk '/^CapEff/ { print $2 }' /proc/self/status)))
for cap in 21 38 39; do			# CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF
	[ $((caps >> cap & 1)) = 1 ] || exit 1
done
bpftool=$(command -v bpftool || echo /usr/sbin/bpftool)
"$bpftool" prog list >/dev/null 2>&1 || exit 1
# Sandboxes may forbid perf_event_open(2) alone, so this opens a clock event of this thread.
python3 -S - <<'END' 2>/dev/null
import ctypes, os, struct, sys
number = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
attr = struct.pack("<IIQQ", 1, 64, 0, 1000000) + bytes(40)      # software, cpu-clock
sys.exit(ctypes.CDLL(None).syscall(number, attr, 0, -1, -1, 0) < 0)
END
