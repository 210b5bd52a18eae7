#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: docs/FAULTS.md tests
# core: yes
# docs/FAULTS.md tells the truth: it has every fault once, and each has checks that exist or a reason why it has none.
# Before that the checker itself is tried on tables with one mistake each.
set -u
here=$PWD

# judge TABLE: prints what is wrong. A row is "| F12 | fault | what must happen | `FILE`: TEXT; `FILE`: TEXT |" with files below
# tests/ and a text that stands in the file, or "... | not tried: reason |". Both together are fine.
judge() {
	awk -F ' *[|] *' -v want=54 '
		/^\| *F[0-9]/ {
			if (NF != 6) print "row " $2 ": has " NF - 2 " columns, not 4"
			seen[$2]++
			if ($3 == "" || $4 == "") print "row " $2 ": says not what happens or what must happen"
			n = split($5, part, / *; */)
			found = 0
			for (i = 1; i <= n; i++) {
				if (part[i] ~ /^not tried: ...../) found = 1
				else if (match(part[i], /^`[^`]+`: ./)) {
					found = 1
					file = substr(part[i], 2, RLENGTH - 5)
					text = substr(part[i], RLENGTH)
					print "@" $2 "|" file "|" text
				} else print "row " $2 ": neither a check nor a reason: " part[i]
			}
			if (!found) print "row " $2 ": has neither a check nor a reason"
		}
		END {
			for (i = 1; i <= want; i++)
				if (seen["F" i] != 1) print "row F" i ": is there " seen["F" i] + 0 " times"
		}' "$1" | while IFS='|' read -r row file text; do
		case $row in
		@*)
			if [ ! -f "$here/tests/$file" ]; then
				echo "row ${row#@}: there is no tests/$file"
			elif [[ $file == *.sh ]] && ! head -n 1 "$here/tests/$file" | grep -q '^#!' && [[ $file != vm/judge.sh ]]; then
				echo "row ${row#@}: tests/$file is no test"
			elif ! grep -qF -- "$text" "$here/tests/$file"; then
				echo "row ${row#@}: tests/$file has no '$text'"
			fi
			;;
		*) echo "$row${file:+|$file}${text:+|$text}" ;;
		esac
	done
}

# finds MISTAKE SED-SCRIPT: the checker complains of a table that was changed like that.
finds() {
	sed "$2" docs/FAULTS.md >"$TMP/planted.md"
	cmp -s docs/FAULTS.md "$TMP/planted.md" && { echo "not planted: $1"; bad=1; }
	[ "$(judge "$TMP/planted.md")" ] || { echo "not found: $1"; bad=1; }
}
bad=0
finds 'a row is missing' '/^| F7 /d'
finds 'a row is there twice' '/^| F7 /p'
finds 'a file is not there' '/^| F1 /s/`live\//`live\/no-such-/'
finds 'a check is not there' '/^| F1 /s/`: [^|;]*/`: no such check /'
finds 'neither check nor reason' '/^| F1 /s/| [^|]*|$/| |/'
finds 'a reason is empty' '/^| F22 /s/not tried: [^|;]*/not tried: /'

judge docs/FAULTS.md >"$TMP/wrong"
[ ! -s "$TMP/wrong" ] || { cat "$TMP/wrong"; bad=1; }
exit $bad
