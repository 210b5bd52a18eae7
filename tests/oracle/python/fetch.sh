#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fetch.sh VERSION...: CPythons of other Debian releases, into PROBEE_PYTHONS (default /var/tmp/probee-pythons)/VERSION, where pythons.sh
# finds them. See ../debian.sh.
# shellcheck source=tests/oracle/debian.sh disable=SC2034
. "$(dirname "$0")/../debian.sh"
into=${PROBEE_PYTHONS:-/var/tmp/probee-pythons} name=python
releases=([3.9]=bullseye [3.13]=trixie [3.14]=sid)
packages() { echo "python$1-minimal libpython$1-minimal libpython$1-stdlib zlib1g libexpat1"; }
run() { echo "$2/usr/bin/python$1"; }
about() { "$1" -S -c 'import sys; print(sys.version.split()[0], "from", sys.argv[1])' "$2"; }
fetch "$@"
