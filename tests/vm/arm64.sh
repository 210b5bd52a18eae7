#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: bpf unwind src/capture tests/vm
# timeout: 1500
# probee for arm64, cross-compiled, on Debian 12's arm64 kernel. The program and the workloads are built against Debian's
# own arm64 libraries. This takes ten minutes, so it runs only if VM_ARM64 is set, as `make vm` does.
[ "${VM_ARM64:-}" ] || { echo "takes 10 minutes; make vm runs it (VM_ARM64=1)"; exit 77; }
BOOT_LIMIT=${BOOT_LIMIT:-900}
. "$(dirname "$0")/lib.sh"
. "$VM/judge.sh"

cross=aarch64-linux-gnu-
command -v ${cross}gcc >/dev/null || skip "no ${cross}gcc: make deps LEVEL=vm"
vm_kernel aarch64 6.1
SYSROOT=$CACHE/arm64-root
vm_packages aarch64 "$SYSROOT" libc6 libc6-dev linux-libc-dev libcrypt1 libgcc-s1 libbpf1 libbpf-dev libelf1 libelf-dev \
	libdw1 libdw-dev zlib1g zlib1g-dev libzstd1 libzstd-dev libpcre2-8-0 libpcre2-dev libseccomp2 libseccomp-dev libiberty-dev liblzma5 liblzma-dev libbz2-1.0 busybox-static \
	util-linux libcap-ng0 libcap-ng-dev libncursesw6 libncurses6 libtinfo6 libncurses-dev libmicrohttpd-dev libcurl4-openssl-dev libprotobuf-c1 libprotobuf-c-dev \
	python3.11-minimal libpython3.11-minimal libexpat1 || exit 1
built=$CACHE/arm64
env -u MAKEFLAGS -u MFLAGS make -s -C "$ROOT" -j2 OUT="$built" ARCH=aarch64 CROSS_COMPILE=$cross SYSROOT="$SYSROOT" all >"$T/make" 2>&1 || {
	sed 's/^/# /' "$T/make"
	check "it builds" false
	done_testing
}
cc=(${cross}gcc -std=gnu11 -O2 -g "--sysroot=$SYSROOT" -D_GNU_SOURCE)
for w in chain30 twochains threads states counts naps; do
	"${cc[@]}" -fomit-frame-pointer -pthread -o "$T/$w" "$ROOT/tests/workloads/$w.c" || exit 1
	vm_add "$T/$w"
	"${cc[@]}" -fno-omit-frame-pointer -pthread -o "$T/${w}_fp" "$ROOT/tests/workloads/$w.c" || exit 1
	vm_add "$T/${w}_fp"
done
"${cc[@]}" -I"$ROOT" -I"$built" "$VM/load_programs.c" "$ROOT/src/capture/bpf/trusted_args.c" -lbpf -lelf -lz -o "$T/load_programs" || exit 1
vm_add "$SYSROOT/bin/busybox"
vm_add "$SYSROOT/usr/bin/setpriv"
vm_add "$built/probee"
vm_add "$T/load_programs"
vm_add "$SYSROOT/usr/bin/python3.11"
vm_add "$ROOT/tests/workloads/python_path.py"
cp -r "$SYSROOT/usr/lib/python3.11" "$T/root/usr/lib/"
vm_boot aarch64 2
judge_all
done_testing
