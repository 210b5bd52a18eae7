#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/commands/pager.c src/base/terminal.c
# Output on a terminal: its width and the pager, neither of which changes an exit code or a file.
. tests/cli/lib.sh
CC=${CC:-gcc}
command -v python3 >/dev/null || skip 'python3 is not installed'
[ -e "$OUT/libprobee.a" ] && command -v "$CC" >/dev/null || skip 'nothing to build the fixture trace with'

cat >"$TMP/fixture.c" <<'END'
#include "tests/unit/trace_fixture.h"
int main(int argc, char **argv) { return argc != 2 || trace_fixture_write(argv[1]) ? 1 : 0; }
END
run "$CC" -std=gnu11 -D_GNU_SOURCE -I. -o "$TMP/fixture" "$TMP/fixture.c" "$OUT/libprobee.a" -lzstd -lz -lpcre2-8 -lseccomp -lcap-ng -lpthread; exits 0
run "$TMP/fixture" "$TMP/fixture.pbz"; exits 0

# on_terminal COLUMNS ROWS COMMAND...: runs it with standard output and input at a terminal; returns its exit code.
cat >"$TMP/terminal.py" <<'END'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', int(sys.argv[2]), int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[3], sys.argv[3:])
while True:
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    os.write(1, data.replace(b'\r\n', b'\n'))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
on_terminal() { python3 "$TMP/terminal.py" "$@"; }
fits() {
	[ -s "$TMP/stdout" ] || wrong 'prints nothing'
	awk -v w="$1" 'length > w {print FNR ": " length; exit 1}' "$TMP/stdout" >"$TMP/wide" || wrong "is wider than $1: $(cat "$TMP/wide")"
}
export TERM=xterm TZ=UTC
unset PAGER LESS LESSSECURE SUDO_UID
export PROBEE_PAGER=cat

# --- the width of the terminal, and that of a file

probee info "$TMP/fixture.pbz" >"$TMP/info"
for columns in 80 100 132; do
	run on_terminal $columns 24 "$PROBEE" info "$TMP/fixture.pbz";          exits 0; fits $columns
	run on_terminal $columns 24 sh -c '"$@" 2>/dev/null' sh "$PROBEE" report "$TMP/fixture.pbz"; exits 0; fits $columns
	run on_terminal $columns 24 "$PROBEE" help sample;                      exits 0; fits $columns
done
run on_terminal 80 24 "$PROBEE" doctor; fits 80
run on_terminal 1000 24 "$PROBEE" info "$TMP/fixture.pbz"; diff "$TMP/info" "$TMP/stdout" >/dev/null || wrong 'is not what a file gets'
words() { tr -s ' \n' '\n\n' <"$1"; }
run on_terminal 80 24 "$PROBEE" info "$TMP/fixture.pbz"
[ "$(words "$TMP/info")" = "$(words "$TMP/stdout")" ] || wrong 'says other words than in a file'

# --- the pager: only for what is longer than the screen, only on a terminal

export PROBEE_PAGER="echo the pager begins; cat"
run on_terminal 80 24 "$PROBEE" info "$TMP/fixture.pbz";                 exits 0; prints 'the pager begins'; prints 'samples   8'
run on_terminal 80 200 "$PROBEE" info "$TMP/fixture.pbz";                exits 0; prints 'samples   8'
grep -q 'the pager' "$TMP/stdout" && wrong 'is paged although it fits'
run on_terminal 80 24 "$PROBEE" info --no-pager "$TMP/fixture.pbz";      exits 0; prints 'samples   8'
grep -q 'the pager' "$TMP/stdout" && wrong 'is paged in spite of --no-pager'
run on_terminal 80 24 "$PROBEE" report -q "$TMP/fixture.pbz";            exits 0; prints 'the pager begins'
run on_terminal 80 4 "$PROBEE" report -q "$TMP/fixture.pbz" --csv;       exits 0
grep -q 'the pager' "$TMP/stdout" && wrong 'CSV is paged'
run on_terminal 80 24 "$PROBEE" help sample;                             exits 0; prints 'the pager begins'
run probee info "$TMP/fixture.pbz"
grep -q 'the pager' "$TMP/stdout" && wrong 'is paged although it is for a file'
run env TERM=dumb python3 "$TMP/terminal.py" 80 24 "$PROBEE" info "$TMP/fixture.pbz"
grep -q 'the pager' "$TMP/stdout" && wrong 'is paged on a dumb terminal'
run env -u PROBEE_PAGER PAGER='echo by PAGER; cat' python3 "$TMP/terminal.py" 80 24 "$PROBEE" info "$TMP/fixture.pbz"; prints 'by PAGER'

# --- however the pager ends, the exit code is that of the command, and text that it did not show is printed

run on_terminal 80 24 "$PROBEE" info --strict "$TMP/fixture.pbz";        exits 3; prints 'the pager begins'
export PROBEE_PAGER='head -n 1; exit 5'
run on_terminal 80 24 "$PROBEE" info "$TMP/fixture.pbz";                 exits 0
[ "$(wc -l <"$TMP/stdout")" = 1 ] || wrong 'shows more than the pager'
export PROBEE_PAGER=/nonexistent/pager
run on_terminal 80 24 "$PROBEE" info "$TMP/fixture.pbz";                 exits 0; prints 'samples   8'
export PROBEE_PAGER=
run on_terminal 80 24 "$PROBEE" info "$TMP/fixture.pbz";                 exits 0; prints 'samples   8'
run on_terminal 80 24 "$PROBEE" info "$TMP/none.pbz";                    exits 1; prints 'No such file'

# --- under sudo the pager is less, without the commands of less

if [ "$(id -u)" = 0 ]; then
	mkdir "$TMP/bin"
	printf '#!/bin/sh\necho "less here, secure $LESSSECURE, open ${LESSOPEN-none}"\n' >"$TMP/bin/less"
	chmod 755 "$TMP/bin/less"
	export PROBEE_PAGER='echo the pager of the user' LESSOPEN='|evil %s'
	run env SUDO_UID=1000 PATH="$TMP/bin:$PATH" python3 "$TMP/terminal.py" 80 24 "$PROBEE" info "$TMP/fixture.pbz"
	exits 0; prints 'less here, secure 1, open none'
	run env -u PROBEE_PAGER PATH="$TMP/bin:$PATH" python3 "$TMP/terminal.py" 80 24 "$PROBEE" info "$TMP/fixture.pbz"
	exits 0; prints 'less here, secure , open |evil %s'
fi
finish
