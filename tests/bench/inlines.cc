// SPDX-License-Identifier: GPL-2.0-or-later
// Never ends: containers, strings and algorithms of the standard library, inlined many levels deep, at many addresses.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

static double norm(const std::vector<double> &v)
{
	return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

static size_t words(int seed)
{
	std::map<std::string, int> sorted;
	std::unordered_map<std::string, size_t> counted;

	for (int i = 0; i < 2000; i++) {
		std::string word = std::to_string(i * seed % 997);

		sorted[word] += i;
		counted[word.substr(word.size() / 2)] += word.find('7');
	}
	return sorted.size() + counted.size();
}

static double numbers(int seed)
{
	std::vector<double> v(5000);

	std::iota(v.begin(), v.end(), seed);
	std::transform(v.begin(), v.end(), v.begin(), [](double x) { return std::fmod(x * 7919, 1009); });
	std::sort(v.begin(), v.end(), [](double a, double b) { return a > b; });
	std::stable_sort(v.begin(), v.end());
	v.erase(std::unique(v.begin(), v.end()), v.end());
	return norm(v);
}

int main()
{
	volatile double sum = 0;

	for (int seed = 1;; seed = seed % 1000 + 1)
		sum = sum + numbers(seed) + double(words(seed));
}
