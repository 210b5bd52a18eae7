# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# SCALE (3,000) processes, each asleep in a library of its own, with 30 of the 3,000 libraries mapped: how many stacks of a
# snapshot are right, what the tables take, and how long the first scan takes. With -a only libraries in stacks get tables;
# if -p names every process, all mapped libraries do.

scale=${SCALE:-3000}
chain="main;child;many_outer;many_middle;many_inner;wait_here"

# tables TRACE WORD
tables() { zstd -dcq "$1" | grep -ao 'rows=[a-z0-9= ]*' | tr ' ' '\n' | sed -n "s/^$2=//p" | tail -n 1; }

# many_snapshots NAME OPTION...: three scans, a second apart.
many_snapshots() {
	local name=$1 word
	shift
	rm -f scale.pbz
	launched life "$PROBEE" snapshot "$@" --walk-all -i 3 -v -o scale.pbz
	wait "$LAUNCH"
	[ -s scale.pbz ] || { say "$(tail -n 1 launched.err)"; return; }
	"$PROBEE" report scale.pbz --collapse >scale.folded 2>/dev/null
	record "stacks of three walks that are right" "$name" \
		"$(awk -v chain="$chain" '/^many;/ && index($0, chain) { n += $NF } END { printf "%.0f\n", n }' scale.folded)"
	"$PROBEE" report scale.pbz --csv >scale.csv 2>/dev/null
	record "ms from the start to the first row" "$name" "$(figure first-csv scale.csv "$(of life real_ns)")"
	for word in rows tables bytes mappings evicted refused; do
		record "tables: $word" "$name" "$(tables scale.pbz $word)"
	done
	record "peak memory, KiB" "$name" "$(of life rss_kib)"
	record "CPU time, ms" "$name" "$(of life cpu_ms)"
}

copies=$T/many
mapfile -t files < <("$root/tests/workloads/many_copies.py" "$copies" "$scale" "$WORKLOADS"/many_lib_{64,200,1024}.so)
exec {many_fd}< <(exec "$WORKLOADS/many" "$scale" 30 "${files[@]}")
STARTED+=($!)
parent=$!
read -r -t 280 -u "$many_fd" _ _ || { say "the processes did not get ready"; return; }
echo "$(pgrep -c -P "$parent") processes, ${#files[@]} files"
for ((round = 0; round < (ROUNDS > 3 ? 3 : ROUNDS); round++)); do
	many_snapshots "-a" -a
	many_snapshots "-p ..." -p "$(pgrep -d, -P "$parent")"
done
finish "$parent"
rm -rf "$copies"
