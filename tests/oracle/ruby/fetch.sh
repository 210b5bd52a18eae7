#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fetch.sh VERSION...: Rubies of other Debian releases (2.7: bullseye, 3.3: trixie, 3.4: experimental, with the libraries of sid) for
# tests, from the package archive that apt here uses, each with the C library that it was linked with. They are unpacked into PROBEE_RUBIES (default /var/tmp/probee-rubies)/VERSION,
# where rubies.sh finds them; nothing is installed, and apt's own lists stay as they are.
set -eu
into=${PROBEE_RUBIES:-/var/tmp/probee-rubies}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
archive=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null |
	sed -nE 's/^(URIs:|deb( \[[^]]*\])?) *([^ ]*\/debian)\/?( .*)?$/\3/p' | head -n 1)
[ "$archive" ] && [ -e "$keyring" ] || { echo "no archive of Debian's"; exit 77; }
for version; do
	case $version in
	2.7) release=bullseye ;;
	3.1) release=bookworm ;;
	3.3) release=trixie ;;
	3.4) release="experimental sid" ;;
	*) echo "no release of Debian's has Ruby $version"; exit 77 ;;
	esac
	[ ! -x "$into/$version/ruby" ] || continue
	T=$(mktemp -d)
	trap 'rm -rf "$T"' EXIT
	mkdir -p "$T/lists/partial" "$T/cache/archives/partial" "$T/etc" "$T/deb" "$into/$version"
	touch "$T/status"
	for r in $release; do echo "deb [signed-by=$keyring] $archive $r main"; done >"$T/sources.list"
	cat >"$T/apt.conf" <<EOT
Dir::State "$T"; Dir::State::lists "$T/lists"; Dir::State::status "$T/status"; Dir::Cache "$T/cache";
Dir::Etc::sourcelist "$T/sources.list"; Dir::Etc::sourceparts "$T/etc"; APT::Sandbox::User "root";
EOT
	export APT_CONFIG=$T/apt.conf
	apt-get -qq update || { echo "the archive has no $release"; exit 77; }
	(cd "$T/deb" && apt-get -qq download "ruby$version" "libruby$version" libc6 libgmp10 zlib1g libcrypt1 libgcc-s1)
	for package in "$T"/deb/*.deb; do dpkg -x "$package" "$into/$version"; done
	unset APT_CONFIG
	loader=$(find "$into/$version" -name 'ld-linux-x86-64.so.2' -o -name 'ld-linux-aarch64.so.1' | head -n 1)
	libs=$(find "$into/$version" -type d -path '*lib/*-linux-gnu' | paste -sd:)
	lib=$(find "$into/$version/usr/lib/ruby" -maxdepth 1 -name "$version.*" | head -n 1)
	arch=$(find "$into/$version/usr/lib" -path "*linux-gnu/ruby/$version.*" -maxdepth 3 | head -n 1)
	printf '#!/bin/sh\nRUBYLIB=%s:%s exec %s --library-path %s %s --disable-gems "$@"\n' "$lib" "$arch" "$loader" "$libs" "$into/$version/usr/bin/ruby$version" >"$into/$version/ruby"
	chmod +x "$into/$version/ruby"
	"$into/$version/ruby" -e 'puts "#{RUBY_VERSION} from #{ARGV[0]}"' "$release"
done
