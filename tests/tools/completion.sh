#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: tools/completion.bash src/commands/cmd_complete.c src/commands
# core: yes
# The completion offers what the program takes, at every place of its command lines.
set -u
. tools/completion.bash
bad=0
cd "$TMP" || exit 1
mkdir traces && touch a.pbz b.svg traces/c.pbz "with blank.pbz" notes.txt

# offers WORDS -- WORD...: completing the last WORD of this command line offers exactly these, in any order.
offers() {
	local expected=() got
	while [ "$1" != -- ]; do expected+=("$1"); shift; done
	shift
	COMP_WORDS=("$PROBEE" "$@") COMP_CWORD=$#
	_probee
	got=$(printf '%s\n' ${COMPREPLY+"${COMPREPLY[@]}"} | sort)
	[ "$got" = "$(printf '%s\n' ${expected+"${expected[@]}"} | sort)" ] && return
	echo "probee $*<Tab> offers: ${got//$'\n'/ }; not: ${expected[*]-}"
	bad=1
}
# has WORD -- WORD...: it is among what is offered.
has() {
	COMP_WORDS=("$PROBEE" "${@:3}") COMP_CWORD=$(($# - 2))
	_probee
	printf '%s\n' ${COMPREPLY+"${COMPREPLY[@]}"} | grep -qxF -- "$1" && return
	echo "probee ${*:3}<Tab> does not offer $1, but: ${COMPREPLY[*]-}"
	bad=1
}

commands=$("$PROBEE" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
offers $commands --help --version -- ''
offers doctor -- doct
offers $commands -- help ''
offers report record -- help re
offers --quiet -- doctor --qu
has --weight -- report --we

offers cpu wall -- report --weight ''
offers wall -- report --weight w
offers cpu wall -- report --weight =
offers wall -- report --weight = w
offers auto fp dwarf -- sample --unwind ''
offers anon all never -- snapshot --faults ''
for o in -e --event; do
	has cpu-clock -- sample $o ''
	offers cpu-clock cpu-migrations -- sample $o cpu-
	offers cpu-clock,page-faults -- record $o cpu-clock,pa
done
has SLEEP -- report --state ''
offers R,DISK R,DISK_NOLOAD -- report --state R,DISK

sleep 100 & sleeper=$!
offers $sleeper -- sample -p "${sleeper}"
has $sleeper -- sample -p ''
has $sleeper -- snapshot -t ''
has $sleeper -- sample --pid sleep
has 1,$sleeper -- report -p 1,sleep
kill $sleeper

offers a.pbz traces 'with blank.pbz' -- report ''
offers traces/c.pbz -- info traces/
offers a.pbz -- verify a
offers a.pbz -- merge a
offers a.pbz -- export a.pbz a
has host,stack -- export --columns host,st
offers traces -- symbolize --binary-dir ''
offers a.pbz -- symbolize a
offers a.pbz -- push a
offers otlp pyroscope ingest -- push --protocol ''
offers b.svg traces -- report a.pbz --svg =
offers a.pbz b.svg traces 'with blank.pbz' -- sample -o ''
offers notes.txt -- unwind-info no
has ls -- sample -- l
offers notes.txt -- sample -- ls no
offers -- sample -F ''

# Every option with a value of a known kind completes to something; a new kind must be added to cmd_complete.c.
for c in $commands; do
	[ $c != help ] || continue
	while read -r kind; do
		case $kind in FILE | DIR | HZ | TIME | SIZE | MS | COLUMNSxROWS | ADDRESS:PORT | URL | NAME=VALUE | NAME | N | 1/N | P | TEXT | GLOB | UNITS | CONTAINERS | REGEX | FUNCTION | CONDITION | ARGUMENTS | ENTRY,RETURN | PERCENT | LETTERS) continue ;; esac
		[ "$("$PROBEE" complete "$kind" '')" ] || { echo "$c: nothing is known of the kind $kind"; bad=1; }
	done < <("$PROBEE" $c --help=all | sed -n -E 's/^ {2,6}(-[A-Za-z], )?--[a-z-]+ ([^ ]+)(  .*|$)/\2/p')
done
exit $bad
