/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shop: C++ with namespaces, templates, lambdas and exceptions. Most time goes to
 * main > shop::open_day > shop::Till<long>::checkout > shop::(anonymous
 * namespace)::weigh; every customer ends in an exception caught by open_day.
 */
#include <stdexcept>
#include <vector>

#include "ready.h"

namespace shop {

struct SoldOut : std::runtime_error {
	SoldOut() : std::runtime_error("sold out") {}
};

template <typename T> struct Basket {
	std::vector<T> items;
};

namespace {

FRAME long weigh(long item)
{
	burn(ROUNDS_PER_MS / 4);
	return item;
}

} // namespace

template <typename T> struct Till {
	T sum{};
	FRAME void checkout(const Basket<T> &basket)
	{
		for (T item : basket.items) {
			sum += weigh(item);
			if (item == T(3))
				throw SoldOut();
		}
	}
};

FRAME long open_day(int customers)
{
	Basket<long> basket{{1, 2, 3, 4}};
	Till<long> till;

	auto serve = [&]() {
		try {
			till.checkout(basket);
		} catch (const SoldOut &) {
			till.sum -= 3;
		}
	};
	while (customers-- > 0)
		serve();
	return till.sum;
}

} // namespace shop

static volatile long sink;

int main()
{
	say_ready();
	for (;;)
		sink = shop::open_day(100);
}
