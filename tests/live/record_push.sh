#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/push src/recording src/commands/record_push.c
# core: yes
# light: yes
# timeout: 120
# sample|record --push: what is recorded reaches the receiver while it is recorded, whether or not it is kept in a file.
. "$(dirname "$0")/lib.sh"
cd "$ROOT" || exit 1
TMP=$T
. tests/push/lib.sh
receiver one

# push ARG...: records with it; its messages are in $T/err.
push() { timeout --foreground -k 5 60 "$PROBEE" "$@" -v --push "http://127.0.0.1:$port" 2>"$T/err"; RC=$?; }
# In the summary: "810 samples and 4 snapshots of", "113 processes, 1177 thread states"; in the last line: "delivered 3 bodies with 30 profiles,
# 1987 samples".
recorded() {
	sed -nE 's/^probee: ([0-9,]+) samples? and [0-9,]+ snapshots? of .*/\1 +/p; s/^probee: [0-9,]+ process(es)?, ([0-9,]+) thread states?.*/\2/p' \
		"$T/err" | tr -d ,
}
delivered() { sed -nE 's/^probee: to .* delivered .* profiles?, ([0-9]+) samples?.*/\1/p' "$T/err"; }

push record -a -d 5 --segment-time 2s
check "in memory: exit status" equal "$RC" 0
check "in memory: all that was recorded was delivered" equal "$(($(recorded)))" "$(delivered)"
check "in memory: in several requests" test "$(answered 200)" -ge 2

push record -a -d 4 --segment-time 1s -o "$T/x.pbz"
check "in a file: exit status" equal "$RC" 0
check "in a file: all that was recorded was delivered" equal "$(($(recorded)))" "$(delivered)"
check "in a file: which is there" equal "$("$PROBEE" info --json "$T/x.pbz" | python3 -c 'import json, sys; print(json.load(sys.stdin)["samples"])')" "$(delivered)"

plan 503
( sleep 4; plan ok ) &
push record -a -d 6 --segment-time 1s
check "a receiver that comes back: exit status" equal "$RC" 0
check "a receiver that comes back has all" equal "$(($(recorded)))" "$(delivered)"

plan 503
push sample -a -d 2 --segment-time 1s --give-up 2s
check "a receiver that stays away: exit status" equal "$RC" 75
check "a receiver that stays away: it is said" grep -q 'not delivered: it answers 503' "$T/err"
receiver_end

for words in '--push nonsense' '--label a=b' '--push http://127.0.0.1:1 -o -' '--push http://127.0.0.1:1 --svg=x.svg'; do
	# shellcheck disable=SC2086
	timeout 20 "$PROBEE" sample -a -d 1 $words >/dev/null 2>"$T/err"
	check "refused: $words" equal $? 2
done
done_testing
