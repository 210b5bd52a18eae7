#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fetch.sh VERSION...: Perls of other Debian releases (5.32: bullseye, 5.40: trixie) for tests, from the package archive that apt here
# uses, each with the libraries that it was linked with. They are unpacked into PROBEE_PERLS (default /var/tmp/probee-perls)/VERSION,
# where perls.sh finds them; nothing is installed, and apt's own lists stay as they are.
set -eu
into=${PROBEE_PERLS:-/var/tmp/probee-perls}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
archive=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null |
	sed -nE 's/^(URIs:|deb( \[[^]]*\])?) *([^ ]*\/debian)\/?( .*)?$/\3/p' | head -n 1)
[ "$archive" ] && [ -e "$keyring" ] || { echo "no archive of Debian's"; exit 77; }
for version; do
	case $version in
	5.32) release=bullseye; more=libperl5.32 ;;
	5.40) release=trixie; more=libperl5.40 ;;
	*) echo "no release of Debian's has Perl $version"; exit 77 ;;
	esac
	[ ! -x "$into/$version/perl" ] || continue
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
	(cd "$T/deb" && apt-get -qq download perl-base "$more" libc6 libcrypt1)
	for package in "$T"/deb/*.deb; do dpkg -x "$package" "$into/$version"; done
	unset APT_CONFIG
	loader=$(find "$into/$version" -name 'ld-linux-x86-64.so.2' -o -name 'ld-linux-aarch64.so.1' | head -n 1)
	libs=$(find "$into/$version" -type d -path '*lib/*-linux-gnu' | paste -sd:)
	inc=$(find "$into/$version" -type d -path '*perl*' \( -name "$version" -o -name "$version.*" -o -name perl-base \) | sed 's/^/-I/' | paste -sd' ')
	printf '#!/bin/sh\nexec %s --library-path %s %s %s "$@"\n' "$loader" "$libs" "$into/$version/usr/bin/perl" "$inc" >"$into/$version/perl"
	chmod +x "$into/$version/perl"
	"$into/$version/perl" -e 'printf "%vd from %s\n", $^V, $ARGV[0]' "$release"
done
