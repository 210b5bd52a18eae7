# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Traces that stand for far more than their size says (tests/spec/bombs.py): time and memory of reports, and whether both stay
# below 2 s and 50 ms for each MB of the trace, and 256 MiB and twice its size. OLD=binary: the same for another probee, which
# gets 30 s for each report.

mkdir bombs && python3 "$root/tests/spec/bombs.py" bombs >bombs.txt || cannot "the bombs could not be made"

# bomb TOOL BINARY NAME SIZE FORMAT COMMAND...
bomb() {
	local tool=$1 probee=$2 name=$3 size=$4 format=$5
	shift 5
	/usr/bin/time -f '%U %S %M' -o bomb.time timeout -s KILL 30 "$probee" "$@" >/dev/null 2>bomb.err
	awk -v tool="$tool" -v name="$name" -v size="$size" -v format="$format" '
		/Command terminated/ { killed = 1 }
		/Command/ { next }
		{
			s = $1 + $2; mib = $3 / 1024
			over = killed || s > 2 + size / 2e7 || mib > 256 + 2 * size / 1048576
			printf "%-6s %-14s %8d bytes  %-12s %s %5.0f MiB%s\n", tool, name, size, format,
				killed ? "   > 30 s" : sprintf("%7.2f s", s), mib, over ? "  over" : ""
		}' bomb.time
}

while read -r name size; do
	for format in info text svg json collapse csv waits-json; do
		for tool in ${OLD:+old} new; do
			probee=$PROBEE
			[ "$tool" = new ] || probee=$OLD
			if [ $format = info ]; then
				bomb $tool "$probee" "$name" "$size" $format info "bombs/$name.pbz"
			else
				bomb $tool "$probee" "$name" "$size" $format report "bombs/$name.pbz" --$format
			fi
		done
	done
done <bombs.txt
