#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# man.sh PROBEE USE: prints the manual page, made from the program's --help=all and from the examples of docs/USE.md. An option
# that several commands describe with the same words is listed once.
set -eu
probee=$1 examples=$2
version=$("$probee" --version | head -n 1)
commands=$("$probee" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' | grep -vx help)

# Turns text into roff: backslashes and leading dots are escaped, and dashes stay dashes.
roff='
function roff(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); return s ~ /^[.\x27]/ ? "\\&" s : s }'

# The options of every command, a line each: COMMAND, the option, what it does, with tabs between them.
rows() {
	for c in $commands; do
		"$probee" "$c" --help=all | awk -v c="$c" '
		function flush() { if (left != "") print c "\t" left "\t" text; left = text = "" }
		/^ +-/ {
			flush()
			sub(/^ +/, "")
			n = index($0, "  ")
			left = n ? substr($0, 1, n - 1) : $0
			text = n ? substr($0, n) : ""
			sub(/^ +/, "", text)
			next
		}
		/^ / && left != "" { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0; next }
		{ flush() }
		END { flush() }'
	done | grep -v '	-h, --help	'
}

# options COMMAND: the options of this command alone; options "": those of several commands, with their names.
options() {
	rows | awk -F '\t' -v c="$1" "$roff"'
	{ key = $2 FS $3; users[key] = users[key] (key in users && users[key] != "" ? ", " : "") $1; nr[key]++ }
	!(key in order) { order[key] = ++last; keys[last] = key }
	END {
		for (i = 1; i <= last; i++) {
			key = keys[i]
			if (c == "" ? nr[key] < 2 : nr[key] > 1 || users[key] != c)
				continue
			split(key, part, FS)
			print ".TP\n.B " roff(part[1])
			print roff(part[2]) (c == "" ? "\n.RI ( \"" users[key] "\" )" : "")
		}
	}'
}

synopsis() {
	"$probee" "$1" --help | awk "$roff"'
	/^$/ { exit }
	{ sub(/^usage: probee /, ""); sub(/^ +/, ""); line = line (line == "" ? "" : " ") $0 }
	END { n = index(line " ", " "); print ".B probee " roff(substr(line, 1, n - 1)); print roff(substr(line, n + 1)); print ".br" }'
}

summary() { "$probee" "$1" --help | sed -n "s/^probee $1: //p" | awk "$roff"'{ print roff(toupper(substr($0, 1, 1)) substr($0, 2) ".") }'; }

# The examples of a command's help: two lines each.
examples_of() {
	"$probee" "$1" --help | awk "$roff"'
	/^Examples:$/ { on = 1; next }
	!on || !/^  / { on = on && NF; next }
	/^      / { sub(/^ +/, ""); print roff($0); next }
	{ sub(/^ +/, ""); print ".TP\n.B " roff($0) }'
}

# The section "Examples" of docs/USE.md: paragraphs, and blocks between ``` unchanged.
examples() {
	awk "$roff"'
	function paragraph() { if (gap) print ".PP"; gap = 0 }
	/^## / { on = $0 == "## Examples"; next }
	!on { next }
	/^### / { sub(/^### /, ""); print ".SS " roff($0); gap = begun = 0; next }
	/^```/ && !code { paragraph(); code = 1; print ".nf\n.RS 4"; next }
	/^```/ { code = 0; print ".RE\n.fi"; next }
	code { print roff($0); next }
	/^$/ { gap = begun; next }
	{ paragraph(); gsub(/`/, ""); print roff($0); begun = 1 }' "$examples"
}

cat <<END
.TH PROBEE 1 "" "$version" "User Commands"
.nh
.ad l
.SH NAME
probee \\- sample the stacks of programs and of the kernel, and show them
.SH SYNOPSIS
END
for c in $commands; do synopsis "$c"; done | sed '$d'
cat <<'END'
.SH DESCRIPTION
probee samples stacks on Linux with BPF: of any program, without rebuilding, restarting or stopping it.
.B probee sample
looks at every CPU some 99 times a second and says where the time goes.
.B probee snapshot
looks at every thread, once a second, and says where each one is: running or waiting, and for what.
.B probee record
does both in one recording.
.PP
A recording is one file, the trace.
.B probee report
turns it into a flame graph, text, CSV or JSON. It needs no rights, no kernel and none of the programs:
the trace holds all names and can be read on another machine, also while it is still being written.
.PP
Recording needs root, or the capabilities CAP_BPF and CAP_PERFMON.
.B probee doctor
tries everything that is needed and says what to do about what is missing.
.SH COMMANDS
Here are the options that one command alone has; those of several commands follow, each with the commands that
have it.
END
for c in $commands; do
	printf '.SS probee %s\n' "$c" | sed 's/-/\\-/g'
	summary "$c"
	options "$c"
	examples_of "$c"
done
echo '.SS Options of several commands'
options ''
printf '.TP\n.B \\-h, \\-\\-help\nshow the options of a command and exit\n'
echo '.SH EXAMPLES'
examples
cat <<'END'
.SH ENVIRONMENT
.TP
.B PROBEE_PAGER, PAGER
the program that shows text which is longer than the terminal; without them less. An empty value, cat or
.B \-\-no\-pager
turns it off. Under sudo it is always less, with LESSSECURE=1.
.TP
.B TMPDIR
where a trace that comes through a pipe is kept while it is read
.SH FILES
.TP
.I trace.pbz
the trace that is written when no other name is given
.TP
.I trace.pbz.old
the trace that had this name before
.TP
.I /tmp/perf\-PID.map
names of the code that a run\-time generated; it is read when the process has ended, or with the recording
.TP
.I /usr/lib/debug
debugging files of programs that were stripped, by build id
.SH EXIT STATUS
.TP
.B 0
success
.TP
.B 1
failure; one line on standard error says what and why
.TP
.B 2
the command line makes no sense
.TP
.B 3
under \-\-strict: anything is missing: losses, snapshots or rows left out, ticks that never came, a damaged or unfinished trace
.TP
.B 4
verify: libdw found other stacks than the trace has
.TP
.B 77
this kernel or these rights cannot do it:
.B probee doctor
says what is missing
.SH SEE ALSO
.BR perf (1),
.BR bpftrace (8),
.BR gdb (1),
.BR readelf (1),
.BR setcap (8),
.BR capabilities (7),
.BR perf_event_open (2)
END
