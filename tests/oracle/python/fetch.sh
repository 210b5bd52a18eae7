#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fetch.sh VERSION...: CPythons of other Debian releases (3.9: bullseye, 3.13: trixie, 3.14: sid) for tests, from the package
# archive that apt here uses, each with the C library that it was linked with. They are unpacked into PROBEE_PYTHONS (default
# /var/tmp/probee-pythons)/VERSION, where pythons.sh finds them; nothing is installed, and apt's own lists stay as they are.
set -eu
into=${PROBEE_PYTHONS:-/var/tmp/probee-pythons}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
archive=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null |
	sed -nE 's/^(URIs:|deb( \[[^]]*\])?) *([^ ]*\/debian)\/?( .*)?$/\3/p' | head -n 1)
[ "$archive" ] && [ -e "$keyring" ] || { echo "no archive of Debian's"; exit 77; }
for version; do
	case $version in
	3.9) release=bullseye ;;
	3.13) release=trixie ;;
	3.14) release=sid ;;
	*) echo "no release of Debian's has Python $version"; exit 77 ;;
	esac
	[ ! -x "$into/$version/python" ] || continue
	T=$(mktemp -d)
	trap 'rm -rf "$T"' EXIT
	mkdir -p "$T/lists/partial" "$T/cache/archives/partial" "$T/etc" "$T/deb" "$into/$version"
	touch "$T/status"
	echo "deb [signed-by=$keyring] $archive $release main" >"$T/sources.list"
	cat >"$T/apt.conf" <<EOT
Dir::State "$T"; Dir::State::lists "$T/lists"; Dir::State::status "$T/status"; Dir::Cache "$T/cache";
Dir::Etc::sourcelist "$T/sources.list"; Dir::Etc::sourceparts "$T/etc"; APT::Sandbox::User "root";
EOT
	export APT_CONFIG=$T/apt.conf
	apt-get -qq update || { echo "the archive has no $release"; exit 77; }
	(cd "$T/deb" && apt-get -qq download "python$version-minimal" "libpython$version-minimal" "libpython$version-stdlib" libc6 zlib1g libexpat1)
	for package in "$T"/deb/*.deb; do dpkg -x "$package" "$into/$version"; done
	unset APT_CONFIG
	loader=$(find "$into/$version" -name 'ld-linux-x86-64.so.2' -o -name 'ld-linux-aarch64.so.1' | head -n 1)
	libs=$(find "$into/$version" -type d -path '*lib/*-linux-gnu' | paste -sd:)
	printf '#!/bin/sh\nexec %s --library-path %s %s "$@"\n' "$loader" "$libs" "$into/$version/usr/bin/python$version" >"$into/$version/python"
	chmod +x "$into/$version/python"
	"$into/$version/python" -S -c 'import sys; print(sys.version.split()[0], "from", sys.argv[1])' "$release"
done
