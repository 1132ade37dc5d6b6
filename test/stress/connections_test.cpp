// A thousand connections on the loopback at once: a fiber for each end, and a parallel_reduce for each request. Some
// clients leave in the middle of a request, and some requests come in parts. No thread but the workers.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <numeric>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "forkjoin/go.hpp"
#include "test/sockets.hpp"
#include "test/support.hpp"

namespace {

using namespace std::chrono_literals;
using numbers = std::vector<std::uint32_t>;

auto threads_now() {
  const char* const folder = "/proc/self/task";
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

// A request: how many numbers, and these; the answer: their sum.
void serve(const fj::descriptor& client) {
  std::error_code error;
  for (std::uint32_t count; fj::read(client, &count, sizeof(count), error) == sizeof(count);) {
    numbers n(count);
    try {
      if (!test::read_all(client, n.data(), count * sizeof(n[0]))) return;
    } catch (const std::system_error&) {
      return;  // the client has left
    }
    const auto sum = fj::parallel_reduce(n, std::uint64_t{0}, std::plus<>());
    fj::write(client, &sum, sizeof(sum), error);
    if (error) return;
  }
}

bool ask(const fj::descriptor& server, test::dice& dice) {
  numbers n(1 + dice.below(2000));
  for (auto& each : n) each = dice.below(1000);
  const auto count = static_cast<std::uint32_t>(n.size());
  fj::write(server, &count, sizeof(count));
  const std::size_t size = n.size() * sizeof(n[0]), first = dice.below(static_cast<unsigned>(size));
  const auto* const bytes = reinterpret_cast<const char*>(n.data());
  fj::write(server, bytes, first);
  if (dice.once_in(4)) fj::sleep_for(std::chrono::microseconds(dice.below(200)));
  if (dice.once_in(30)) return false;  // leaves
  fj::write(server, bytes + first, size - first);
  std::uint64_t sum = 0;
  const bool whole = test::read_all(server, &sum, sizeof(sum));
  CHECK(whole);
  CHECK(sum == std::accumulate(n.begin(), n.end(), std::uint64_t{0}));
  return true;
}

}  // namespace

TEST_CASE("a thousand connections, each request a parallel_reduce") {
  std::thread([] {}).join();  // with the first one ThreadSanitizer starts a thread of its own
  test::for_each_procs([](unsigned p) {
    const auto before = threads_now();
    const test::watchdog dog("connections", p, 120);
    fj::runtime rt(test::with_procs(p));
    const int connections = test::divided(1000);
    test::listener at(4096);
    std::atomic<int> served{0}, asked{0};
    fj::wait_group all_connected;
    all_connected.add(connections);
    auto acceptor = rt.go([&] {
      std::vector<fj::future<void>> servers;
      for (std::error_code error;;) {
        fj::descriptor client = fj::accept(at.socket, error);
        if (error) break;
        servers.push_back(fj::go([&, client = std::move(client)] {
          serve(client);
          ++served;
        }));
      }
      for (auto& each : servers) each.get();
    });
    std::vector<fj::future<void>> clients;
    for (int i = 0; i < connections; ++i) {
      clients.push_back(rt.go([&, i] {
        test::dice dice(static_cast<std::uint64_t>(i));
        const fj::descriptor server = at.connect();
        all_connected.done();
        all_connected.wait();
        for (int k = 0; k < 10 && ask(server, dice); ++k) ++asked;
      }));
    }
    all_connected.wait();
    const auto started = threads_now() - before;
    CHECK(started <= static_cast<std::ptrdiff_t>(p) + 2);  // and the monitor and the watchdog
    for (auto& each : clients) each.get();
    at.socket.close();
    acceptor.get();
    CHECK(served == connections);
    CHECK(asked > connections);
  });
}
