# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Whole stacks of commands from exec to exit, with their files in the page cache and without (cold.py; it drops the page cache
# of the machine), and how long it takes to build 16 pages of the tables of huge files, and 16 more. BASE=FILE is an earlier
# probee to compare with. DENO, BUN, CHROMIUM: where these programs are.

cold_tools=("$PROBEE")
[ -z "${BASE:-}" ] || cold_tools=("$BASE" "$PROBEE")

# cold_one TOOL
cold_one() {
	local name=new metric value
	[ "$1" != "${BASE:-}" ] || name=base
	python3 "$here/cold.py" "$1" 999 >cold.out
	grep '^#' cold.out >&2
	while IFS=$'\t' read -r metric value; do record "$metric" "$name" "$value"; done < <(grep -v '^#' cold.out)
}

# part_one FILE -c|-w: in the page cache, or not
part_one() {
	local how=warm
	[ "$2" = -w ] || how=cold
	"$bin/build_part" "$2" "$1" >part || return
	record "${1##*/}, $how: ms to build $(of part pages) pages" first "$(calc "$(of part first_ns) / 1e6")"
	record "${1##*/}, $how: ms to build $(of part pages) pages" second "$(calc "$(of part second_ns) / 1e6")"
}

build_bench build_part || { say "build_part cannot be built"; return; }
mapfile -t huge < <({ find -L "$(command -v "${DENO:-deno}")" "$(command -v "${BUN:-bun}")" -type f
	find /usr/lib /usr/bin "${RUSTUP_HOME:-$HOME/.rustup}" -type f -size +60M; } 2>/dev/null)
for ((round = 0; round < ROUNDS; round++)); do
	for tool in "${cold_tools[@]}"; do cold_one "$tool"; done
	for file in "${huge[@]}"; do
		readelf -lW "$file" 2>/dev/null | grep -q ' R E ' || continue
		part_one "$file" -w
		part_one "$file" -c
	done
done
