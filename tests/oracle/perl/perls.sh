#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# perls.sh: "VERSION PROGRAM" of each Perl that is here: installed, or fetched (fetch.sh); "missing: VERSION" of those that a release of
# Debian's has, and are not here.
into=${PROBEE_PERLS:-/var/tmp/probee-perls}
for version in 5.32 5.34 5.36 5.38 5.40; do
	for perl in "/usr/bin/perl$version".* "$into/$version/perl"; do
		[ ! -x "$perl" ] || { echo "$version $perl"; continue 2; }
	done
	case $version in 5.32 | 5.36 | 5.40) echo "missing: $version" ;; esac
done
