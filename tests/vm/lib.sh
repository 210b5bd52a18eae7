# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Every test of another kernel sources this file first. A test boots a Debian kernel in QEMU with probee and a few workloads
# in its initial RAM disk. guest.init runs there as the only program, and the files in its /out come back over the serial
# console to be judged here, so that a kernel under test does not judge itself.
#
#	vm_kernel ARCH SERIES		x86_64 6.1: the newest Debian kernel of it; sets KERNEL and RELEASE
#	vm_packages ARCH DIR NAME...	unpacks Debian packages into DIR
#	vm_add FILE [AS]		into the RAM disk, with the shared libraries it needs; AS: its path there
#	vm_boot ARCH CPUS [APPEND]	sets OUT_DIR; skips or fails when the guest does not come to its end
#
# The machine is emulated (tcg): /dev/kvm exists on virtual machines where it hangs. What is downloaded is kept in
# $OUT/vm; the guest's files are copied to $KEEP if that is set. apt-get works there on lists of its own, so it needs no
# rights and does not touch those of the machine.
set -u

VM=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$VM/../tap.sh"
OUT=$(realpath -m "${OUT:-$ROOT/.out}")
PROBEE=$(realpath -m "${PROBEE:-$OUT/probee}")
CACHE=$OUT/vm
BOOT_LIMIT=${BOOT_LIMIT:-700}		# seconds
KERNEL= RELEASE= OUT_DIR= APPEND=

[ -x "$PROBEE" ] || { echo "no binary at $PROBEE"; exit 1; }
for tool in cpio apt-get dpkg-deb python3; do
	command -v $tool >/dev/null || skip "no $tool"
done
T=$(mktemp -d "${TMPDIR:-/tmp}/probee-vm.XXXXXX") || exit 1
QEMU=
trap '[ -z "$QEMU" ] || kill "$QEMU" 2>/dev/null; rm -rf "$T"' EXIT
trap 'exit 130' INT TERM
mkdir -p "$CACHE" "$T/root"

# as Debian names it
deb_arch() { case $1 in x86_64) echo amd64 ;; aarch64) echo arm64 ;; *) echo "$1" ;; esac; }

# vm_apt ARCH TOOL ARG...
vm_apt() {
	local arch dir tool=$2
	arch=$(deb_arch "$1")
	dir=$CACHE/apt-$arch
	shift 2
	if [ ! -e "$dir/conf" ]; then
		mkdir -p "$dir/lists/partial" "$dir/archives/partial"
		: >"$dir/status"
		cat >"$dir/conf" <<-END
		APT::Architecture "$arch";
		APT::Architectures { "$arch"; };
		APT::Sandbox::User "$(id -un)";
		Acquire::Languages "none";
		Dir::State "$dir";
		Dir::State::status "$dir/status";
		Dir::Cache "$dir";
		END
	fi
	APT_CONFIG=$dir/conf "$tool" "$@"
}

# vm_lists ARCH: Debian's lists of packages, at most a day old.
vm_lists() {
	local stamp=$CACHE/apt-$(deb_arch "$1")/stamp
	if [ -z "$(find "$stamp" -mtime -1 2>/dev/null)" ]; then
		vm_apt "$1" apt-get -qq update >"$T/apt" 2>&1 && touch "$stamp"
	fi
}

vm_kernel() {
	local arch name deb dir
	arch=$(deb_arch "$1")
	vm_lists "$1"
	name=$(vm_apt "$1" apt-cache pkgnames "linux-image-$2." |
		grep -E "^linux-image-${2//./\\.}\.[0-9][^a-z]*(\+deb[0-9]+)?-cloud-$arch\$" | sort -V | tail -n 1)
	[ "$name" ] || skip "no linux-image-$2.*-cloud-$arch to be had here $(tail -n 1 "$T/apt" 2>/dev/null)"
	RELEASE=${name#linux-image-}
	KERNEL=$CACHE/vmlinuz-$RELEASE
	[ -e "$KERNEL" ] && return
	dir=$(mktemp -d "$T/deb.XXXXXX")
	(cd "$dir" && vm_apt "$1" apt-get -qq download "$name") >"$T/apt" 2>&1 ||
		skip "cannot download $name: $(tail -n 1 "$T/apt")"
	deb=$(echo "$dir"/*.deb)
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./boot/vmlinuz-$RELEASE" >"$KERNEL.tmp" && mv "$KERNEL.tmp" "$KERNEL" ||
		skip "no kernel in $name"
	rm -rf "$dir"
}

vm_packages() {
	local arch=$1 into=$2 dir
	shift 2
	[ "$(cat "$into/packages" 2>/dev/null)" != "$*" ] || return 0
	vm_lists "$arch"
	rm -rf "$into"
	mkdir -p "$into"
	dir=$(mktemp -d "$T/deb.XXXXXX")
	(cd "$dir" && vm_apt "$arch" apt-get -qq download "$@") >"$T/apt" 2>&1 ||
		skip "cannot download packages for $arch: $(tail -n 1 "$T/apt")"
	for deb in "$dir"/*.deb; do
		dpkg-deb -x "$deb" "$into" || return 1
	done
	rm -rf "$dir"
	echo "$*" >"$into/packages"
}

# needed_by FILE: the shared libraries it needs, as paths inside $SYSROOT.
SYSROOT=
needed_by() {
	if [ -z "$SYSROOT" ]; then
		ldd "$1" 2>/dev/null | grep -o '/[^ ]*\.so[^ ]*'
	else
		(cd "$SYSROOT" && find lib usr/lib -maxdepth 2 -name '*.so.[0-9]*' -printf '/%p\n')
	fi
}

vm_add() {
	local file=$1 as=${2:-/bin/$(basename "$1")} lib
	mkdir -p "$T/root${as%/*}"
	cp -L "$file" "$T/root$as" || exit 1
	needed_by "$file" | while read -r lib; do
		[ -e "$T/root$lib" ] || { mkdir -p "$T/root${lib%/*}" && cp -L "$SYSROOT$lib" "$T/root$lib"; }
	done
}

pack() {
	mkdir -p "$T/root"/{proc,sys,dev,tmp,out}
	cp "$VM/guest.init" "$T/root/init"
	chmod 755 "$T/root/init"
	(cd "$T/root" && find . | cpio -o -H newc -R 0:0 --quiet | gzip -1) >"$T/initrd"
}

# unpack: the files between the two marks in the output of the console.
unpack() {
	tr -d '\r' <"$T/console" | sed -n '/^=== out$/,/^=== end$/p' | grep -v '^===' | base64 -d 2>/dev/null |
		tar -xz -C "$OUT_DIR" 2>/dev/null
}

# watch_steal PID: runs until PID has ended, and writes into $T/steal the share (0 to 1) of the time in which the emulated
# CPUs wanted to run but waited for one of the host's. The guest does not learn of it: its CPUs and clock events stand still.
watch_steal() {
	local ran=0 waited=0 sums
	while kill -0 "$1" 2>/dev/null; do
		sums=$(cat /proc/"$(pgrep -P "$1")"/task/*/schedstat 2>/dev/null | awk '{ r += $1; w += $2 } END { print r + 0, w + 0 }')
		[ "$sums" = "0 0" ] || read -r ran waited <<<"$sums"
		sleep 0.5
	done
	awk -v r="$ran" -v w="$waited" 'BEGIN { printf "%.3f\n", r + w ? w / (r + w) : 0 }' >"$T/steal"
}

# emulate QEMU CPUS CONSOLE ARG...: boots once; succeeds if the guest came to its end.
emulate() {
	local qemu=$1 cpus=$2 console=$3 rc
	shift 3
	timeout -k 1 "$BOOT_LIMIT" "$qemu" "$@" -accel tcg,thread=multi -smp "$cpus" -m 2G -nographic -nodefaults -serial stdio \
		-no-reboot -kernel "$KERNEL" -initrd "$T/initrd" -append "console=$console loglevel=5 panic=-1 $APPEND" \
		</dev/null >"$T/console" 2>"$T/qemu" &
	QEMU=$!
	watch_steal $QEMU
	wait $QEMU
	rc=$?
	QEMU=
	rm -rf "$OUT_DIR"
	mkdir -p "$OUT_DIR"
	unpack && [ -e "$OUT_DIR/done" ] && return
	echo "# $qemu: exit $rc"
	grep -aE 'int3:|BUG:|Oops|panic' "$T/console" | head -n 5 | tr -d '\r' | sed 's/^/# /'
	return 1
}

vm_boot() {
	local qemu=qemu-system-$1 cpus=$2 machine=(-cpu max) console=ttyS0
	APPEND=${3:-}
	OUT_DIR=$T/guest
	[ "$1" != aarch64 ] || { machine+=(-M virt); console=ttyAMA0; }
	command -v "$qemu" >/dev/null || skip "no $qemu"
	pack
	# Boots again, twice at most, after "int3": the kernel patches its code with that instruction, and an emulated CPU may still
	# run it when the others have removed it. A real processor cannot: only the emulator keeps translated code. A CPU that
	# meets the instruction again and again is a soft lockup; the console says where, should it be something else.
	local tries=3
	until emulate "$qemu" "$cpus" "$console" "${machine[@]}"; do
		! grep -aq 'int3: 0000\|soft lockup' "$T/console" || [ $((--tries)) = 0 ] || continue
		tail -n 60 "$T/console" "$T/qemu" | tr -d '\r' | sed 's/^/# /'
		check "the guest comes to its end" false
		done_testing
	done
	[ -z "${KEEP:-}" ] || cp -r "$OUT_DIR" "$KEEP"
	cd "$OUT_DIR" || exit 1
}
