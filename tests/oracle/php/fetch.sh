#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fetch.sh VERSION...: PHPs of other Debian releases (7.4: bullseye, 8.4: trixie) for tests, from the package archive that apt here
# uses, each with the libraries that it was linked with. They are unpacked into PROBEE_PHPS (default /var/tmp/probee-phps)/VERSION,
# where phps.sh finds them; nothing is installed, and apt's own lists stay as they are.
set -eu
into=${PROBEE_PHPS:-/var/tmp/probee-phps}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
archive=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null |
	sed -nE 's/^(URIs:|deb( \[[^]]*\])?) *([^ ]*\/debian)\/?( .*)?$/\3/p' | head -n 1)
[ "$archive" ] && [ -e "$keyring" ] || { echo "no archive of Debian's"; exit 77; }
for version; do
	case $version in
	7.4) release=bullseye; libs="libedit2 libicu67 libssl1.1 libargon2-1 libsodium23" ;;
	8.4) release=trixie; libs="libedit2 libicu76 libssl3t64 libargon2-1 libsodium23 libcrypt1 libcap-ng0" ;;
	*) echo "no release of Debian's has PHP $version"; exit 77 ;;
	esac
	[ ! -x "$into/$version/php" ] || continue
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
	# shellcheck disable=SC2086 # a list of packages
	(cd "$T/deb" && apt-get -qq download "php$version-cli" "php$version-opcache" libc6 zlib1g libxml2 libpcre2-8-0 libsystemd0 \
		liblzma5 libgcc-s1 libstdc++6 libtinfo6 libbsd0 libmd0 liblz4-1 libzstd1 libcap2 libgcrypt20 libgpg-error0 $libs)
	for package in "$T"/deb/*.deb; do dpkg -x "$package" "$into/$version"; done
	unset APT_CONFIG
	loader=$(find "$into/$version" -name 'ld-linux-x86-64.so.2' -o -name 'ld-linux-aarch64.so.1' | head -n 1)
	libs=$(find "$into/$version" -type d -path '*lib/*-linux-gnu' | paste -sd:)
	printf '#!/bin/sh\nexec %s --library-path %s %s -n "$@"\n' "$loader" "$libs" "$into/$version/usr/bin/php$version" >"$into/$version/php"
	chmod +x "$into/$version/php"
	"$into/$version/php" -r 'echo PHP_VERSION, " from ", $argv[1], "\n";' "$release"
done
