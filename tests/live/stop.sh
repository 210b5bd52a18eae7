#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/recording src/helpers src/base src/foreign
# core: yes
# light: yes
# Whatever hangs, a signal ends a recording in good order, and a second one ends it at once. Readers that are killed are
# replaced.
. "$(dirname "$0")/lib.sh"

ms_since() { echo $((($(date +%s%N) - $1) / 1000000)); }
child_of() { pgrep -P "$1" -x "$2"; }
has_bytes() { [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "${2:-300}" ]; }
info_has() { "$PROBEE" info "$1" 2>&1 | grep -qE "$2"; }
# The recorder may wait for interpreters before the first snapshot.
has_rows() { has_bytes "$1" && [ -n "$("$PROBEE" report -q "$1" --csv 2>/dev/null | head -n 1)" ]; }
finished() { ! info_has "$1" "not finished|not properly|incomplete"; }
has_ended() { ! kill -0 "$recorder" || [ "$(sed 's/.*) //; s/ .*//' "/proc/$recorder/stat")" = Z ]; }
# record ARG...: a recording in the background; sets recorder.
record() {
	background "$PROBEE" "$@" 2>"$T/err"
	recorder=$PID
}
# stop WHAT CODE [SIGNAL...]: one signal or more, 0.4 s apart; the recording is to end soon after the last one. The promise
# is 2 s, or 0.1 s; a busy machine may take longer.
stop() {
	local what=$1 code=$2 begin sig
	shift 2
	for sig in "${@:-INT}"; do
		begin=$(date +%s%N)
		kill -"$sig" "$recorder"
		[ $# -le 1 ] || sleep 0.4
	done
	until_true 8 has_ended || kill -KILL "$recorder"
	wait "$recorder"
	RC=$?
	took=$(ms_since "$begin")
	check "$what: exit status" equal "$RC" "$code"
	check "$what: ends" at_most "$took" 5000
	echo "# $what: $took ms"
}

start chain30 sleep
target=$PID

# --- a reader that is stopped does not hang, but nobody waits for it
record snapshot -a -F 10 -o reader.pbz
check "stopped reader: records" until_true 20 has_rows reader.pbz
reader=$(child_of "$recorder" probee-reader)
kill -STOP "$reader"
STARTED+=("$reader")
sleep 0.5
stop "stopped reader" 0
check "stopped reader: the trace has its end" finished reader.pbz
check "stopped reader: ended by a signal" info_has reader.pbz signal
check "stopped reader: it is said" grep -q "the last snapshot was cut short" err
check "stopped reader: and is a loss" info_has reader.pbz "[1-9][0-9]* +walks-left-out"

record snapshot -a -F 10 -o twice.pbz
check "second signal: records" until_true 20 has_rows twice.pbz
sleep 0.5
reader=$(child_of "$recorder" probee-reader)
kill -STOP "$reader"
STARTED+=("$reader")
sleep 0.5
stop "second signal" 130 INT INT
check "second signal: it is said" grep -q "SIGINT: the second signal, so probee was ended by force: the trace can be read" err
check "second signal: a trace without end" not finished twice.pbz
check "second signal: what there was is in it" at_least "$("$PROBEE" report -q twice.pbz --csv -p "$target" 2>/dev/null | grep -c "|$target|")" 2
check "second signal: the reader goes with it" until_true 5 not kill -0 "$reader"

record snapshot -a -F 10 -o two.pbz
until_true 20 has_rows two.pbz
reader=$(child_of "$recorder" probee-reader)
kill -STOP "$reader"
STARTED+=("$reader")
sleep 0.5
stop "TERM, then HUP" 129 TERM HUP

# --- readers of rows and of the trace that do not read
mkfifo rows
exec 7<>rows
record snapshot -a -F 50 -o rows.pbz --csv=rows
check "rows that nobody reads: records" until_true 10 has_bytes rows.pbz 3000
sleep 1
stop "rows that nobody reads" 1
check "rows that nobody reads: the trace has its end" finished rows.pbz
check "rows that nobody reads: it is said" grep -q "write rows: its reader does not read" err
exec 7>&-

# With a sampler and all memory of stacks the trace soon fills the pipe.
mkfifo trace
exec 7<>trace
full() { [ "$(cat "/proc/$1/wchan")" = pipe_write ] || [ "$(cat "/proc/$1/wchan")" = anon_pipe_write ]; }
record sample -a -F 2999 --audit=1 -o trace
if until_true 15 full "$recorder"; then
	stop "a trace that nobody reads" 130
	check "a trace that nobody reads: it is said" grep -q "SIGINT: something did not end in time" err
	record sample -a -F 2999 --audit=1 -o trace
	until_true 15 full "$recorder"
	stop "a trace that nobody reads, twice" 143 INT TERM
else
	skip_part "the pipe did not get full"
	finish "$recorder"
fi
exec 7>&-

# --- a command that does not want to end
cat >stubborn <<'EOT'
#!/bin/bash
trap '' TERM INT HUP
while :; do sleep 0.1; done
EOT
chmod 755 stubborn
record sample -o stubborn.pbz -- ./stubborn
until_true 10 has_bytes stubborn.pbz
stop "a command that ignores SIGTERM" 0
check "a command that ignores SIGTERM: the trace has its end" finished stubborn.pbz

# --- readers that are killed
record snapshot -a -F 20 -i 60 -o killed.pbz
until_true 10 has_bytes killed.pbz
killed=0
while kill -0 "$recorder" 2>/dev/null && [ $killed -lt 25 ]; do
	reader=$(child_of "$recorder" probee-reader) && kill -KILL "$reader" 2>/dev/null && killed=$((killed + 1))
	sleep "0.0$((RANDOM % 9 + 1))"
done
wait "$recorder"
check "killed readers: exit status" equal $? 0
check "killed readers: were there" at_least "$killed" 10
check "killed readers: all snapshots" grep -q "60 snapshots of" err
check "killed readers: said once" equal "$(grep -c "was killed" err)" 1
check "killed readers: counted" grep -qE "snapshots: [0-9]+ processes that read the stacks were killed" err
check "killed readers: the trace has its end" finished killed.pbz
check "killed readers: a row in each snapshot" equal "$("$PROBEE" report -q killed.pbz --csv -p "$target" | grep -c 'f30+.*f1+')" 60
check "killed readers: no memory is blamed" not grep -q "readers die" err
done_testing
