#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# install-deps.sh [build|demo|check|vm]: installs the Debian packages that this step needs. Prints nothing if all are there.
# Asks no question and starts no daemon. Exits 77 if a necessary package is missing and cannot be installed.
set -eu

level=${1:-build}
build='gcc libc6-dev binutils clang bpftool libbpf-dev libelf-dev libdw-dev zlib1g-dev libzstd-dev libpcre2-dev libseccomp-dev libcap-ng-dev libiberty-dev liblzma-dev libncurses-dev libmicrohttpd-dev libcurl4-openssl-dev protobuf-c-compiler libprotobuf-c-dev'
demo='procps g++'
check='libcmocka-dev libclang-rt-14-dev python3 g++ util-linux protobuf-compiler python3-protobuf'

# Programs that tests compare with or record; a test without its program says so and is skipped.
wanted='prometheus libxml2-utils zstd xz-utils chromium gdb elfutils linux-perf strace libcap2-bin redis-server valgrind musl-tools libzydis-dev debuginfod libdebuginfod1 golang-1.19-go python3-pyte curl systemd systemtap-sdt-dev'
# Other tests get theirs by npm and pip (tests/consumers/install.sh), wherever these come from.
command -v npm >/dev/null || wanted="$wanted npm"
python3 -m pip --version >/dev/null 2>&1 || wanted="$wanted python3-pip"
# For other kernels in emulated machines, and for another processor.
machines='qemu-system-x86 busybox-static cpio'
arm64='qemu-system-arm gcc-aarch64-linux-gnu'

case $level in
build) needed=$build wanted='' ;;
demo)  needed="$build $demo" wanted='' ;;
check) needed="$build $demo $check" wanted="$wanted $machines" ;;
vm)    needed="$build $machines $arm64 python3" wanted='' ;;
*)     echo "usage: $0 [build|demo|check|vm]" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
	echo "$0: not a Debian system. Going on with what is there; this would be installed: $needed $wanted" >&2
	exit 0
fi

# Prints which of its arguments are not installed.
missing() {
	[ $# -gt 0 ] || return 0
	installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "$@" 2>/dev/null |
		sed -n 's/^ii *//p' | tr '\n' ' ')
	for p; do
		case " $installed" in *" $p "*) ;; *) printf '%s ' "$p" ;; esac
	done
}

# shellcheck disable=SC2086  # lists of words
needed=$(missing $needed)
# shellcheck disable=SC2086
wanted=$(missing $wanted)
[ "$needed$wanted" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
	as_root='sudo -n'
	if ! sudo -n true 2>/dev/null; then
		echo "not installed here: $needed$wanted" >&2
		echo "Try: sudo apt-get install $needed$wanted" >&2
		[ ! "$needed" ] || exit 77
		exit 0
	fi
fi

# Packages ask this program before they start their daemon; it is the only switch that both init systems obey.
policy=/usr/sbin/policy-rc.d
undo() { :; }
if [ ! -e $policy ]; then
	undo() { $as_root rm -f $policy; }
	trap undo EXIT
	trap 'exit 130' INT TERM
	printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy >/dev/null
	$as_root chmod 755 $policy
fi

apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@"; }
install() { apt install -y --no-install-recommends "$@" >"$log" 2>&1; }

log=$(mktemp)
echo "installing: $needed$wanted"
apt update >"$log" 2>&1 || tail -n 5 "$log" >&2
# shellcheck disable=SC2086
if ! install $needed $wanted; then
	# One package that this release lacks must not prevent the others from being installed.
	# shellcheck disable=SC2086
	[ ! "$needed" ] || install $needed || { tail -n 20 "$log" >&2; rm -f "$log"; exit 1; }
	for p in $wanted; do
		install "$p" || echo "$p cannot be installed here; the tests that need it are skipped"
	done
fi
rm -f "$log"
