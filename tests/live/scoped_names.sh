#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# covers: src/debug_info src/symbolize src/parse
# timeout: 240
# beside: live
# Names of inlined C++ functions: with the scopes that they are in, the same as those of their code that is not inlined; lambdas
# by the line where they stand, inlined or not. Without debug information lambdas have the names of the symbol table.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$T/cache
cat >names.cc <<'EOT'
#include <ctime>
#include <utility>
static inline __attribute__((always_inline)) long spin(long x)
{
	clock_t until = clock() + CLOCKS_PER_SEC / 5;
	do
		for (volatile int i = 0; i < 200000; i = i + 1)
			x += i;
	while (clock() < until);
	return x;
}
#define NEVER __attribute__((noinline, noclone))
namespace outer {
namespace { inline long hidden(long x) { return spin(x); } }
namespace inner {
static inline __attribute__((always_inline)) long both(long x) { return spin(x); }
struct Shape { long area(long x) const { return spin(x); } };
}
}
template <typename F> NEVER static long call(F f) { return f(1); }
struct Engine {
	NEVER long run(long x)
	{
		auto start = [&](long y) { return spin(y + x); };		/* 24 */
		auto stop = [&](long y) NEVER { return spin(y - x); };	/* 25 */
		return start(x) + stop(x) + call([=](auto y) {		/* 26 */
			return [=](long z) { return spin(z + y); }(x);	/* 27 */
		});
	}
};
long (*volatile pointer)(long) = outer::inner::both;
NEVER long local(long x)
{
	struct Local { static inline long member(long x) { for (int i = 0; i < 2; i++) x = spin(x + i) / 2; return x; } };
	return Local::member(x);
}
int main()
{
	long x = local(1) + outer::hidden(2) + outer::inner::both(3) + pointer(4);
	return (int)(Engine().run(x) + outer::inner::Shape().area(x)) & 1;
}
EOT
# names FILE: the functions of its samples, without arguments and marks.
record() { "$PROBEE" sample -q -F 499 -o "$1.pbz" -- "./$1" || :; "$PROBEE" report "$1.pbz" --collapse --by none 2>/dev/null >"$1.folded"; }
names() { sed 's/ [0-9]*$//' "$1.folded" | tr ';' '\n' | sort -u; }
has() { names "$1" | grep -Fxq -e "$2"; }
lacks() { ! names "$1" | grep -Eq -e "$2"; }
found=0
for cxx in g++ clang++; do
	command -v $cxx >/dev/null || { skip_part "$cxx" "not on this machine"; continue; }
	found=1
	$cxx -std=gnu++17 -O2 -g names.cc -o "$cxx" || { bad "$cxx builds"; continue; }
	record "$cxx"
	check "$cxx: an inlined function and its code elsewhere have one name" has "$cxx" "outer::inner::both(long)"
	check "$cxx: that of the inlined one is marked" has "$cxx" "outer::inner::both(long)_[i]"
	check "$cxx: an anonymous namespace" grep -Eq 'outer::\(anonymous namespace\)::hidden(\(long\))?_\[i\]' "$cxx.folded"
	check "$cxx: a class" has "$cxx" "outer::inner::Shape::area(long) const_[i]"
	check "$cxx: a class in a function" grep -Eq 'local(\(long\))?::Local::member(\(long\))?_\[i\]' "$cxx.folded"
	check "$cxx: an inlined lambda has its line" grep -Eq 'Engine::run(\(long\))?::\{lambda names.cc:24\}_\[i\]' "$cxx.folded"
	check "$cxx: so has one that is not inlined" grep -Eq ';Engine::run(\(long\))?::\{lambda names.cc:25\}[; ]' "$cxx.folded"
	check "$cxx: a lambda in a lambda" grep -Eq '\{lambda names.cc:26\}<int>.*\{lambda names.cc:27\}' "$cxx.folded"
	check "$cxx: nothing is called operator()" lacks "$cxx" '(^|::)operator\(\)(\(|_|$)'
	strip "$cxx" -o bare -g && cp bare "bare-$cxx" && record "bare-$cxx"
	check "$cxx: without debug information lambdas are those of the symbol table" \
		grep -Eq 'Engine::run\(long\)::(\{lambda\(long\)#2\}|\$_[0-9]+)::operator\(\)' "bare-$cxx.folded"
done
[ $found = 1 ] || skip "no C++ compiler"
done_testing
