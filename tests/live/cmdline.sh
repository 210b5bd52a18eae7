#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/capture/processes src/capture/session src/proc
# core: yes
# beside: live
# Command lines of processes: not recorded unless --cmdline asks for them; then also those of commands that live for a
# millisecond, cut at 4 KiB, and escaped where they are shown.
. "$(dirname "$0")/lib.sh"

commands() { "$PROBEE" info --json "$1" | python3 -c "import json, sys; c = json.load(sys.stdin)['commands']; print($2)"; }

cat >many.sh <<'END'
i=0
while [ $i -lt 60 ]; do /bin/ls -ld secret-$i / >/dev/null 2>&1; i=$((i + 1)); done
END
sample -F 1999 -o default.pbz -- sh many.sh
check "not by default" equal "$(commands default.pbz 'len(c)'):$(zstd -dc default.pbz 2>/dev/null | grep -ac secret-7)" 0:0
sample -F 1999 --cmdline -o asked.pbz -- sh many.sh
seen=$("$PROBEE" report asked.pbz --csv -q | awk -F'|' '$4 == "ls" { print $3 }' | sort -u | wc -l)
named=$(commands asked.pbz 'sum(r["processes"] for r in c if r["command_line"].startswith("/bin/ls -ld secret-"))')
check "commands that live for a millisecond ($named of $seen)" at_least $((named * 100)) $((seen * 30))
check "enough of them" at_least "$seen" 30
check "the parent is named" equal "$(commands asked.pbz 'next(r.get("parent") for r in c if "secret" in r["command_line"] and "parent" in r)')" sh
# Only the first few are shown, and of some the parent is not known.
check "info shows them" grep -q '^ *1 .*/bin/ls -ld secret-[0-9]* /' <("$PROBEE" info asked.pbz)
check "info shows parents" grep -qE '(secret-[0-9]* /|sh many.sh)  from sh \(' <("$PROBEE" info asked.pbz)

# Whatever is in an argument: it is no escape sequence on a terminal.
start chain30 spin $'a\033[31mb\nc' "$(printf 'x%.0s' {1..9000})"
sample -p "$PID" -F 199 -d 1 --cmdline -o odd.pbz
check "control characters are escaped" equal "$("$PROBEE" info odd.pbz | grep -c $'\033')" 0
check "... and the words are there" grep -qF 'spin a\x1b[31mb\x0ac xxx' <("$PROBEE" info odd.pbz)
check "4 KiB of it are kept" equal "$(commands odd.pbz 'len(c[0]["command_line"])')" 4096
finish "$PID"
done_testing
