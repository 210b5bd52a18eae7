#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: README.md docs/USE.md docs/PROBES.md docs/LIVE.md docs/RUNTIMES.md docs/PUSH.md src/commands src/recording
# beside: live
# timeout: 300
# Runs every command line of README.md and of the pages that show how it is used, unchanged except for what substituted() replaces below. Each must do what commands of
# its kind promise. The lines are taken from the page mechanically; a line of an unknown kind is a failure.
. "$(dirname "$0")/lib.sh"
PAGES=${PAGES:-$(echo "$ROOT"/{README,docs/{USE,PROBES,LIVE,RUNTIMES,PUSH}}.md)}

# commands_of PAGE: prints "block LINE COMMAND" for each command of a fenced block, "span LINE COMMAND" for each in `...`, and "unknown LINE
# TEXT" for a block that neither shows commands nor is known to show output. In a block with lines that begin with "$ "
# only those are commands. A line that ends in \ continues on the next line.
commands_of() {
	awk '
	function is_command(s) { return s ~ /^(sudo )?(probee|make|setcap|jcmd|git|cd|apt-get)( |$)/ }
	function flush(  i, dollars, commands, s) {
		for (i = 1; i <= n; i++) { dollars += line[i] ~ /^\$ /; commands += is_command(line[i]) }
		if (!dollars && !commands && line[1] !~ /^(stacks |STUCK )/) print "unknown", at[1], line[1]
		for (i = 1; i <= n; i++) {
			s = line[i]
			if (dollars ? !sub(/^\$ /, "", s) : !commands || s == "") continue
			while (s ~ /\\$/ && i < n) { sub(/ *\\$/, " ", s); s = s line[++i] }
			print "block", at[i], s
		}
		n = 0
	}
	/^```/ { inside = !inside; if (!inside) flush(); next }
	inside { line[++n] = $0; at[n] = NR; next }
	{
		m = split($0, part, "`")
		for (i = 2; i < m + (m % 2); i += 2) if (part[i] ~ /^(sudo )?(probee|make) /) print "span", NR, part[i]
	}' "$1"
}

# A prepared directory: ./app, process 1234, a place to install to; recordings are short.
start threads 20 sleep
target=$PID
background sh -c 'while :; do i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done; sleep 0.1; done'
busy=$PID
printf '#!/bin/sh\nexec %s 1500\n' "$WORKLOADS/brief" >app
chmod 755 app
printf '%s\n' 'def spin(n):' '    while n: n -= 1' 'for i in range(20): spin(500000)' >app.py
java=
if command -v jcmd >/dev/null && [ -e "$WORKLOADS/Deep.class" ]; then
	background java -cp "$WORKLOADS" Deep
	java=$PID
	until_true 20 jcmd "$java" help >/dev/null
	jcmd "$java" help >jcmds
	kill "$java"		# it computes without end
fi
libc=$(ldd /bin/sh | sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')
ln -s "$libc" libc.so.6
mkdir bin
ln -s "$PROBEE" bin/probee
PATH=$T/bin:$PATH
unset MAKEFLAGS MFLAGS MAKELEVEL

substituted() {
	[[ $1 != *"probee sample -p 1234"* ]] || set -- "${1/1234/$busy}"
	[[ $1 != *--audit* ]] || set -- "${1/1\/100/1/5}"	# a second has few stacks
	sed -E "s/ +# .*//; s/ +&$//; s/\bsudo //g; s/\b1234\b/$target/g; s,/usr/local,$T/root/usr/local,g; s/\bCOMMAND\b/report/
		s/ -d [0-9.]+[a-z]*/ -d 1/; s/ -i ([3-9]|[0-9]{2,})\b/ -i 2/
		s/grep --line-buffered [^ |]+/grep --line-buffered -m 3 thread_main/" <<<"$1"
}

is_trace() { "$PROBEE" info "$1" >info.txt 2>&1 && grep -qE '^samples +[1-9]' info.txt || { head -3 info.txt; return 1; }; }
prints() { grep -qE -e "$1" out || { echo "exit $RC; it prints: $(head -c 200 out)"; return 1; }; }

# came_out COMMAND: what a recording, a report ... of this kind must leave behind.
came_out() {
	local words=$1 file
	case $words in
	*'| grep '*) prints thread_main ;;
	"probee sample "* | "probee snapshot "* | "probee record "*)
		file=$(sed -nE 's/.* -o ([^ ]+).*/\1/p' <<<"$words")
		is_trace "${file:-trace.pbz}" ;;
	"probee report "*' > '*) file=${words##*> }; [ -s "$file" ] && grep -q '</svg>\|^{\|;' "$file" ;;
	"probee report "*" -o "*) file=${words##* -o }; [ -s "${file%% *}" ] ;;
	"probee report "*--html*) ls ./*.html >/dev/null || prints '<html' ;;
	"probee report "*--svg*) prints '<svg|picture' || ls ./*.svg >/dev/null ;;
	"probee report "*--csv*) prints '^[0-9].*\|' ;;
	"probee report "*--waits-json* | "probee report "*--json*) python3 -m json.tool out >/dev/null ;;
	"probee report "*--waits*) prints 'thread' ;;
	"probee report" | "probee report "*) prints '%' ;;
	"probee diff "*--svg*) prints '<svg|picture' || ls ./*.svg >/dev/null ;;
	"probee diff "*) prints '^differ ' ;;
	"probee info "*--json*) python3 -m json.tool out >/dev/null ;;
	"probee probes "*) prints '^Total: ' ;;
	"probee info "*) prints '^losses' ;;
	"probee push "*) prints '[1-9][0-9,]* samples' ;;
	"probee export "*) [ -s "${words##* -o }" ] ;;
	"probee merge "*) is_trace "${words##* -o }" ;;
	"probee symbolize "*) is_trace "$(sed -nE 's/.* -o ([^ ]+).*/\1/p' <<<"$words")" && grep -q '^frames .* 0 of them\|^symbols *late' info.txt ;;
	"probee verify "*) prints '[0-9] .*stacks?' ;;
	"probee unwind-info "*+0x*) prints ' ra c-8 |  ra ' ;;
	"probee unwind-info "*) prints 'total|FDEs' ;;
	"probee dump "*) prints "^  [^ ].* [0-9]+: " ;;
	"probee doctor"*) prints '^probee can sample and snapshot here' ;;
	"probee help recipes") prints '^    (sudo )?probee ' ;;
	"probee help "*) prints '^usage: probee' ;;
	"probee "*--version | "probee --help") prints probee ;;
	*) echo "tests/live/readme.sh does not know what must come out of it"; return 1 ;;
	esac
}

# in_terminal COMMAND: it shows its views on a terminal until q is typed; with --once it prints one. "probee top" alone names it.
in_terminal() {
	local words=$1
	[[ $words == *--once* ]] || words="(until grep -q Threads out; do sleep 0.1; done; printf q) | script -qefc '$words' /dev/null"
	: >out		# what the command before has printed is no answer
	TERM=xterm timeout -s INT 40 bash -c "$words" >out 2>err
	RC=$?
	[ $RC = 0 ] || { echo "exit $RC: $(head -1 err)"; return 1; }
	prints 'Threads' || return 1
	[[ $words != *kept.pbz* ]] || is_trace kept.pbz
}

# in_browser COMMAND: it prints an address, below which the call tree is, and ends with Ctrl-C. Its port may be in use here.
in_browser() {
	local words=$1 url='' i
	for i in $words; do
		[[ $i != [ab].pbz ]] || cp -n app.pbz "$i"
	done
	: >out		# the address of the command before must not be found in it
	$words --listen 0 >out 2>err </dev/null &
	i=$!
	until_true 20 grep -q '^http://' out
	url=$(cat out)
	[[ $words != *a.pbz* ]] || url=${url}2/
	python3 -S -c 'import sys, urllib.request, json; print(json.load(urllib.request.urlopen(sys.argv[1] + "json"))["name"])' "$url" >tree 2>&1
	RC=$?
	kill -INT $i
	wait $i || { echo "exit $?: $(head -1 err)"; return 1; }
	[ $RC = 0 ] || { tail -n 1 tree; return 1; }
	[[ $words != *kept.pbz* ]] || is_trace kept.pbz
}

# in_flight COMMAND: a flight recorder, which writes a trace at SIGUSR1, and ends with Ctrl-C.
in_flight() {
	local i
	: >err
	bash -c "exec $1" >out 2>err </dev/null &
	i=$!
	until_true 20 grep -q 'kill -USR1 ' err
	kill -USR1 $i
	until_true 40 compgen -G 'stuck-*.pbz'
	kill -INT $i
	wait $i || { echo "exit $?: $(head -1 err)"; return 1; }
	is_trace "$(ls stuck-*.pbz | head -1)"
}

# run_line KIND COMMAND
run_line() {
	local words
	words=$(substituted "$2")
	case $1:$words in
	block:"git clone URL probee && cd probee")
		git -C "$ROOT" rev-parse --git-dir >/dev/null 2>&1 || return 0	# a tree that is no repository
		git clone -q "$ROOT" cloned && [ -e cloned/README.md ] ;;
	*:make | *:"make "*install*)
		make -C "$ROOT" OUT="${OUT:-$ROOT/.out}" -n ${words#make} >out 2>&1 ;;
	*:"make "*)			# they install and build, or run this: what they would do can be told
		make -C "$ROOT" -n ${words#make } >out 2>&1 ;;
	*:"groupadd "* | *:"chgrp "* | *:"usermod "*)	# they would change this machine
		PATH=$PATH:/usr/sbin:/sbin command -v "${words%% *}" ;;
	*:"chmod "*)
		install -D -m 755 "$PROBEE" "$T/root/usr/local/bin/probee"
		$words && [ "$(stat -c %a "$T/root/usr/local/bin/probee")" = 750 ] ;;
	*:"setcap "*)
		install -D -m 755 "$PROBEE" "$T/root/usr/local/bin/probee"
		PATH=$PATH:/usr/sbin:/sbin $words >out 2>&1 && PATH=$PATH:/usr/sbin:/sbin getcap "$T/root/usr/local/bin/probee" | grep cap_ ;;
	block:"probee serve"*)
		in_browser "$words" ;;
	*:"probee record "*--flight*)
		in_flight "$words" ;;
	*:"probee top"* | *:"probee tui"*)
		in_terminal "$words" ;;
	*:"probee report" | span:"probee "*" "* | block:"probee"*)
		# There is no receiver: what would be sent can be told.
		[[ $words != "probee push "* ]] || words="$words --dry-run"
		timeout -s INT 20 bash -c "$words" >out 2>err </dev/null
		RC=$?
		# Threads in a rare state may not be there; then that is said.
		[[ $words == *--state* ]] && [ $RC = 1 ] && grep -q 'passes: the trace has the states' err && return 0
		# The engine that makes Parquet files is the user's own.
		[[ $words == "probee export "* ]] && [ $RC = 77 ] && grep -q 'there is no duckdb' err && return 0
		[ $RC = 0 ] || { echo "exit $RC: $(head -1 err)"; return 1; }
		came_out "$words" ;;
	*"; jcmd "*)			# the command that it gives must be one of this machine's Java
		[ "$java" ] || return 0
		grep -qw "${words##* }" jcmds ;;
	span:"probee "*)		# only the name of a command
		"$PROBEE" help "${words#probee }" >out 2>&1 ;;
	*) echo "tests/live/readme.sh does not know such commands"; return 1 ;;
	esac
}

# The page begins with pictures of recordings that it makes further down.
"$PROBEE" record -q -p "$target" --snap-freq 5 -d 1 -o app.pbz
cp app.pbz old.pbz
mkdir traces
cp app.pbz traces/web-1.pbz
"$PROBEE" record -q -p "$busy" --snap-freq 5 -d 1 -o traces/web-2.pbz
"$PROBEE" sample -q -F 499 -o before.pbz -- ./app
"$PROBEE" sample -q -F 499 -o after.pbz -- ./app

for page in $PAGES; do
	name=${page#"$ROOT"/}
	commands_of "$page" >list
	check "$name has commands" at_least "$(grep -c '^block' list)" 5
	check "every block of $name is known" not grep '^unknown' list
	while read -r kind line words; do
		[ "$kind" = unknown ] || check "$name:$line: $words" run_line "$kind" "$words"
	done <list
done

# A line of an unknown kind must fail.
printf '```\nprobee frobnicate trace.pbz\nmagic trace.pbz\n```\n\n```\nsomething new\n```\n' >new.md
commands_of new.md >list
check "commands of another page" equal "$(cut -d ' ' -f 1,3- list | tr '\n' ,)" \
	"block probee frobnicate trace.pbz,block magic trace.pbz,unknown something new,"
check "an unknown command of probee" not run_line block "probee frobnicate trace.pbz"
check "an unknown program" not run_line block "magic trace.pbz"
done_testing
