# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The page that a server feeds (src/live/live_page.h): bytes of base64 a second for two busy CPUs at 99 Hz and 300 threads that
# sleep, scanned once a second; and in Chromium, with a call tree of 50,000 nodes, the time from a message to after the next
# frame, and the CPU time of the thread that draws. Aims: 50 kB a second, 100 ms.

build_bench make_trace || cannot "make_trace could not be built: make first"
gcc -std=gnu11 -O2 -Wall -D_GNU_SOURCE -I"$root" "$root/tests/browser/feed_page.c" "$OUT/libprobee.a" \
	-lzstd -lz -lpcre2-8 -lseccomp -lcap-ng -lpthread -o "$bin/feed_page" || cannot "feed_page could not be built: make first"
have chromium || cannot "no chromium"
"$bin/make_trace" fed.pbz 110000 2500 || exit 1
start threads_fp 300 sleep
start threads 2 spin
for round in $(seq "$ROUNDS"); do
	"$PROBEE" record -a -F 99 --snap-freq 1 -d 35 -o steady.pbz -q 2>/dev/null || { say "the recording failed"; continue; }
	python3 "$here/fed_page.py" "$root" "$bin/feed_page" steady.pbz >sizes || { say "the page could not be fed"; continue; }
	record "fed page, base64 kB a second" median "$(calc "$(of sizes second) / 1e3")"
	record "fed page, base64 kB a second" most "$(calc "$(of sizes most) / 1e3")"
	record "fed page, base64 kB of all after 35 s" whole "$(calc "$(of sizes whole) / 1e3")"
	for view in flame functions tree threads now; do
		python3 "$here/fed_page.py" "$root" "$bin/feed_page" fed.pbz 100000 198 "#view=$view" >times || { say "the browser failed"; continue; }
		record "fed page, ms from a message to pixels" "$view" "$(of times update)"
		record "fed page, worst of 40" "$view" "$(of times worst)"
		record "fed page, CPU ms of a message" "$view" "$(of times cpu)"
	done
done
