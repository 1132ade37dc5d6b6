// Beside threads of your own: a thread outside of the runtime sends over a channel, calls fj::run, or waits for a
// future. It sleeps meanwhile. A library that calls back on its own thread hands over in the same way.

#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <functional>
#include <iostream>
#include <optional>
#include <ranges>
#include <thread>

long sum_below(long n) { return fj::parallel_reduce(std::views::iota(0L, n), 0L, std::plus<>()); }

int main() {
  const fj::channel<long> questions(4), answers(4);
  auto server = fj::go([=] {
    for (const long n : questions) answers.send(sum_below(n));
    answers.close();
  });
  const std::jthread asks([=] {
    for (long n = 1; n <= 1'000; ++n) questions.send(n);
    questions.close();
  });
  const std::jthread computes([] {
    if (fj::run([] { return sum_below(1'000'000); }) != 499'999'500'000) std::cout << "wrong\n";
  });
  long sum = 0;
  while (const std::optional<long> answer = answers.receive()) sum += *answer;  // main is such a thread, too
  server.get();
  std::cout << "sum " << sum << '\n';
}
