# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Two recordings compared: what is seen of nothing and of a function that takes 20 % longer, in PAIRS pairs (default 20), and
# what comparing two traces of a million samples costs beside a report of one.

PYTHONPATH=$here python3 "$here/diff_pairs.py" "$PROBEE" "$WORKLOADS/rounds" "$T" "${PAIRS:-20}" || exit 1
build_bench make_trace || cannot "make_trace could not be built: make first"
"$bin/make_trace" before.pbz 1000000 3385 && "$bin/make_trace" after.pbz 1000000 3000 || exit 1
for round in $(seq "$ROUNDS"); do
	for words in "report after.pbz --by none --svg" "diff before.pbz after.pbz --by none --svg" \
		"report after.pbz --svg" "diff before.pbz after.pbz --svg"; do
		# shellcheck disable=SC2086  # words
		launched life "$PROBEE" $words
		wait $LAUNCH
		record "1,000,000 samples, wall ms" "${words%% *}${words##*pbz}" "$(of life wall_ms)"
		record "1,000,000 samples, peak RSS MiB" "${words%% *}${words##*pbz}" "$(calc "$(of life rss_kib) / 1024")"
	done
done
