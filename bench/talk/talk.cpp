// Fibers that talk: the small programs that bench/peers/go/talk has in Go. bench/peers/talk.py runs both side by side.
//
//   talk <case> <n> <procs> [runs]     prints `seconds S` for each run, and `result N`
//
// The whole program is a fiber, as main is in Go, and so are the measured loops.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <vector>

#include "forkjoin/go.hpp"

namespace {

using number = std::int64_t;

// Starts a fiber and waits for it, one after another.
number create(number n) {
  number sum = 0;
  for (number i = 0; i < n; ++i) sum += fj::go([i] { return i; }).get();
  return sum;
}

// Starts all, then waits for all.
number create_many(number n) {
  std::vector<fj::future<number>> all;
  all.reserve(static_cast<std::size_t>(n));
  for (number i = 0; i < n; ++i) all.push_back(fj::go([i] { return i; }));
  number sum = 0;
  for (auto& each : all) sum += each.get();
  return sum;
}

number ping_pong(number n, std::size_t capacity) {
  const fj::channel<number> there(capacity), back(capacity);
  auto echo = fj::go([&] {
    for (const number value : there) back.send(value + 1);
  });
  number value = 0;
  for (number i = 0; i < n; ++i) {
    there.send(value);
    value = *back.receive();
  }
  there.close();
  echo.get();
  return value;
}

number unbuffered(number n) { return ping_pong(n, 0); }
number buffered(number n) { return ping_pong(n, 1); }

// One sender and one receiver, and room for a hundred values.
number stream(number n) {
  const fj::channel<number> c(100);
  auto sends = fj::go([&] {
    for (number i = 0; i < n; ++i) c.send(i);
    c.close();
  });
  number sum = 0;
  for (const number value : c) sum += value;
  sends.get();
  return sum;
}

number select_of_4(number n) {
  const std::array<fj::channel<number>, 4> c{fj::channel<number>(0), fj::channel<number>(0), fj::channel<number>(0),
                                             fj::channel<number>(0)};
  std::vector<fj::future<void>> senders;
  for (const auto& to : c) {
    senders.push_back(fj::go([=] {
      for (number i = 0; i < n / 4; ++i) to.send(i);
    }));
  }
  number sum = 0;
  const auto add = [&](std::optional<number> value) { sum += *value; };
  for (number i = 0; i < n / 4 * 4; ++i)
    fj::select(fj::on_receive(c[0], add), fj::on_receive(c[1], add), fj::on_receive(c[2], add),
               fj::on_receive(c[3], add));
  for (auto& each : senders) each.get();
  return sum;
}

// Eight fibers want one mutex.
number mutex(number n) {
  fj::mutex m;
  number sum = 0;
  std::vector<fj::future<void>> all;
  for (int k = 0; k < 8; ++k) {
    all.push_back(fj::go([&] {
      for (number i = 0; i < n / 8; ++i) {
        const std::scoped_lock lock(m);
        sum += i;
      }
    }));
  }
  for (auto& each : all) each.get();
  return sum;
}

// The sum of the primes up to n: a chain of fibers, one for each prime, that pass on what it does not divide.
number sieve(number n) {
  fj::channel<number> numbers(0);
  static_cast<void>(fj::go([n, to = numbers] {
    for (number i = 2; i <= n; ++i) to.send(i);
    to.close();
  }));
  number sum = 0;
  while (const std::optional<number> prime = numbers.receive()) {
    sum += *prime;
    const fj::channel<number> filtered(0);
    static_cast<void>(fj::go([from = numbers, to = filtered, prime = *prime] {
      for (const number each : from)
        if (each % prime != 0) to.send(each);
      to.close();
    }));
    numbers = filtered;
  }
  return sum;
}

// n fibers wait for one channel; each gets a value, and passes it on to another.
number sleepers(number n) {
  const fj::channel<number> wake(0), done(0);
  for (number i = 0; i < n; ++i) static_cast<void>(fj::go([=] { done.send(*wake.receive()); }));
  number sum = 0;
  for (number i = 0; i < n; ++i) {
    wake.send(i);
    sum += *done.receive();
  }
  return sum;
}

struct program {
  const char* name;
  number (*run)(number);
};
constexpr program programs[] = {
    {"create", create},     {"create_many", create_many}, {"unbuffered", unbuffered}, {"buffered", buffered},
    {"stream", stream},     {"select", select_of_4},      {"mutex", mutex},           {"sieve", sieve},
    {"sleepers", sleepers},
};

number parse(const char* text, number most) {
  char* end = nullptr;
  const number value = std::strtoll(text, &end, 10);
  if (*end == '\0' && value >= 1 && value <= most) return value;
  std::fprintf(stderr, "talk: %s is not a number from 1 to %lld\n", text, static_cast<long long>(most));
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  const auto* const end = std::end(programs);
  const auto* const what =
      argc < 2 ? end : std::find_if(programs, end, [&](const program& p) { return !std::strcmp(p.name, argv[1]); });
  if (argc < 4 || argc > 5 || what == end) {
    std::fprintf(stderr, "usage: talk <case> <n> <procs> [runs]; the cases are");
    for (const program& p : programs) std::fprintf(stderr, " %s", p.name);
    std::fprintf(stderr, "\n");
    return 2;
  }
  const number n = parse(argv[2], 1'000'000'000'000);
  const auto procs = static_cast<unsigned>(parse(argv[3], 4096));
  number result = 0;
  fj::runtime rt({.procs = procs});
  for (number runs = argc == 5 ? parse(argv[4], 1'000'000) : 1; runs > 0; --runs) {
    rt.go([&] {
        const auto start = std::chrono::steady_clock::now();
        result = what->run(n);
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        std::printf("seconds %.6f\n", time.count());
      }).get();
  }
  std::printf("result %lld\n", static_cast<long long>(result));
}
