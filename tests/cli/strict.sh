#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/profile src/report src/commands
# What is missing in a trace is said with every report of it, and is an exit code of 3 under --strict; without it, 0.
. tests/cli/lib.sh
command -v python3 >/dev/null && command -v zstd >/dev/null || skip 'needs python3 and zstd'

cd "$TMP" || exit 1
python3 "$OLDPWD/tests/cli/strict_traces.py" . >names || { cat names; exit 1; }
[ "$(wc -l <names)" -gt 25 ] || { echo 'few traces'; exit 1; }

while IFS='|' read -r name text; do
	more=
	[ "$name" != impossible ] || more=--no-limits
	want=3
	[ -n "$text" ] || want=0
	formats='svg json collapse text csv waits waits-json'
	case $name in
	lost-*) formats='text json' ;;
	only-its-beginning) formats='svg json collapse text csv' ;;	# it has no snapshots
	esac
	for format in $formats; do
		run timeout 20 "$PROBEE" report $more "$name.pbz" --$format=-;           exits 0
		if [ -n "$text" ]; then says "$text"; else silent; fi
		case $format in
		svg) [ "$name" = rows-missing ] || [ -z "$text" ] || prints 'class="warn"' ;;
		json | waits-json) case $name in rows-missing | whole) ;; *) prints '"warning":' ;; esac ;;
		text) case $name in rows-missing) prints "$text" ;; whole) ;; *) prints 'losses ' ;; esac ;;
		esac
		run timeout 20 "$PROBEE" report $more "$name.pbz" --strict --$format=-;  exits $want
	done
	run timeout 20 "$PROBEE" info $more --strict "$name.pbz";                        exits $want
	run timeout 20 "$PROBEE" info $more --json "$name.pbz";                          exits 0
done <names

# A trace of which nothing is there but its beginning is no empty recording.
run timeout 20 "$PROBEE" info only-its-beginning.pbz; prints 'ended     not properly'
finish
