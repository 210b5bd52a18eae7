// SPDX-License-Identifier: GPL-2.0-or-later
// One of many compilation units of a large program: instances of the standard library's templates with types that no other unit
// has, so that the linker keeps each of them. UNIT is a number that makes its types and code differ.
#include <algorithm>
#include <deque>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

template <int N> struct item {
	int key = N;
	std::string text;
	std::vector<double> numbers;
	bool operator<(const item &o) const { return key < o.key || (key == o.key && text < o.text); }
	bool operator==(const item &o) const { return key == o.key && text == o.text; }
};

template <int N> struct item_hash {
	size_t operator()(const item<N> &x) const { return std::hash<std::string>()(x.text) * 31 + (size_t)x.key; }
};

template <int N> long work(const std::string &s)
{
	using it = item<N>;
	std::vector<it> v;
	std::map<it, std::list<it>> m;
	std::unordered_map<it, std::deque<it>, item_hash<N>> u;
	std::set<it> set;
	std::function<long(const it &)> f = [&](const it &x) { return (long)x.text.size() * N + x.key; };
	std::variant<int, it, std::string> choice = it();
	std::shared_ptr<it> p = std::make_shared<it>();

	for (int i = 0; i < (int)s.size() + N; i++) {
		it x;
		x.key = i % (N + 3);
		x.text = s.substr((size_t)i % (s.size() + 1)) + std::to_string(i);
		x.numbers.assign((size_t)i % 7, i * 0.5);
		v.push_back(x);
		m[x].push_back(x);
		u[x].push_front(x);
		set.insert(x);
		choice = x;
		*p = x;
	}
	std::stable_sort(v.begin(), v.end());
	std::sort(v.rbegin(), v.rend(), [](const it &a, const it &b) { return a.text < b.text; });
	v.erase(std::unique(v.begin(), v.end()), v.end());
	std::rotate(v.begin(), v.begin() + (long)v.size() / 2, v.end());
	auto t = std::make_tuple(v.size(), m.size(), u.size(), set.size());
	long sum = std::accumulate(v.begin(), v.end(), 0L, [&](long n, const it &x) { return n + f(x); });
	std::visit([&](const auto &x) { sum += (long)sizeof(x); }, choice);
	std::ostringstream out;
	out << sum << std::get<0>(t) << p->text;
	return sum + (long)out.str().size() + (long)std::get<2>(t);
}

template <int... N> long all(const std::string &s, std::integer_sequence<int, N...>)
{
	return (work<UNIT * 100 + N>(s) + ...);
}

}

extern "C" long unit_entry(const char *s)
{
	std::regex r("([a-z]+)([0-9]*)");
	std::smatch found;
	std::string text = s;
	return all(text, std::make_integer_sequence<int, 4>()) + std::regex_search(text, found, r);
}
