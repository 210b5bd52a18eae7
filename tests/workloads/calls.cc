// SPDX-License-Identifier: GPL-2.0-or-later
// calls N [CHILDREN]: calls each of its functions so often, and then does the same in so many children. The exit code is 0 if all
// that was called gave the right result.
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace shop {
struct Basket {
	long sum = 0;
	__attribute__((noipa, noinline)) void add(long price) { sum += price; asm volatile(""); }
};
template <class T> struct Shelf {
	T items[8];
	__attribute__((noipa, noinline)) T pick(unsigned i) { asm volatile(""); return items[i % 8]; }
};
}  // namespace shop

extern "C" {
__attribute__((noipa, noinline)) long leaf(long a, long b) { asm volatile(""); return a * 2 + b; }
__attribute__((noipa, noinline)) long branch(long a, long b) { long r = leaf(a, b); asm volatile(""); return r + 1; }
__attribute__((noipa, noinline)) long descend(int n, long a) { long r = n ? descend(n - 1, a) : leaf(a, 0); asm volatile(""); return r; }
}

static bool work(long n)
{
	shop::Basket basket;
	shop::Shelf<long> shelf = { { 1, 2, 3, 4, 5, 6, 7, 8 } };
	long sum = 0;

	for (long i = 0; i < n; i++) {
		sum += branch(i, 3);
		sum += descend(20, i);
		basket.add(i);
		sum += shelf.pick((unsigned)i);
	}
	for (long i = 0; i < n; i++)
		sum -= 2 * i + 3 + 1 + 2 * i + i % 8 + 1;
	return !sum && basket.sum == n * (n - 1) / 2;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100, children = argc > 2 ? atol(argv[2]) : 0;
	bool ok = work(n);

	for (long i = 0; i < children; i++) {
		int status = 1;

		if (!fork())
			_exit(!work(n));
		wait(&status);
		ok &= !status;
	}
	return !ok;
}
