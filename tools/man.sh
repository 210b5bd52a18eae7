#!/bin/sh
# man.sh PROBEE: the manual page, made from what the program says about itself with --help.
set -eu
probee=$1
version=$("$probee" --version | head -n 1)

# Text to roff: no escapes, no requests, dashes that stay dashes.
roff='{ gsub(/\\/, "\\e"); gsub(/-/, "\\-") } /^[.\x27]/ { $0 = "\\&" $0 }'

options() {
	awk "$roff"'
	/^usage: / || /^probee [a-z-]+: / { next }
	/^[A-Z].*:$/ { sub(/:$/, ""); print ".PP\n.I " $0; next }
	/^ +\\-/ {
		sub(/^ +/, "")
		n = index($0, "  ")
		print ".TP\n.B " (n ? substr($0, 1, n - 1) : $0)
		if (n) { rest = substr($0, n); sub(/^ +/, "", rest); print (rest ~ /^[.\x27]/ ? "\\&" : "") rest }
		next
	}
	{ sub(/^ +/, ""); if ($0 ~ /^[.\x27]/) $0 = "\\&" $0 }
	/./'
}

commands=$("$probee" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
cat <<END
.TH PROBEE 1 "" "$version" "User Commands"
.SH NAME
probee \\- sample the stacks of programs and of the kernel, and show them
.SH SYNOPSIS
END
for c in $commands; do
	[ "$c" != help ] || continue
	"$probee" "$c" --help | sed -n 's/^usage: probee //p' | awk "$roff"'{ print ".B probee\n" $0 "\n.br" }'
done
for c in $commands; do
	[ "$c" != help ] || continue
	printf '.SH probee %s\n' "$c"
	"$probee" "$c" --help | sed -n "s/^probee $c: //p" | awk "$roff"'{ print toupper(substr($0, 1, 1)) substr($0, 2) "." }'
	"$probee" "$c" --help | options
done
cat <<'END'
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
under \-\-strict: samples were lost, or a trace is incomplete
.TP
.B 4
verify: libdw found other stacks than the trace has
.TP
.B 77
this kernel or these rights cannot do it:
.B probee doctor
says what is missing
END
