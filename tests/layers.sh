#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The rules that keep the tree readable: which folder may include which, unique file names, sizes, no leftovers, licenses.
# The sizes are those of docs/STYLE.md: lines of at most 100 columns, files of at most 600 lines, functions of at most 70
# lines, and nine functions in ten of at most 25.
#
# layers.sh [DIR]: checks DIR (default: this tree). Without DIR it first proves, on small trees with one planted mistake
# each, that every rule can fail.
# layers.sh --lengths [LINES]: how long functions are, and which are longer than LINES (default 40).
set -eu

# folder: the folders that it may include besides itself; * is any folder. A folder that is not listed may include none.
# FOLDER/* stands for each folder in it that is not listed; these may not include each other.
rules='
src/base:
src/rights:     src/base
src/model:      src/base
src/output:     src/base src/rights
formats/trace:  src/base src/model src/output
src/report:     src/base src/model formats/trace
src/waits:      src/base src/model src/report
src/profile:    src/base src/model formats/trace src/report src/waits
src/diff:       src/base src/model src/report src/profile
formats/render: src/base src/model src/output src/report src/profile src/diff
formats/render/svg:     src/base src/model src/report src/profile formats/render
formats/render/firefox: src/base src/model src/report src/profile formats/render
formats/render/waits:   src/base src/model src/report src/profile src/waits formats/render
formats/render/csv:     src/base src/model src/report src/profile src/waits formats/render formats/render/waits
formats/render/page:    src/base src/model src/report src/profile src/diff src/waits formats/render formats/render/svg formats/render/waits
src/live:       src/base src/model formats/trace src/report src/profile src/waits formats/render formats/render/page formats/render/waits
src/tui:        src/base src/model formats/trace src/report src/profile src/diff src/waits formats/render formats/render/waits src/live
src/serve:      src/base src/model formats/trace src/report src/profile formats/render src/live
src/flight:     src/base src/rights src/model src/output formats/trace
src/push:       src/base src/rights src/model src/output formats/trace src/report src/profile formats/render
src/agent:      src/base src/rights src/output formats/trace src/serve
src/elf:        src/base
src/proc:       src/base
src/helpers:    src/base
src/foreign:    src/base src/elf src/proc src/rights src/helpers
unwind:         src/base
bpf:            unwind
src/debug_info: src/base src/model src/elf
src/symbolize:  src/base src/rights src/model src/elf src/debug_info
src/elf_unwind: src/base src/elf unwind
src/runtimes:   src/base src/model src/elf unwind
src/runtimes/*: src/base src/model src/elf src/runtimes unwind
src/parse:      src/base src/model src/elf src/debug_info src/symbolize src/elf_unwind src/runtimes unwind src/rights src/helpers src/foreign
src/probes:     src/base src/rights src/proc src/elf src/foreign src/symbolize src/elf_unwind bpf unwind
src/late_names: src/base src/model src/elf src/proc src/symbolize src/foreign src/parse formats/trace
src/inspect:    src/base src/model src/elf src/proc src/foreign src/symbolize src/elf_unwind unwind
src/verify:     src/base src/model src/elf src/foreign src/elf_unwind unwind formats/trace
src/capture/tables:     src/base src/model src/runtimes unwind
src/capture/bpf:        src/base src/rights bpf unwind src/capture/tables
src/capture/processes:  src/base src/model src/elf src/proc src/symbolize src/elf_unwind src/runtimes unwind src/foreign src/parse src/capture/tables
src/capture/stacks:     src/base src/rights src/model src/foreign src/parse bpf unwind src/capture/tables src/capture/processes
src/capture/waits:      src/base src/model src/proc bpf unwind src/capture/bpf src/capture/stacks
src/capture/session:    src/base src/model src/proc src/symbolize src/runtimes bpf unwind src/capture/tables src/capture/processes src/capture/stacks src/capture/waits
src/capture:            src/base src/rights src/model src/proc src/symbolize src/helpers src/foreign src/parse bpf unwind src/capture/bpf src/capture/tables src/capture/processes src/capture/waits src/capture/stacks src/capture/session
src/capture/collectors: src/base src/rights src/model src/proc src/probes bpf unwind src/capture src/capture/bpf src/capture/stacks src/capture/session
src/recording:  src/base src/rights src/model src/output src/flight src/proc bpf src/capture src/capture/bpf src/capture/session src/capture/collectors formats/trace src/report src/profile formats/render formats/render/csv
src/commands:   *
'

sources() { find bpf unwind formats src -name '*.[ch]' 2>/dev/null | sort; }

# Includes are written from the root, so that a line shows the layer that it reaches, and reach only allowed layers.
check_includes() {
	sources | xargs -r awk -v rules="$rules" '
	function folder(p) { return sub("/[^/]*$", "", p) ? p : "" }
	function row(p) { return p in listed ? p : folder(p) "/*" }
	BEGIN {
		n = split(rules, line, "\n")
		for (i = 1; i <= n; i++) {
			m = split(line[i], w, "[: ]+")
			listed[w[1]]
			for (j = 2; j <= m; j++) w[j] == "*" ? any[w[1]] = 1 : ok[w[1], w[j]] = 1
		}
	}
	/^[ \t]*#[ \t]*include[ \t]*"/ {
		split($0, q, "\"")
		from = folder(FILENAME); to = folder(q[2])
		if (to == "" || q[2] ~ /(^|\/)\.\.?\//)
			print FILENAME ":" FNR ": \"" q[2] "\" is not written from the root"
		else if (from != "src" && !(from in any) && from != to && !((row(from), to) in ok))
			print FILENAME ":" FNR ": " from " may not include " q[2]
	}'
}

# The report half must build without libbpf and without BPF programs. sources.mk lists its sources. The rules above keep its
# folders apart from others; src/commands and src/main.c may include all, so this function checks their files.
check_libraries() {
	sources | grep -v '^bpf/\|^src/capture/\|^src/commands/program\.c\|^src/commands/.*doctor' |
		xargs -r grep -nE '^#include <bpf/' /dev/null | sed 's/$/: only src\/capture may use libbpf/'
	sources | grep -v '^formats/trace/\|^formats/render/zstd_stream\.c\|^src/elf/packed_section\.c\|^src/commands/report_commands\.c' |
		xargs -r grep -nE '^#include <zstd' /dev/null | sed 's/$/: only formats\/trace, zstd_stream.c and packed_section.c may use zstd/'
	sources | grep -v '^src/rights/' | xargs -r grep -nE '^#include <(cap-ng|sys/capability)' /dev/null |
		sed 's/$/: only src\/rights may use libcap-ng/'
	sources | grep -v '^src/rights/\|^src/model/syscall_names\.c' | xargs -r grep -nE '^#include <seccomp' /dev/null |
		sed 's/$/: only src\/rights and syscall_names.c may use libseccomp/'
	sed -n '/^REPORT_.*SRCS := /,/^$/s/^\t\([^ ]*\).*/\1/p' sources.mk 2>/dev/null |
		while read -r f; do [ ! -f "$f" ] || echo "$f"; done |
		xargs -r grep -nE '^#include "(bpf|unwind|src/(capture|recording|elf|elf_unwind|symbolize|late_names|inspect|verify|proc))/' \
			/dev/null | sed 's/$/: not in the report half/'
}

check_names() {
	sources | sed 's,.*/,,' | sort | uniq -d | sed 's/$/: this file name exists twice/'
}

check_sizes() {
	sources | xargs -r awk '
	function width(s,  w, i) {
		for (w = 0; (i = index(s, "\t")); s = substr(s, i + 1)) w += i - 1 + 8 - (w + i - 1) % 8
		return w + length(s)
	}
	FNR == 1 { if (last != "" && lines > 600) print last ": " lines " lines, 600 are allowed"; body = 0 }
	{ last = FILENAME; lines = FNR }
	/^[a-zA-Z].*\)$/ || /^[ \t].*\)$/ { head = FNR }
	/^\{/ && head == FNR - 1 { body = FNR }
	/^\}/ {
		if (body && FNR - body - 1 > 70)
			print FILENAME ":" body ": function of " FNR - body - 1 " lines, 70 are allowed"
		body = 0
	}
	width($0) > 100 { print FILENAME ":" FNR ": line of " width($0) " columns, 100 are allowed" }
	END { if (lines > 600) print last ": " lines " lines, 600 are allowed" }'
}

# lengths: prints "LINES FILE:LINE NAME" for every function body, without the lines of its braces.
lengths() {
	sources | xargs -r awk '
	FNR == 1 { body = 0 }
	/^[a-zA-Z].*\($/ || /^[a-zA-Z].*\(.*[^;]$/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
	/^[a-zA-Z].*\)$/ || /^[ \t].*\)$/ { head = FNR }
	/^\{/ && head == FNR - 1 { body = FNR }
	/^\}/ { if (body) print FNR - body - 1, FILENAME ":" body, name; body = 0 }' | sort -n
}

# Nine functions in ten have at most 25 lines.
check_lengths() {
	lengths | awk '{ v[NR] = $1 } END {
		p90 = v[int((NR * 9 + 9) / 10)]
		if (p90 > 25) print "nine functions in ten have up to " p90 " lines, 25 are allowed (tests/layers.sh --lengths)"
	}'
}

show_lengths() {
	lengths | awk -v most="$1" '{ v[NR] = $1; sum += $1; if ($1 > most) long[++n] = $0 } END {
		while (n) print long[n--]
		printf "%d functions: half up to %d lines, 90 %% up to %d, the longest %d\n", NR, v[int((NR + 1) / 2)],
			v[int((NR * 9 + 9) / 10)], v[NR]
	}'
}

# The words are written in two parts, so that this file does not find itself.
check_words() {
	find bpf unwind formats src tests tools docs .ci Makefile README.md -type f 2>/dev/null |
		grep -E '\.(c|h|def|sh|py|md|js)$|Makefile' |
		xargs -r grep -nE "\\b(TO""DO|FIX""ME|XX""X|HA""CK)\\b" /dev/null | sed 's/$/: leftover/'
}

# Every source, header, script and asset names its license. The words are written in two parts, as above.
check_licenses() {
	find . -type f ! -path './.*/*' ! -path './tests/fuzz/corpus/*' ! -path './demo/*' -o -type f -path './.ci/*' |
		sed 's,^\./,,' | grep -E '\.(c|h|cc|def|css|js|go|rs|java|sh|py|bash|mk|init)$|(^|/)Makefile$|^\.ci/' | sort |
		xargs -r awk '
		FNR == 1 { if (last != "" && !has) print last ": no SPDX line"; has = 0; last = FILENAME }
		FNR <= 3 && /SPDX-License-''Identifier: GPL-2\.0-or-later/ { has = 1 }
		END { if (last != "" && !has) print last ": no SPDX line" }'
}

# Two laws of docs/STYLE.md that a program can check: a comment begins with its subject or its verb, and there are bytes.
check_comments() {
	sources | xargs -r awk '
	FNR == 1 { opened = 0 }
	/\/\* (Of|As) / || (opened && /^[ \t]*\* (Of|As) /) {
		print FILENAME ":" FNR ": this comment begins with neither its subject nor its verb"
	}
	{ opened = /\/\*$/ }'
	find bpf unwind formats src docs README.md -type f 2>/dev/null | grep -E '\.(c|h|md|js)$' |
		xargs -r grep -nwiE 'octets?' /dev/null | grep -v 'application/octet-stream' | sed 's/$/: the word is byte/'
}

# Each test script says what it covers (docs/TESTING.md), and what it names is there.
check_covers() {
	find tests -mindepth 2 -maxdepth 2 -type f -perm -u+x 2>/dev/null |
		grep -E '^tests/(cli|tools|spec|vm|oracle|browser|consumers|push|live)/.*\.(sh|py)$' | sort |
		while read -r f; do
			covers=$(head -n 10 "$f" | sed -n 's/^# covers: *//p')
			[ "$covers" ] || echo "$f: no line '# covers: FOLDER...'"
			for place in $covers; do [ -e "$place" ] || echo "$f: covers $place, which is not there"; done
		done
}

check_tree() (
	cd "$1"
	check_includes
	check_libraries
	check_names
	check_sizes
	check_lengths
	check_words
	check_licenses
	check_covers
	check_comments
)

# plant WHAT FILE TEXT...: a tree with only this file must be refused, with one message that contains WHAT.
plant() {
	what=$1 file=$2
	shift 2
	mkdir -p "$trees/$nr/$(dirname "$file")"
	printf '%s\n' "$@" >"$trees/$nr/$file"
	case $file in tests/*) chmod +x "$trees/$nr/$file" ;; esac
	[ "$(check_tree "$trees/$nr" | grep -c "$what")" = 1 ] || {
		echo "the check for '$what' does not see it in $file"
		bad=1
	}
	nr=$((nr + 1))
}

lines() { i=0; while [ $i -lt "$1" ]; do echo "	$2"; i=$((i + 1)); done; }

prove_checks() {
	trees=$(mktemp -d) nr=0 bad=0
	plant 'may not include' src/base/x.c '#include "src/model/record.h"'
	plant 'may not include' formats/render/x.c '#include "formats/trace/trace_reader.h"'
	plant 'may not include' src/new_layer/x.c '#include "src/base/io.h"'
	plant 'not written from the root' src/base/x.c '#include "io.h"'
	plant 'not written from the root' src/base/x.c '#include "../base/io.h"'
	plant 'may use libbpf' src/profile/x.c '#include <bpf/libbpf.h>'
	plant 'may use zstd' formats/render/x.c '#include <zstd.h>'
	plant 'may use libcap-ng' src/base/x.c '#include <cap-ng.h>'
	plant 'may use libseccomp' src/base/x.c '#include <seccomp.h>'
	mkdir -p "$trees/$nr" && printf '%s\n' 'REPORT_MAIN_SRCS := \' '	src/commands/x.c \' '' >"$trees/$nr/sources.mk"
	plant 'not in the report half' src/commands/x.c '#include "src/proc/cpus.h"'
	plant 'function of 71' src/base/x.c 'int f(void)' '{' "$(lines 71 'g();')" '}'
	for i in 1 2 3 4 5 6 7 8; do printf 'int f%s(void)\n{\n}\n' $i; done >"$trees/short"
	plant 'up to 26 lines' src/base/x.c "$(cat "$trees/short")" \
		'int g(void)' '{' "$(lines 26 'g();')" '}' 'int h(void)' '{' "$(lines 26 'g();')" '}'
	plant '601 lines' src/base/x.c "$(lines 601 '/* */')"
	plant 'line of' src/base/x.c "/* $(printf '%0120d' 0) */"
	plant 'no SPDX line' src/base/x.c '/* This file has none. */' 'int x;'
	plant 'no SPDX line' tests/cli/x.sh '#!/bin/sh' 'exit 0'
	plant 'no SPDX line' formats/render/assets/x.css 'svg { }'
	plant 'no line .# covers' tests/cli/x.sh '#!/bin/sh' '# SPDX-License-''Identifier: GPL-2.0-or-later'
	plant 'which is not there' tests/cli/x.sh '#!/bin/sh' '# SPDX-License-''Identifier: GPL-2.0-or-later' '# covers: src/gone tests'
	plant 'begins with neither' src/base/x.c '/* Of the same function the first counts. */'
	plant 'begins with neither' src/base/x.c '/*' ' * As in the other file.' ' */'
	plant 'the word is byte' src/base/x.c "/* Reads so many oct""ets. */"
	plant 'leftover' src/base/x.c "/* TO""DO: later */"
	mkdir -p "$trees/$nr/src/model" && : >"$trees/$nr/src/model/x.c"
	plant 'exists twice' src/base/x.c ''
	rm -rf "$trees"
	return $bad
}

if [ "${1:-}" = --lengths ]; then
	cd "$(dirname "$0")/.."
	show_lengths "${2:-40}"
	exit
fi
[ $# = 0 ] || { found=$(check_tree "$1"); echo "$found"; [ ! "$found" ]; exit; }
prove_checks
found=$(check_tree "$(dirname "$0")/..")
[ ! "$found" ] || { echo "$found"; exit 1; }
