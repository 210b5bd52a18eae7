#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# phps.sh: "VERSION PROGRAM" of each PHP that is here: installed, or fetched (fetch.sh); "missing: VERSION" of those that a release of
# Debian's has, and are not here.
into=${PROBEE_PHPS:-/var/tmp/probee-phps}
for version in 7.4 8.0 8.1 8.2 8.3 8.4; do
	for php in "/usr/bin/php$version" "$into/$version/php"; do
		[ ! -x "$php" ] || { echo "$version $php"; continue 2; }
	done
	case $version in 7.4 | 8.2 | 8.4) echo "missing: $version" ;; esac
done
