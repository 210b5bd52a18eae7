// SPDX-License-Identifier: GPL-2.0-or-later
// Much of the standard library, inlined in many ways; a lambda in a function that is inlined; namesakes.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {
struct anonymous {
	int times3(int x) const { return x * 3; }
	template <class T> T plus1(T a) { return a + 1; }
};
}

static int square(int a) { return a * a; }

int main(int argc, char **argv)
{
	std::map<std::string, int> found;
	std::vector<std::string> words(argv, argv + argc);

	std::sort(words.begin(), words.end());
	std::stable_sort(words.begin(), words.end(), [](auto &a, auto &b) { return a.size() < b.size(); });
	words.insert(words.begin(), words.begin(), words.end());
	for (auto &word : words) {
		found[word] += (int)word.find_last_of("abc");
		found[word.substr(1)]++;
	}
	auto sum = [&](int n) { return n + (int)found.size() + square(n); };
	std::function<int(int)> f = sum;
	std::thread thread([&] { std::cout << f(3) << anonymous().times3(argc) << anonymous().plus1(2.0) << "\n"; });
	thread.join();
	return *std::make_shared<int>(3);
}
