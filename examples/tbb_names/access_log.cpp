// A program as oneTBB's users write them: what a server's log says about its visitors. Compiled over this library's
// names, with oneTBB's own containers, and over oneTBB, it prints the same: access_log [lines] [seed]

#include <tbb/blocked_range.h>
#include <tbb/combinable.h>
#include <tbb/concurrent_hash_map.h>
#include <tbb/concurrent_queue.h>
#include <tbb/concurrent_vector.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_for_each.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>
#include <tbb/spin_mutex.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

struct visit {
  std::string visitor, page;
  int status = 0;
  long bytes = 0;
};

// What the program finds out, and in the end prints.
struct findings {
  long lines = 0, broken = 0, bytes = 0, errors = 0, slow_pages = 0, longest_queue = 0, steps = 0, hash = 0;
  std::vector<std::pair<std::string, long>> pages;
  std::vector<std::pair<std::string, long>> visitors;
};

// ---- The log: lines as a server writes them, some of them broken.

std::string line_of(std::uint32_t seed, int number) {
  std::mt19937 random(seed + static_cast<std::uint32_t>(number) * 7'919u);
  if (random() % 97 == 0) return "#" + std::to_string(number);
  static const char* const pages[] = {"/", "/news", "/shop", "/shop/cart", "/help", "/login", "/about", "/search"};
  const std::uint32_t visitor = random() % 200, page = random() % 8;
  const int status = random() % 20 == 0 ? 500 : random() % 10 == 0 ? 404 : 200;
  return "10.0." + std::to_string(visitor / 100) + "." + std::to_string(visitor % 100) + " " + pages[page] + " " +
         std::to_string(status) + " " + std::to_string(random() % 5'000);
}

bool parse(const std::string& line, visit& into) {
  const std::size_t a = line.find(' '), b = line.find(' ', a + 1), c = line.find(' ', b + 1);
  if (a == std::string::npos || b == std::string::npos || c == std::string::npos) return false;
  into.visitor = line.substr(0, a);
  into.page = line.substr(a + 1, b - a - 1);
  into.status = std::atoi(line.c_str() + b);
  into.bytes = std::atol(line.c_str() + c);
  return true;
}

// ---- 1. Read and parse, by a pipeline. Lines that cannot be read are counted, visits kept in the order in which they
// come.

using visits = tbb::concurrent_vector<visit>;

void read_log(int lines, std::uint32_t seed, visits& all, findings& found) {
  int next = 0;
  tbb::spin_mutex mutex;
  tbb::parallel_pipeline(
      16, tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& control) -> int {
            if (next == lines) {
              control.stop();
              return 0;
            }
            return next++;
          }) & tbb::make_filter<int, std::string>(tbb::filter_mode::parallel, [&](int number) {
            return line_of(seed, number);
          }) & tbb::make_filter<std::string, long>(tbb::filter_mode::parallel, [&](const std::string& line) -> long {
            visit one;
            if (!parse(line, one)) {
              const tbb::spin_mutex::scoped_lock held(mutex);
              ++found.broken;
              return -1;
            }
            const long bytes = one.bytes;
            all.push_back(std::move(one));
            return bytes;
          }) & tbb::make_filter<long, void>(tbb::filter_mode::serial_in_order, [&](long bytes) {
            found.hash = (found.hash * 31 + bytes + 2) % 1'000'000'007;  // tells whether the order was kept
          }));
  found.lines = lines;
}

// ---- 2. How often each page and each visitor occurs: a map that all bodies of a loop fill.

using counts = tbb::concurrent_hash_map<std::string, long>;

void count(const visits& all, counts& pages, counts& visitors) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, all.size()), [&](const tbb::blocked_range<std::size_t>& part) {
    for (std::size_t i = part.begin(); i != part.end(); ++i) {
      {
        counts::accessor at;
        pages.insert(at, all[i].page);
        ++at->second;
      }
      counts::accessor at;
      visitors.insert(at, std::make_pair(all[i].visitor, 0L));
      at->second += all[i].bytes;
    }
  });
}

std::vector<std::pair<std::string, long>> most(const counts& from, std::size_t n) {
  std::vector<std::pair<std::string, long>> sorted(from.begin(), from.end());
  tbb::parallel_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  sorted.resize(std::min(n, sorted.size()));
  return sorted;
}

// ---- 3. Sums: by a reduction, and by values of threads.

void sum(const visits& all, findings& found) {
  tbb::enumerable_thread_specific<long> errors(0L);
  tbb::combinable<std::map<std::string, long>> slow([] { return std::map<std::string, long>(); });
  tbb::parallel_invoke(
      [&] {
        found.bytes = tbb::parallel_reduce(
            tbb::blocked_range<std::size_t>(0, all.size()), 0L,
            [&](const tbb::blocked_range<std::size_t>& part, long so_far) {
              for (std::size_t i = part.begin(); i != part.end(); ++i) so_far += all[i].bytes;
              return so_far;
            },
            std::plus<>());
      },
      [&] {
        tbb::parallel_for(all.range(), [&](const visits::const_range_type& part) {
          long& mine = errors.local();
          for (const visit& each : part) mine += each.status >= 400;
        });
      },
      [&] {
        tbb::parallel_for(std::size_t{0}, all.size(), [&](std::size_t i) {
          if (all[i].bytes > 4'900) ++slow.local()[all[i].page];
        });
      });
  found.errors = errors.combine(std::plus<>());
  slow.combine_each([&](const std::map<std::string, long>& part) {
    for (const auto& each : part) found.slow_pages += each.second;
  });
}

// ---- 4. Work that makes more work: pages link to pages, and a group of tasks visits each once, by a queue and a set
// of those seen.

void crawl(findings& found) {
  tbb::concurrent_queue<int> waiting;
  tbb::concurrent_hash_map<int, bool> seen;
  std::atomic<long> steps(0);
  const auto discover = [&](int page) {
    if (page < 3'000 && seen.insert(std::make_pair(page, true))) waiting.push(page);
  };
  discover(1);
  while (!waiting.empty()) {
    found.longest_queue = std::max(found.longest_queue, static_cast<long>(waiting.unsafe_size()));
    tbb::task_group round;
    for (int task = 0; task < 4; ++task)
      round.run([&] {
        std::vector<int> taken;
        for (int page = 0; taken.size() < 1'000 && waiting.try_pop(page);) taken.push_back(page);
        for (const int page : taken) {
          ++steps;
          discover(2 * page);
          discover(2 * page + 1);
          discover(page + 7);
        }
      });
    round.wait();
  }
  found.steps = steps;
  found.longest_queue = found.longest_queue > 0;  // how long it became depends on the schedule
}

// ---- 5. A running sum, and a loop whose bodies add elements.

long running(const std::vector<std::pair<std::string, long>>& of) {
  std::vector<long> sums(of.size());
  tbb::parallel_scan(
      tbb::blocked_range<std::size_t>(0, of.size()), 0L,
      [&](const tbb::blocked_range<std::size_t>& part, long so_far, bool is_final) {
        for (std::size_t i = part.begin(); i != part.end(); ++i) {
          so_far += of[i].second;
          if (is_final) sums[i] = so_far;
        }
        return so_far;
      },
      std::plus<>());
  std::atomic<long> halves(0);
  tbb::parallel_for_each(sums.begin(), sums.end(), [&](long n, tbb::feeder<long>& more) {
    ++halves;
    if (n > 1) more.add(n / 2);
  });
  return halves;
}

}  // namespace

int main(int count_of_arguments, char** arguments) {
  const int lines = count_of_arguments > 1 ? std::atoi(arguments[1]) : 20'000;
  const auto seed = static_cast<std::uint32_t>(count_of_arguments > 2 ? std::atoi(arguments[2]) : 1);
  findings found;
  visits all;
  read_log(lines, seed, all, found);
  counts pages, visitors;
  count(all, pages, visitors);
  found.pages = most(pages, 3);
  found.visitors = most(visitors, 3);
  sum(all, found);
  crawl(found);
  std::printf("%ld lines, %ld broken, hash %ld\n", found.lines, found.broken, found.hash);
  std::printf("%ld bytes, %ld errors, %ld of slow pages\n", found.bytes, found.errors, found.slow_pages);
  for (const auto& each : found.pages) std::printf("page %s: %ld\n", each.first.c_str(), each.second);
  for (const auto& each : found.visitors) std::printf("visitor %s: %ld\n", each.first.c_str(), each.second);
  std::printf("%ld pages found, %ld halvings\n", found.steps, running(found.visitors));
}
