# Sourced by tests/cli/*.sh: runs probee and compares what it did. Ends with `finish`.
#
#	run probee report x.pbz		runs it; output in $TMP/stdout, $TMP/stderr, exit code in $rc
#	exits 2				the exit code
#	says 'text'			a line on stderr that holds this text
#	one_line			stderr is one line that starts with "probee: "
#	silent				nothing on stderr
#	prints 'text'			a line on stdout that holds this text
failures=0

probee() { "$PROBEE" "$@"; }

run() {
	did="$*"
	"$@" >"$TMP/stdout" 2>"$TMP/stderr"
	rc=$?
}

wrong() {
	echo "$did: $1"
	sed 's/^/  stdout: /' "$TMP/stdout" | head -n 5
	sed 's/^/  stderr: /' "$TMP/stderr" | head -n 20
	failures=$((failures + 1))
}

exits() { [ "$rc" = "$1" ] || wrong "exit $rc, not $1"; }
says() { grep -qF -e "$1" "$TMP/stderr" || wrong "does not say: $1"; }
prints() { grep -qF -e "$1" "$TMP/stdout" || wrong "does not print: $1"; }
silent() { [ ! -s "$TMP/stderr" ] || wrong "is not silent"; }
one_line() {
	[ "$(wc -l <"$TMP/stderr")" = 1 ] && grep -q '^probee: ' "$TMP/stderr" ||
		wrong "does not say one line that starts with probee:"
}

# The words of the command table, so that tests of commands yet to come skip themselves.
has_command() { "$PROBEE" help "$1" >/dev/null 2>&1; }

skip() {
	echo "$1"
	exit 77
}

finish() { [ "$failures" = 0 ]; exit; }
