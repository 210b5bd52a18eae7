#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/base src/commands src/recording
# timeout: 240
# san: no
# Every option of every command that takes a value gets one that a terminal would act upon, and so does every variable of the
# environment that the sources ask for; what is printed and said may stand on a terminal. Commands and options come from the help of
# the program itself, so a new one is tried, too.
. tests/cli/lib.sh
need_library
run build_with_library "$TMP/make_strange" tests/cli/make_strange.c; exits 0
sources=$(grep -rhoE 'getenv\("[A-Za-z_]+"' src formats | grep -oE '[A-Z_]{3,}' | sort -u)
cd "$TMP" && run ./make_strange . 1 1; exits 0
mv 1.pbz t.pbz
nr=0
# C0, C1 (U+009B, and as a byte), bidirectional ones, tags, zero-width ones, separators, and what is no UTF-8
bad=$(printf 'x\x1b[31m\xc2\x9b1m\x9b2J\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c\xf3\xa0\x81\x81\xe2\x80\x8b\xe2\x81\xa0\xef\xbb\xbf\xe2\x80\xa8\n\a\xffz')

# safe COMMAND...: what it prints, if it is text, and all that it says. It may end as it likes, but must end.
safe() {
	local where
	run timeout -k 5 20 "$@" </dev/null
	did=$(printf '%q ' "$@")		# logs are read on terminals, too
	nr=$((nr + 1))
	[ "$rc" -le 4 ] || [ "$rc" = 75 ] || [ "$rc" = 77 ] || wrong "exit $rc"
	where=$(./make_strange stderr) || wrong "says what a terminal acts upon, $where"
	[ "$(head -c 4 stdout | od -An -tx1)" = ' 28 b5 2f fd' ] || [ "$(head -c 2 stdout | od -An -tx1)" = ' 1f 8b' ] ||
		where=$(./make_strange stdout) || wrong "prints what a terminal acts upon, $where"
}

# What a command wants besides options, so that it comes as far as it can without recording: no process has this number.
words_of() {
	case $1 in
	sample | snapshot | record) words=(-p 4194303 -d 0.1) ;; # names of targets are waited for
	top | serve | xstack | dump) words=(-p 4194303) ;;
	tui) words=(t.pbz --once) ;;
	push) words=(t.pbz --dry-run) ;;
	report | info | verify) words=(t.pbz) ;;
	diff) words=(t.pbz t.pbz) ;;
	merge | symbolize | export) words=(t.pbz -o "out.$1" --force) ;;
	unwind-info) words=(/bin/true) ;;
	agent) words=(--check) ;;
	probes) words=(u:/bin/true:main) ;;
	doctor) words=() ;;
	*) return 1 ;;
	esac
}

# The long options of a command that take a value.
options_of() { "$PROBEE" "$1" --help=all | sed -nE 's/^ +(-[A-Za-z], +)?--([a-z-]+)(\[=[A-Z]+\]| [^ ]+).*/\2/p' | sort -u; }

commands=$("$PROBEE" complete COMMAND)
[ "$(wc -w <<<"$commands")" -ge 20 ] || wrong "only these commands: $commands"
tried=" "
for command in $commands; do
	[ "$command" != help ] || continue
	words_of "$command" || { wrong "this test does not know the command $command"; continue; }
	safe "$PROBEE" "$command" "${words[@]}" "$bad"
	for option in $(options_of "$command"); do
		# Rows that commands share are the same code; they are tried with the first command that has them.
		case "$command $tried" in
		report*) ;;
		*" $option "*) continue ;;
		esac
		tried+="$option "
		safe "$PROBEE" "$command" "${words[@]}" "--$option=$bad"
		safe "$PROBEE" "$command" "${words[@]}" "--$option=1$bad"
	done
done
"$PROBEE" agent --example | sed -nE 's/^#?(\[.*)/\1/p; s/^#?([a-z-]+) = .*/\1/p' >keys
check_key() {
	printf '%s\n%s = %s\n' "$1" "$2" "${bad//$'\n'/}" >agent.conf
	safe "$PROBEE" agent --config agent.conf --check
}
while read -r key; do
	case $key in
	\[*) section=$key ;;
	*) check_key "$section" "$key" ;;
	esac
done <keys
[ "$(wc -l <keys)" -ge 25 ] || wrong "only $(wc -l <keys) keys of the agent were found"
check_key "[$bad]" "$bad"
check_key "[record]" "$bad"

# --- the environment
[ "$(wc -w <<<"$sources")" -ge 10 ] || wrong "only these variables: $sources"
for name in $sources; do
	[ "$name" != PATH ] || continue		# env looks for the program there
	safe env "$name=$bad" "$PROBEE" report t.pbz
	safe env "$name=$bad" "$PROBEE" doctor
	safe env "$name=$bad" "$PROBEE" symbolize t.pbz -o named.pbz --force --debuginfod
	safe env "$name=$bad" "$PROBEE" sample -d 0.1 -o rec.pbz --force -p 4194303
	safe env "$name=$bad" "$PROBEE" tui t.pbz --once
done
safe env "PATH=$bad" "$PROBEE" export t.pbz -o x.parquet

# --- the command line of the ancestors, words that are no commands, and the program's own name
safe "$PROBEE" "--$bad"
safe "$PROBEE" "-F$bad"
safe "$PROBEE" -p "$bad"
safe "$PROBEE" complete COMMAND "$bad"
safe "$PROBEE" complete "$bad" "$bad"
safe bash -c 'exec -a "$1" "$2" "$1"' bash "$bad" "$PROBEE"
[ "$nr" -gt 300 ] || wrong "only $nr commands were tried"
finish
