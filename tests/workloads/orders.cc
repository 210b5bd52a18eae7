/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * orders THOUSANDS [slow]: a small service that has the problems of large ones, for the pictures of
 * README (tools/images.sh). It ends after so many orders, so two runs do the same work, however
 * busy the machine is.
 *
 *	intake	reads orders: splits text, counts words in a map; "slow" makes its checksum twice as
 *		dear
 *	billing	three threads that write to one journal, and need its lock
 *	journal	holds that lock while it waits for the disk
 *	report	sorts all that came in, eight times
 */
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#define FRAME __attribute__((noinline))

namespace orders {

static std::atomic<unsigned> accepted;
static unsigned wanted;
static unsigned checksum_rounds = 1;
static std::mutex journal_lock;
static std::map<std::string, uint64_t> seen;
static volatile uint64_t sink;

static bool is_open() { return accepted < wanted; }

FRAME uint64_t checksum(const std::string &s)
{
	uint64_t h = 14695981039346656037u;

	for (unsigned round = 0; round < 60 * checksum_rounds; round++)
		for (char c : s)
			h = (h ^ (unsigned char)c) * 1099511628211u;
	return h;
}

FRAME std::vector<std::string> split(const std::string &line)
{
	std::vector<std::string> words;
	size_t at = 0, space;

	for (; (space = line.find(' ', at)) != std::string::npos; at = space + 1)
		words.push_back(line.substr(at, space - at));
	words.push_back(line.substr(at));
	return words;
}

FRAME void count(const std::vector<std::string> &words)
{
	for (const auto &w : words)
		seen[w]++;
}

FRAME void accept(unsigned n)
{
	std::string line = "order " + std::to_string(n % 997) + " of customer " +
			   std::to_string(n % 4099) + " for 3 lamps and 2 chairs";

	count(split(line));
	sink = sink + checksum(line);
}

FRAME void intake()
{
	for (; is_open(); accepted++)
		accept(accepted);
}

/* Holds the lock of all while the disk is slow. */
FRAME void flush(int fd)
{
	std::lock_guard<std::mutex> hold(journal_lock);

	if (write(fd, "flush\n", 6) == 6)
		fsync(fd);
	std::this_thread::sleep_for(std::chrono::milliseconds(400));
}

FRAME void journal()
{
	char path[] = "/tmp/orders-XXXXXX";
	int fd = mkstemp(path);

	unlink(path);
	while (is_open()) {
		flush(fd);
		std::this_thread::sleep_for(std::chrono::milliseconds(20));
	}
	close(fd);
}

FRAME void bill()
{
	std::lock_guard<std::mutex> hold(journal_lock);

	sink = sink + checksum("bill");
}

FRAME void billing()
{
	while (is_open()) {
		bill();
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
	}
}

FRAME void sort_all()
{
	std::vector<std::string> all;

	for (unsigned n = 0; n < 60000; n++)
		all.push_back("order " + std::to_string(n * 7919u % 60000));
	std::sort(all.begin(), all.end());
	sink = sink + all.size();
}

FRAME void report()
{
	for (unsigned n = 1; n <= 8; n++) {
		while (accepted < uint64_t(wanted) * n / 8)
			std::this_thread::sleep_for(std::chrono::milliseconds(20));
		for (int i = 0; i < 3; i++)
			sort_all();
	}
}

} // namespace orders

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;

	orders::wanted = 1000 * (argc > 1 ? atoi(argv[1]) : 100);
	orders::checksum_rounds = argc > 2 ? 2 : 1;
	auto start = [&](const char *name, void (*run)()) {
		threads.emplace_back(run);
		pthread_setname_np(threads.back().native_handle(), name);
	};

	start("intake", orders::intake);
	start("journal", orders::journal);
	for (int i = 0; i < 3; i++)
		start("billing", orders::billing);
	start("report", orders::report);
	for (auto &t : threads)
		t.join();
}
