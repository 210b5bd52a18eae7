#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/base/visible.c src/tui formats/render src/commands
# No text that a terminal gets holds what a terminal acts upon: strange traces, all of whose strings have control characters (C0,
# C1, bidirectional ones, tags) and bytes that are no UTF-8, go through every command that reads traces; and such names of files,
# options and servers come back in messages.
. tests/cli/lib.sh
need_library
run build_with_library "$TMP/make_strange" tests/cli/make_strange.c; exits 0
cd "$TMP" && mkdir traces && run ./make_strange traces 0 12; exits 0
nr=0

# safe FORMAT COMMAND...: both of its outputs; what is compressed or binary (FORMAT: binary) only by its messages.
safe() {
	local kind=$1 where
	shift
	run "$@" </dev/null
	[ "$rc" -le 4 ] || [ "$rc" = 75 ] || [ "$rc" = 77 ] || wrong "exit $rc"
	nr=$((nr + 1))
	where=$(./make_strange stderr) || wrong "says what a terminal acts upon, $where"
	[ "$kind" = binary ] || where=$(./make_strange stdout) || wrong "prints what a terminal acts upon, $where"
}

for t in traces/*.pbz; do
	safe text probee info "$t" --sizes
	safe text probee info "$t" --json
	for kind in text svg html waits waits-json collapse json csv ndjson speedscope perf-script callgrind; do
		safe text probee report "$t" --$kind
	done
	safe binary probee report "$t" --pprof
	safe text probee report "$t" --waits --all-waits
	safe text probee report "$t" --text --by process,thread,state,cgroup --inverted
	safe text probee report "$t" --event nothing
	safe text probee diff "$t" "$t" --text --all
	safe text probee diff "$t" traces/1.pbz
	safe text probee tui "$t" --plain --once
	safe text probee verify "$t"
	safe text probee push "$t" --dry-run --to http://127.0.0.1:1
done
for t in traces/?.pbz; do
	for kind in json svg html; do safe text probee diff "$t" "$t" --$kind; done
	safe text probee symbolize "$t" -o named.pbz --force
done
safe text probee merge traces/*.pbz -o merged.pbz
safe text probee report traces/*.pbz --csv
safe text probee report --collapse traces/1.pbz traces/2.pbz

# Words of the command line, and names of files that are there and are no traces.
bad=$(printf 'x\xc2\x9b31m\xe2\x80\xaey\x1b]0;t\ax\xf3\xa0\x81\x81\xff\xd8\x9cz')
mkdir "$bad" && echo text >"$bad/$bad" && cp traces/0.pbz "$bad.pbz" && printf '[%s]\n%s = %s\n' "$bad" "$bad" "$bad" >"$bad.conf"
for command in sample snapshot record top tui serve push agent report diff merge export info unwind-info symbolize verify probes xstack \
	doctor help "$bad"; do
	safe text probee "$command" "--$bad"
	[ "$command" = agent ] || safe text timeout 10 "$PROBEE" "$command" "$bad" "$bad"
done
for file in "$bad/$bad" "$bad" "$bad.none" "$bad.pbz"; do
	for command in info report diff merge export symbolize verify push tui unwind-info; do
		safe text timeout 10 "$PROBEE" "$command" "$file" --quiet
	done
	safe text probee report traces/0.pbz --text="$file"
	safe text probee unwind-info "$file"
	safe text probee merge "$file" "$file" -o "$file"
	safe text probee symbolize traces/0.pbz -o "$file"
done
safe text probee report "$bad.pbz" --event "$bad" --comm "$bad" --include "$bad("
safe text probee report "$bad.pbz" --from "$bad"
safe text probee report "$bad.pbz" --callers "$bad"
safe text probee push "$bad.pbz" --to "http://$bad"
safe text probee push "$bad.pbz" --dry-run --label "a=$bad" --service "$bad"
safe text probee probes "u:$bad:$bad"
safe text probee probes "k:$bad"
safe text probee sample -e "$bad" -d 1
safe text probee agent --config "$bad.conf"
safe text probee serve --listen "$bad"
safe text probee doctor
[ "$nr" -gt 400 ] || wrong "only $nr commands were tried"
finish
