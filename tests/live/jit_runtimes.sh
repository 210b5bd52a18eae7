#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/capture/processes src/symbolize src/capture/session
# light: yes
# beside: live
# What the runtimes that are installed here say of the code they make: names, files, lines, and how the code came about.
# Each runs for a time of its own CPU, so that a busy machine takes as many samples.
# Python 3.12: PYTHON312=/path/to/it, or one on the path, or of pyenv.
. "$(dirname "$0")/lib.sh"

# said FILE PYTHON: the facts of all nodes of a trace's JSON, as n[name] = [node, ...], satisfy the expression.
said() {
	"$PROBEE" report "$1" --json --deep >said.json || return
	python3 - "$2" <<-'END'
		import collections, json, sys
		n, todo = collections.defaultdict(list), [json.load(open('said.json'))]
		total = todo[0]['value']
		while todo:
		    node = todo.pop()
		    n[node['name']].append(node)
		    todo += node.get('children', [])
		def any_of(name, **facts):
		    return any(all(v in x.get(k, []) if k == 'tiers' else x.get(k) == v for k, v in facts.items()) for x in n[name])
		def share(*names):
		    return sum(x.get('self', 0) for name in names for x in n[name]) * 100 / total
		def within(name):  # with the kernel's functions; on a busy machine they are many
		    return sum(x['value'] for x in n[name]) * 100 / total
		if not eval(sys.argv[1]):
		    sys.exit(str([(k, x.get('file'), x.get('line'), x.get('tiers')) for k in n for x in n[k] if x.get('kind') == 'jit'][:20]))
	END
}
# The number of the recorded program, whose files in /tmp are removed.
remove_files() { sed -n 's/^ready //p' ready | while read -r p; do rm -f "/tmp/perf-$p.map" "/tmp/jit-$p.dump"; done; }

if command -v node >/dev/null; then
	cat >hot.js <<-'END'
		console.log("ready " + process.pid)
		function hot(n) { return n < 2 ? n : hot(n - 1) + hot(n - 2) }
		const user = () => process.cpuUsage().user, end = user() + 800000
		while (user() < end) hot(20)
	END
	sample -F 499 -o node.pbz -- node --perf-basic-prof --interpreted-frames-native-stack "$T/hot.js" >ready
	remove_files
	check "node: name, file and line" said node.pbz "any_of('hot', file='$T/hot.js', line=2, kind='jit', tiers='optimized')"
	check "node: the busy function" said node.pbz "share('hot') > 50"
	check "node: the script itself" said node.pbz "any_of('(anonymous) hot.js:1', file='$T/hot.js', line=1) or any_of('(anonymous)', file='$T/hot.js', line=1)"
	check "node: marks are not in names" said node.pbz "not any(k.startswith(('JS:', 'LazyCompile:')) for k in n)"

	# Each function is entered by code of its own, and is still interpreted.
	sample -F 499 -o entered.pbz -- node --interpreted-frames-native-stack --no-opt --no-sparkplug "$T/hot.js" >ready
	check "node: interpreted, behind a copy of the builtin" said entered.pbz \
		"any_of('hot', file='$T/hot.js', line=2, tiers='interpreted') and share(*[k for k in n if 'gone' in k]) < 5"
	check "node: callers, too" said entered.pbz "within('hot') > 50 and any_of('(anonymous)', file='$T/hot.js', line=1, tiers='interpreted')"

	sample -F 499 -o dump.pbz -- node --perf-prof "$T/hot.js" >ready
	check "node's dump: name, file and line" said dump.pbz "any_of('hot', file='$T/hot.js', line=2, kind='jit', tiers='optimized')"
	check "node's dump: the busy function" said dump.pbz "share('hot') > 50"
	remove_files
fi

# The name that was valid at the time, and the line of the address; what perf makes of the same dump is the same.
start jit dump
sample -p "$PID" -F 499 -d 1 -o made.pbz
check "dump: named" said made.pbz "any_of('jit_spin', file='spin_.x', line=20) and within('jit_spin') > 90"
check "dump: no other name" said made.pbz "not n['old_spin'] and not n['late_spin']"
finish "$PID"
# Code at one address that is replaced all the time: each sample has the name of what was there when it was taken.
cd "$T" && sample -F 499 -o replaced.pbz -- "$WORKLOADS/jit" replaced >ready
check "replaced: each of three functions has its third" said replaced.pbz \
	"all(28 < within(f) < 38 for f in ('a_spin', 'b_spin', 'c_spin'))"
remove_files

if command -v perf >/dev/null && perf record -q -k mono -e cpu-clock -F 499 -o perf.data -- "$WORKLOADS/jit" dump 1 >ready 2>/dev/null; then
	HOME=$T perf inject --jit -i perf.data -o perf.jit 2>/dev/null
	perf script -i perf.jit -F ip,sym 2>/dev/null | grep -aoE "(old|jit|late)_spin" | sort -u >perf.names
	check "dump: perf has the same name" equal "$(cat perf.names)" jit_spin
	check "dump: perf has the same line" equal "$(addr2line -e "$(ls jitted-*-2.so)" 0x84)" spin_.x:20
else
	skip_part "no perf"
fi

python=
for p in "${PYTHON312:-}" python3.12 /root/.pyenv/versions/3.12*/bin/python3.12; do
	[ -n "$python" ] || ! "$p" -X perf -c 'import sys; sys.exit(not sys.is_stack_trampoline_active())' 2>/dev/null || python=$p
done
if [ -n "$python" ]; then
	cat >hot.py <<-'END'
		import os, time
		print("ready", os.getpid(), flush=True)
		def hot(n):
		    return n if n < 2 else hot(n - 1) + hot(n - 2)
		end = time.process_time() + 0.8
		while time.process_time() < end:
		    hot(15)
	END
	sample -F 499 -o python.pbz -- "$python" -X perf "$T/hot.py" >ready
	remove_files
	check "python: name and file" said python.pbz "any_of('hot', file='$T/hot.py', kind='interpreted', tiers='interpreted')"
	check "python: the module" said python.pbz "any_of('<module>', file='$T/hot.py')"
else
	skip_part "no Python 3.12 with -X perf"
fi

if command -v php >/dev/null && php -m | grep -q 'Zend OPcache'; then
	# A script that is newer than 2 s is not compiled by default.
	cat >hot.php <<-'END'
		<?php echo "ready ", getmypid(), "\n";
		class A { function hot($n) { return $n < 2 ? $n : $this->hot($n - 1) + $this->hot($n - 2); } }
		function user() { $r = getrusage(); return $r["ru_utime.tv_sec"] + $r["ru_utime.tv_usec"] / 1e6; }
		$a = new A; $end = user() + 0.8; while (user() < $end) $a->hot(15);
	END
	sample -F 499 -o php.pbz -- php -d opcache.enable=1 -d opcache.enable_cli=1 -d opcache.jit_buffer_size=32M \
		-d opcache.file_update_protection=0 -d opcache.jit=1205 -d opcache.jit_debug=16 "$T/hot.php" >ready
	remove_files
	check "php: functions" said php.pbz "any_of('A::hot', tiers='compiled') and share('A::hot') > 30"
else
	skip_part "no PHP with OPcache"
fi
done_testing
