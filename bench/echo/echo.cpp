// An echo over TCP on the loopback: the server of examples/echo.cpp, beside fibers that compute, and clients that
// measure. bench/peers/go/echo has the same server in Go; bench/peers/echo.py runs either with these clients.
//
//   echo server <procs> <forking> <looping>                a server with so many fibers that compute
//   echo load <port> <connections> <pause ms> <seconds>    the clients, see load.cpp
//
// The fibers compute fib(computed_fib) without end, by forks, or its parts in a loop: here a parallel one, in Go a
// usual one. The server says `port N`, serves until its standard input ends, and then says `computed N`: how often they
// came to an end.

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <system_error>
#include <utility>

#include "bench/echo/message.hpp"
#include "forkjoin/forkjoin.hpp"
#include "forkjoin/go.hpp"

namespace {

constexpr std::size_t grain = 250;  // numbers of a request that a strand sums without a fork

// A leaf takes about 10 us, the whole a few ms.
constexpr int computed_fib = 30, leaf_fib = 18, leaves = 322;

std::atomic<std::uint64_t> computed{0};
std::atomic<long> sink{0};

long serial_fib(int n) { return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2); }

long fib(int n) {
  if (n <= leaf_fib) return serial_fib(n);
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

[[noreturn]] void compute_by_forks() {
  for (;;) {
    sink.store(fib(computed_fib), std::memory_order_relaxed);
    computed.fetch_add(1, std::memory_order_relaxed);
  }
}

[[noreturn]] void compute_by_loops() {
  for (;;) {
    fj::parallel_for(0, leaves, [](int) { sink.store(serial_fib(leaf_fib), std::memory_order_relaxed); });
    computed.fetch_add(1, std::memory_order_relaxed);
  }
}

bool read_all(const fj::descriptor& from, message& into) {
  for (std::size_t got = 0; got < sizeof(into);) {
    const std::size_t more = fj::read(from, reinterpret_cast<char*>(&into) + got, sizeof(into) - got);
    if (more == 0) return false;
    got += more;
  }
  return true;
}

void serve_one(const fj::descriptor& client) {
  message m;
  try {
    while (read_all(client, m)) {
      m.sum = fj::parallel_reduce(m.numbers, std::uint64_t{0}, std::plus<>(), {.grain = grain});
      fj::write(client, &m, sizeof(m));
    }
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "echo: %s\n", error.what());
  }
}

void serve(const fj::descriptor& listener) {
  for (;;) static_cast<void>(fj::go([client = fj::accept(listener)] { serve_one(client); }));
}

int listen_on_loopback() {
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (made < 0 || bind(made, reinterpret_cast<const sockaddr*>(&address), size) != 0 || listen(made, 4096) != 0 ||
      getsockname(made, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("echo: cannot listen");
    std::exit(1);
  }
  std::printf("port %d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return made;
}

int run_server(unsigned procs, int forking, int looping) {
  fj::runtime rt({.procs = procs});
  const fj::descriptor listener(listen_on_loopback());
  static_cast<void>(rt.go([&] { serve(listener); }));
  for (int i = 0; i < forking; ++i) static_cast<void>(rt.go([] { compute_by_forks(); }));
  for (int i = 0; i < looping; ++i) static_cast<void>(rt.go([] { compute_by_loops(); }));
  while (std::getchar() != EOF) {}
  std::printf("computed %llu\n", static_cast<unsigned long long>(computed.load()));
  std::fflush(stdout);
  std::_Exit(0);  // its fibers never end
}

}  // namespace

int main(int argc, char** argv) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (argc == 5 && !std::strcmp(argv[1], "server") && std::atoi(argv[2]) > 0)
    return run_server(static_cast<unsigned>(std::atoi(argv[2])), std::atoi(argv[3]), std::atoi(argv[4]));
  if (argc == 6 && !std::strcmp(argv[1], "load")) return run_load(argc, argv);
  std::fprintf(
      stderr,
      "usage: echo server <procs> <forking> <looping>\n       echo load <port> <connections> <pause ms> <seconds>\n");
  return 2;
}
