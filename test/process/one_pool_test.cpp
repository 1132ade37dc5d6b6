// One program that computes by forks, loops, the C header, oneTBB's names, std::execution::par, FFTW, OpenMP and
// senders, all at once and inside of one another: they have one pool of threads. Usage: one_pool_test [rounds]
//
// Tried with FFTW's own threads, and with OpenMP regions of four: there are more threads then.

#include <fftw3.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <execution>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <oneapi/tbb.h>

#include "forkjoin/execution.hpp"
#include "forkjoin/forkjoin.h"
#include "forkjoin/forkjoin.hpp"
#include "forkjoin/go.hpp"

namespace {

namespace ex = stdexec;

unsigned threads_now() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "Threads:" && status >> word) return static_cast<unsigned>(std::stoul(word));
  return std::numeric_limits<unsigned>::max();
}

// Each of these is right if it returns the same number as its argument.

long by_forks(long n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return by_forks(n / 2); }, [=] { return by_forks(n - n / 2); });
  return a + b;
}

long by_c_header(long n) {
  fj::combinable<long> sum;
  const auto add = [](std::int64_t first, std::int64_t last, void* to) {
    auto mine = static_cast<fj::combinable<long>*>(to)->local();
    *mine += last - first;
  };
  if (fj_parallel_for(0, n, 0, add, &sum) != FJ_OK) return -1;
  return sum.combine(std::plus<>());
}

long by_tbb_names(long n) {
  long a = 0;
  const auto count = [](const tbb::blocked_range<long>& part, long sum) { return sum + part.end() - part.begin(); };
  tbb::parallel_invoke([&] { a = tbb::parallel_reduce(tbb::blocked_range<long>(0, n), 0L, count, std::plus<>()); },
                       [&] { tbb::parallel_for(0, 16, [](int) { by_forks(16); }); });
  return a;
}

long by_std(long n) {
  const std::vector<long> ones(static_cast<std::size_t>(n), 1);
  std::vector<long> sums(ones.size());
  std::inclusive_scan(std::execution::par, ones.begin(), ones.end(), sums.begin());
  std::sort(std::execution::par, sums.begin(), sums.end(), std::greater<>());
  return n == 0 ? 0 : sums.front();
}

long by_openmp(long n) {
  long sum = 0;
#pragma omp parallel for num_threads(1) reduction(+ : sum)
  for (long i = 0; i < n; ++i) sum += by_forks(1);
  return sum;
}

long by_senders(long n) {
  const auto here = fj::this_runtime().scheduler();
  fj::combinable<long> sum;
  fj::wait(ex::schedule(here) | ex::bulk_chunked(ex::par, n, [&](long first, long last) {
             auto mine = sum.local();
             for (; first < last; ++first) *mine += by_forks(1);
           }));
  return sum.combine(std::plus<>());
}

class fourier {
 public:
  fourier() {
    fftw_init_threads();
    fftw_threads_set_callback(&run_jobs, nullptr);
    fftw_plan_with_nthreads(4);
    std::vector<std::complex<double>> any(length);
    forth_ = fftw_plan_dft_1d(static_cast<int>(length), raw(any), raw(any), FFTW_FORWARD, FFTW_ESTIMATE);
    back_ = fftw_plan_dft_1d(static_cast<int>(length), raw(any), raw(any), FFTW_BACKWARD, FFTW_ESTIMATE);
  }
  fourier(const fourier&) = delete;
  ~fourier() {
    fftw_destroy_plan(forth_);
    fftw_destroy_plan(back_);
  }

  // There and back.
  long operator()(long n) const {
    std::vector<std::complex<double>> at(length, static_cast<double>(n));
    fftw_execute_dft(forth_, raw(at), raw(at));
    fftw_execute_dft(back_, raw(at), raw(at));
    return std::lround(std::accumulate(at.begin(), at.end(), std::complex<double>()).real() /
                       static_cast<double>(length * length));
  }

 private:
  static constexpr std::size_t length = 1 << 13;

  static fftw_complex* raw(std::vector<std::complex<double>>& of) { return reinterpret_cast<fftw_complex*>(of.data()); }
  static void run_jobs(void* (*work)(char*), char* data, std::size_t size, int count, void*) {
    fj::parallel_for(0, count, [=](int i) { work(data + static_cast<std::size_t>(i) * size); });
  }

  fftw_plan forth_, back_;
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
  const fourier by_fftw;
  const std::function<long(long)> ways[] = {by_forks,  by_c_header, by_tbb_names,     by_std,
                                            by_openmp, by_senders,  std::ref(by_fftw)};
  constexpr int most = 3 * std::size(ways);
  fj::combinable<unsigned> threads;
  for (int round = 0; round < rounds; ++round) {
    fj::run([&] {
      fj::parallel_for(0, most, [&](int i) {
        const long n = 100 + i + round;
        if (const long got = ways[static_cast<std::size_t>(i) % std::size(ways)](n); got != n) {
          std::printf("%d returns %ld in place of %ld\n", i, got, n);
          std::exit(1);
        }
        threads.with_local([](unsigned& mine) { mine = std::max(mine, threads_now()); });
      });
    });
  }
  const unsigned at_most = threads.combine([](unsigned a, unsigned b) { return std::max(a, b); });
  if (at_most > fj::procs() + 2) {
    std::printf("%u threads with %u Ps\n", at_most, fj::procs());
    return 1;
  }
  std::puts("right");
}
