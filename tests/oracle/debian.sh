# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Interpreters of other Debian releases for tests, from the package archive that apt here uses, each with the libraries that it was
# linked with. They are unpacked; nothing is installed, and apt's own lists stay as they are. fetch.sh of each language sets
#
#	into	the folder; an interpreter is into/VERSION/NAME
#	name	"python": the name of the interpreter, and of the program that says where it comes from
#	releases[VERSION]	"bullseye", or several, the first of which has it
#
# and defines packages VERSION (their names), run VERSION DIR (the words that start it, behind the loader and its libraries: the program
# in DIR and its options; a line before it may set variables: environment VERSION DIR), and about (words that print its version and $1).
# Then it calls fetch VERSION... Without an archive or a release the status is 77, and a line says why.
set -eu
declare -A releases
environment() { :; }

archive_of_debian() {
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	archive=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null |
		sed -nE 's/^(URIs:|deb( \[[^]]*\])?) *([^ ]*\/debian)\/?( .*)?$/\3/p' | head -n 1)
	[ "$archive" ] && [ -e "$keyring" ] || { echo "no archive of Debian's"; exit 77; }
}

# use_releases RELEASE...: from here on apt-get knows these alone, in the folder T.
use_releases() {
	local release

	mkdir -p "$T/lists/partial" "$T/cache/archives/partial" "$T/etc" "$T/deb"
	touch "$T/status"
	for release; do echo "deb [signed-by=$keyring] $archive $release main"; done >"$T/sources.list"
	cat >"$T/apt.conf" <<EOT
Dir::State "$T"; Dir::State::lists "$T/lists"; Dir::State::status "$T/status"; Dir::Cache "$T/cache";
Dir::Etc::sourcelist "$T/sources.list"; Dir::Etc::sourceparts "$T/etc"; APT::Sandbox::User "root";
EOT
	export APT_CONFIG=$T/apt.conf
	apt-get -qq update || { echo "the archive has no $*"; exit 77; }
}

# start_file VERSION: a program that starts the interpreter with its own loader and libraries.
start_file() {
	local to=$into/$1 loader libs

	loader=$(find "$to" -name 'ld-linux-x86-64.so.2' -o -name 'ld-linux-aarch64.so.1' | head -n 1)
	libs=$(find "$to" -type d -path '*lib/*-linux-gnu' | paste -sd:)
	printf '#!/bin/sh\n%sexec %s --library-path %s %s "$@"\n' "$(environment "$1" "$to")" "$loader" "$libs" "$(run "$1" "$to")" >"$to/$name"
	chmod +x "$to/$name"
}

fetch_one() {
	local version=$1 package

	[ "${releases[$version]:-}" ] || { echo "no release of Debian's has $name $version"; exit 77; }
	[ ! -x "$into/$version/$name" ] || return 0
	T=$(mktemp -d)
	trap 'rm -rf "$T"' EXIT
	# shellcheck disable=SC2086 # a list of releases
	use_releases ${releases[$version]}
	mkdir -p "$into/$version"
	# shellcheck disable=SC2046 # a list of packages
	(cd "$T/deb" && apt-get -qq download libc6 $(packages "$version"))
	for package in "$T"/deb/*.deb; do dpkg -x "$package" "$into/$version"; done
	unset APT_CONFIG
	start_file "$version"
	about "$into/$version/$name" "${releases[$version]}"
	rm -rf "$T"
}

fetch() {
	local version

	archive_of_debian
	for version; do fetch_one "$version"; done
}
