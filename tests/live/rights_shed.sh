#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/rights src/output src/commands
# beside: live
# Commands that read foreign files do it without rights. A program with capabilities in its file lends them for recording and
# for nothing else; root's are used to open what root named, and are gone before its first byte is read.
. "$(dirname "$0")/lib.sh"

getent passwd nobody >/dev/null || skip "no user nobody"
nobody() { setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$@"; }
install -m 755 "$PROBEE" probee
nobody ./probee --version >/dev/null 2>&1 || skip "nobody cannot run a program in $T"

start chain30 spin
sample -p "$PID" -F 199 -d 1 --audit 1/10 -o root.pbz
chmod 600 root.pbz
install -m 700 "$WORKLOADS/chain30" root.elf

# --- a program with capabilities, started by somebody
caps=cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,cap_dac_override,cap_checkpoint_restore,cap_syslog=ep
if command -v setcap >/dev/null && setcap $caps probee 2>/dev/null; then
	mkdir -m 700 secret && cp root.pbz root.elf secret
	for args in "report root.pbz" "report root.pbz --collapse" "info root.pbz" "verify root.pbz" "unwind-info ./root.elf" \
		"unwind-info $T/secret/root.elf" "report secret/root.pbz" \
		"symbolize root.pbz -o out/x.pbz"; do
		nobody ./probee $args >out 2>err </dev/null
		check "a program with capabilities, $args: is refused" equal $? 1
		check "a program with capabilities, $args: says why" grep -q 'Permission denied' err
	done
	nobody ./probee unwind-info "$PID" >out 2>err
	check "a program with capabilities: memory maps of others are refused" equal $? 77
	nobody ./probee report --text="$T/x.txt" - <root.pbz >out 2>err
	check "a program with capabilities: writes nothing for others" not test -e x.txt
	check "a program with capabilities: what its user may, it may" nobody ./probee report - --collapse <root.pbz
else
	skip_part "no file capabilities here"
fi

# --- what a process holds while it reads. It is shown a pipe into which nothing is written yet.
field() { sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status" 2>/dev/null; }
holds() { [ "$(field "$1" CapPrm)/$(field "$1" CapEff)/$(field "$1" NoNewPrivs)/$(field "$1" Seccomp)" = "$2" ]; }
none=0000000000000000
mkfifo pipe
# reading WHAT HOLDS COMMAND...
reading() {
	local what=$1 want=$2
	shift 2
	exec 7<>pipe
	background sh -c 'exec "$@" <pipe >out 2>err' sh "$@"
	until_true 10 holds "$PID" "$want"
	check "$what" holds "$PID" "$want"
	exec 7>&-
	finish "$PID"
}
reading "root's report, while it reads: shut in" "$none/$none/1/2" "$PROBEE" report -
reading "root's info, while it reads: shut in" "$none/$none/1/2" "$PROBEE" info -
reading "root's verify, while it reads: shut in" "$none/$none/1/2" "$PROBEE" verify -
reading "root's symbolize, while it reads: shut in" "$none/$none/1/2" "$PROBEE" symbolize - -o x.pbz
reading "nobody's report, while it reads: shut in" "$none/$none/1/2" setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups \
	./probee report -
background "$PROBEE" report --follow not-yet.pbz >out 2>err
read_search=$(printf '%016x' $((1 << 2)))
until_true 10 holds "$PID" "$read_search/$read_search/1/2"
check "root's report --follow: the right to read files, and shut in" holds "$PID" "$read_search/$read_search/1/2"
finish "$PID"

# --- root may name what only a capability opens
mkdir -m 700 theirs
cp root.pbz theirs/t.pbz
cp "$WORKLOADS/chain30" theirs/elf
chown -R nobody: theirs
chmod 600 theirs/t.pbz theirs/elf
check "root: report of a trace of another user" "$PROBEE" report theirs/t.pbz --collapse
check "root: a picture beside it" "$PROBEE" report theirs/t.pbz --svg=theirs/t.svg
check "root: the picture is whole" grep -q '</svg>' theirs/t.svg
check "root: info of it" "$PROBEE" info theirs/t.pbz
check "root: unwind-info of a file of another user" "$PROBEE" unwind-info theirs/elf
timeout -s INT 2 "$PROBEE" report theirs/t.pbz --follow >out 2>err
check "root: report --follow of it" grep -q '^title' out
check "root: verify of it" "$PROBEE" verify theirs/t.pbz
check "root: symbolize of it" "$PROBEE" symbolize theirs/t.pbz -o theirs/names.pbz --again --binary-dir /
background nobody sleep 60
until_true 10 sh -c "readlink /proc/$PID/exe | grep -q sleep"
check "root: unwind-info of a process of another user" "$PROBEE" unwind-info "$PID"

# --- the pager has no capabilities either
if command -v script >/dev/null; then
	env -u SUDO_UID PROBEE_PAGER='grep CapEff /proc/self/status' TERM=xterm script -qec "stty rows 5; '$PROBEE' report root.pbz" \
		/dev/null >pager.out 2>&1 </dev/null
	check "a pager runs" grep -q CapEff pager.out
	check "a pager of root's: no capabilities" grep -q "CapEff:.*$none" pager.out
else
	skip_part "no script(1): no terminal for a pager"
fi
done_testing
