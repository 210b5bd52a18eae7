#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/runtimes unwind bpf
# timeout: 200
# beside: live
# Pythons that are not the program itself, or not alone: libpython opened at run time, two versions in one process, interpreters
# beside the main one, threads that wait for each other, a process that lives for a moment. Judged as in python_running.sh.
. "$(dirname "$0")/lib.sh"
judge() { timeout 100 python3 "$ROOT/tests/live/python_judge.py" tree "$@"; }
export PROBEE
declare -A pythons
while read -r version python; do [ "$version" = missing: ] || pythons[$version]=$python; done < <("$ROOT/tests/oracle/python/pythons.sh")
[ ${#pythons[@]} != 0 ] || skip "no Python that is known"

# wrap NAME PYTHON CODE: a command that runs CODE, in which FILE is the program; asked for its version, it is PYTHON.
wrap() {
	printf '#!/bin/sh\n[ "$1" != -S ] || exec %s "$@"\nexec %s -B -c "%s" "$2"\n' "$2" "$2" "$3" >"$1"
	chmod +x "$1"
}

# A program that knows of libpython only when it runs.
cat >opens.c <<'EOT'
#include <dlfcn.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *lib = dlopen(getenv("LIBPYTHON"), RTLD_NOW | RTLD_GLOBAL);
	int (*run)(int, char **) = lib ? (int (*)(int, char **))dlsym(lib, "Py_BytesMain") : NULL;

	return run ? run(argc, argv) : 1;
}
EOT
opened=
if command -v "${CC:-gcc}" >/dev/null && "${CC:-gcc}" -O2 opens.c -o opens -ldl 2>/dev/null; then
	for version in "${!pythons[@]}"; do
		home=$(dirname "$(dirname "${pythons[$version]}")") lib=
		for lib in "$home/lib/libpython$version.so.1.0"; do [ -e "$lib" ] || lib=; done
		[ "$lib" ] || continue
		opened=$version
		printf '#!/bin/sh\nLIBPYTHON=%s PYTHONHOME=%s exec %s/opens "$@"\n' "$lib" "$home" "$T" >opened
		chmod +x opened
		break
	done
fi
if [ "$opened" ]; then
	check "libpython$opened, opened at run time" judge "$T/opened" 3
else
	skip_part "libpython that is opened at run time: there is none, or no compiler"
fi

# Interpreters that are not known are told about, once: by what they export.
for old in "python 3.7:_PyEval_EvalFrameDefault _PyRuntime PyEval_EvalFrameEx" "python 3.6:_PyEval_EvalFrameDefault PyEval_EvalFrameEx" \
	"python 2.7:PyEval_EvalFrameEx PyString_FromString" pypy:pypy_execute_source; do
	for f in ${old#*:}; do echo "int $f(void) { return 1; }"; done >old.c
	echo 'int main(void) { for (volatile int i = 0; i < 300000000; i++) ; }' >>old.c
	"${CC:-gcc}" -rdynamic old.c -o old 2>/dev/null || { skip_part "no compiler"; break; }
	is_told() { "$PROBEE" sample -o old.pbz -- ./old 2>told; grep "^probee: ${old%%:*}: not known yet" told | grep -c . | grep -qx 1; }
	check "${old%%:*} is said to be unknown" is_told
done

# Two libpythons call each other: main, outer and leaf are run by one of them, middle and inner by the other. In each stack the frames
# of both are where they are among those of C.
cat >first.py <<'EOT'
import time
def main():
    end = time.process_time() + 4
    while time.process_time() < end:
        outer()
def outer():
    other("middle")
def leaf():
    x = 0
    for i in range(20000):
        x += i * i % 7
EOT
cat >second.py <<'EOT'
def middle():
    inner()
def inner():
    other("leaf")
EOT
two=()
for version in "${!pythons[@]}"; do
	home=$(dirname "$(dirname "${pythons[$version]}")")
	[ ! -e "$home/lib/libpython$version.so.1.0" ] || two+=("$home/lib/libpython$version.so.1.0 $home")
done
are_interleaved() {
	# shellcheck disable=SC2086 # a library and its home each
	"$PROBEE" sample -F 199 -o two.pbz -- ./two $1 first.py $2 second.py 2>>err || return 1
	folded two.pbz | awk '/;leaf/ { all += $NF }
		/;main;(.*;)?outer;(.*;)?other_of_0;.*;middle;(.*;)?inner;(.*;)?other_of_1;.*;leaf/ { good += $NF }
		END { printf "%d of %d samples", good, all; exit all < 50 || good < all * 0.99 }'
}
if [ ${#two[@]} -ge 2 ] && "${CC:-gcc}" -std=gnu11 -O1 "$ROOT/tests/live/python_two.c" -o two -ldl 2>/dev/null; then
	check "two Pythons in one process" are_interleaved "${two[0]}" "${two[1]}"
	check "two Pythons in one process, the other way round" are_interleaved "${two[1]}" "${two[0]}"
else
	skip_part "two Pythons in one process: there are none, or no compiler"
fi

# is_called_by_main: the frames of the main interpreter, which has called the other one, are outside of those of the tree.
is_called_by_main() {
	folded judge.pbz | awk '/;top/ { all += $NF } /(^|;)main_calls;.*;<module>;(.*;)?top/ { good += $NF }
		END { printf "%d of %d samples", good, all; exit all < 40 || good < all * 0.99 }'
}
for version in 3.8 3.11 3.12 3.13; do
	module=$([ $version = 3.13 ] && echo _interpreters || echo _xxsubinterpreters)
	[ "${pythons[$version]:-}" ] || { skip_part "no Python $version"; continue; }
	wrap "beside$version" "${pythons[$version]}" "
import sys, $module as i
def main_calls():
    i.run_string(i.create(), open(sys.argv[1]).read())
main_calls()"
	check "Python $version: an interpreter beside the main one" judge "$T/beside$version" 2
	check "Python $version: and the main one, which has called it" is_called_by_main
done

for version in 3.9 3.11; do
	[ "${pythons[$version]:-}" ] || { skip_part "no Python $version"; continue; }
	wrap "threads$version" "${pythons[$version]}" "
import sys, threading
code = compile(open(sys.argv[1]).read(), sys.argv[1], 'exec')
for i in range(3):
    threading.Thread(target=exec, args=(code, {})).start()"
	check "Python $version: three threads" judge "$T/threads$version" 3
done

# In a container: another root, in a mount namespace of its own. The tree is that of fetch.sh, whose files are not those of this system.
tree=
for tree in "${PROBEE_PYTHONS:-/var/tmp/probee-pythons}"/3.13; do [ -x "$tree/usr/bin/python3.13" ] || tree=; done
if [ "$tree" ]; then
	cat >inside <<-EOT
		#!/bin/sh
		[ "\$1" != -S ] || exec $tree/python "\$@"
		exec unshare -m --propagation private sh -c 'mkdir root && mount -t tmpfs none root && cp -a $tree/. root && cp "\$0" root &&
			cd root && for l in lib lib64; do [ -e \$l ] || ln -s usr/\$l \$l; done && exec chroot . /usr/bin/python3.13 -S -B /judge_tree.py' "\$2"
	EOT
	chmod +x inside
	check "Python 3.13 in a container" judge "$T/inside" 3
else
	skip_part "no tree for a container. Try: tests/oracle/python/fetch.sh 3.13"
fi

# A virtual environment with a copy of the interpreter.
for version in 3.11 3.12; do
	[ "${pythons[$version]:-}" ] && "${pythons[$version]}" -m venv --without-pip --copies venv 2>/dev/null || continue
	check "Python $version: a virtual environment" judge "$T/venv/bin/python" 3
	break
done

# Code that is made anew for each round lives for some 20 ms: its name has to be read before that. (The function itself lives longer.)
cat >anew.py <<'EOT'
import random, time
text = """
def made_%d():
    end = time.process_time() + 0.02
    while time.process_time() < end:
        sum(range(500))
made_%d()
"""
n, kept, end = 0, [], time.process_time() + 2
while time.process_time() < end:
    n += 1
    # The next one is elsewhere in memory.
    kept.append([compile("pass", "kept.py", "exec") for _ in range(random.randrange(20))])
    exec(compile(text % (n, n), "/made.py", "exec"), {"time": time})
EOT
is_named_in_time() {
	"$PROBEE" sample -F 199 -o anew.pbz -- "$1" -S anew.py 2>>err || return 1
	folded anew.pbz | awk '/;made_[0-9]+[; ]/ { all += $NF; named += !/\[python 3/ * $NF }
		END { printf "%d of %d samples", named, all; exit all < 200 || named < all * 0.8 }'
}
for version in 3.9 3.12; do
	[ "${pythons[$version]:-}" ] || { skip_part "no Python $version"; continue; }
	check "Python $version: code that lives for 20 ms" is_named_in_time "${pythons[$version]}"
done

# Most of its samples are in the function that ran nearly all the time, although it lived for 0.4 s only.
cat >short.py <<'EOT'
import time
def inner(n):
    x = 0
    for i in range(n):
        x += i * i % 7
    return x
def outer():
    end = time.process_time() + 0.4
    while time.process_time() < end:
        inner(1000)
outer()
EOT
is_short() {
	"$PROBEE" sample -F 499 -o short.pbz -- "$1" -S short.py 2>>err || return 1
	folded short.pbz | awk '/;<module>;(.*;)?outer;/ { in_outer += $NF } /;<module>/ || /could not be read/ { all += $NF }
		END { printf "%d of %d samples", in_outer, all; exit all < 100 || in_outer < all / 2 }'
}
for version in "${!pythons[@]}"; do
	check "Python $version: a program that lives for 0.4 s" is_short "${pythons[$version]}"
done
done_testing
