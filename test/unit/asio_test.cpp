// Asio's operations, waited for by fibers. Tried: without the handler's destructor the test of a dropped operation hangs.
#include "forkjoin/asio.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

#include "forkjoin/fork_each.hpp"
#include "forkjoin/forkjoin.hpp"
#include "forkjoin/go.hpp"
#include "test/support.hpp"

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

// A context, and the thread that runs it.
struct io {
  asio::io_context context;
  asio::executor_work_guard<asio::io_context::executor_type> guard = asio::make_work_guard(context);
  std::jthread thread{[this] { context.run(); }};
  ~io() { guard.reset(); }
};

// Ends each line of `from` as a line of its sum's digits, until the other side closes.
void serve(tcp::socket from) {
  for (std::string line;;) {
    error_code error;
    const std::size_t n = asio::async_read_until(from, asio::dynamic_buffer(line), '\n', fj::use_fiber[error]);
    if (error == asio::error::eof) return;
    REQUIRE_FALSE(error);
    const int count = std::stoi(line.substr(0, n));
    line.erase(0, n);
    const long sum = fj::parallel_reduce(std::views::iota(0L, long{count}), 0L, std::plus<>());
    asio::async_write(from, asio::buffer(std::to_string(sum) + "\n"), fj::use_fiber);
  }
}

long ask(asio::io_context& context, tcp::endpoint server, int count) {
  tcp::socket to(context);
  to.async_connect(server, fj::use_fiber);
  asio::async_write(to, asio::buffer(std::to_string(count) + "\n"), fj::use_fiber);
  std::string line;
  asio::async_read_until(to, asio::dynamic_buffer(line), '\n', fj::use_fiber);
  return std::stol(line);
}

// Begins an operation and hands the handler to `then`.
template <class Signature, class Then>
auto begin(Then then) {
  return asio::async_initiate<const fj::use_fiber_t, Signature>([&](auto handler) { then(std::move(handler)); },
                                                                fj::use_fiber);
}

struct unwilling {
  unwilling() = default;
  unwilling(const unwilling&) { throw std::runtime_error("not copied"); }
};

}  // namespace

TEST_CASE("asio: a fiber for each connection, with forks in each request") {
  for (const unsigned p : {1u, 2u, 8u, 64u}) {
    CAPTURE(p);
    io side;
    fj::runtime rt(test::with_procs(p));
    tcp::acceptor door(side.context, {asio::ip::address_v4::loopback(), 0});
    const int clients = test::divided(40);
    auto server = rt.go([&] {
      std::vector<fj::future<void>> all;
      for (int i = 0; i < clients; ++i)
        all.push_back(
            fj::go([s = std::make_shared<tcp::socket>(door.async_accept(fj::use_fiber))] { serve(std::move(*s)); }));
      for (auto& one : all) one.get();
    });
    std::vector<long> sums(static_cast<std::size_t>(clients));
    rt.run([&] {
      fj::fork_each(0, clients,
                    [&](int i) { sums[static_cast<std::size_t>(i)] = ask(side.context, door.local_endpoint(), i); });
    });
    server.get();
    for (int i = 0; i < clients; ++i) CHECK(sums[static_cast<std::size_t>(i)] == long{i} * (i - 1) / 2);
  }
}

TEST_CASE("asio: the worker does other work while a branch waits") {
  io side;
  fj::runtime rt(test::with_procs(1));
  std::atomic<bool> other_ran{false};
  asio::steady_timer timer(side.context, asio::steady_timer::time_point::max());
  rt.run([&] {
    fj::fork_join(
        [&] {
          error_code error;
          timer.async_wait(fj::use_fiber[error]);
          CHECK(error == asio::error::operation_aborted);
          CHECK(other_ran);
        },
        [&] {
          other_ran = true;  // were the worker to sleep in the first branch, the timer would not be cancelled
          asio::post(side.context, [&] { timer.cancel(); });
        });
  });
}

TEST_CASE("asio: a resolver") {
  io side;
  tcp::resolver resolver(side.context);
  const auto found = fj::run([&] { return resolver.async_resolve("127.0.0.1", "80", fj::use_fiber); });
  CHECK(found.begin()->endpoint() == tcp::endpoint(asio::ip::make_address("127.0.0.1"), 80));
}

TEST_CASE("asio: a thread outside of any runtime sleeps") {
  io side;
  asio::steady_timer timer(side.context, 1ms);
  timer.async_wait(fj::use_fiber);
  CHECK(timer.expiry() <= asio::steady_timer::clock_type::now());
}

TEST_CASE("asio: errors are thrown, or filled in") {
  io side;
  tcp::endpoint closed;
  {
    tcp::acceptor door(side.context, {asio::ip::address_v4::loopback(), 0});
    closed = door.local_endpoint();
  }
  fj::run([&] {
    tcp::socket to(side.context);
    CHECK_THROWS_AS(to.async_connect(closed, fj::use_fiber), boost::system::system_error);
    tcp::socket again(side.context);
    error_code error;
    again.async_connect(closed, fj::use_fiber[error]);
    CHECK(error == asio::error::connection_refused);
    asio::steady_timer timer(side.context, 0ns);
    timer.async_wait(fj::use_fiber[error]);
    CHECK_FALSE(error);
  });
}

TEST_CASE("asio: what handlers get is returned") {
  fj::run([] {
    static_assert(std::is_void_v<decltype(begin<void()>([](auto) {}))>);
    begin<void()>([](auto handler) { handler(); });
    CHECK(begin<void(int)>([](auto handler) { handler(7); }) == 7);
    CHECK(begin<void(error_code, int)>([](auto handler) { handler(error_code(), 7); }) == 7);
    CHECK(*begin<void(std::unique_ptr<int>)>([](auto handler) { handler(std::make_unique<int>(7)); }) == 7);
    CHECK(begin<void(error_code, int, std::string)>([](auto handler) { handler(error_code(), 7, std::string("x")); }) ==
          std::tuple(7, std::string("x")));
    CHECK(begin<void(std::exception_ptr, int)>([](auto handler) { handler(nullptr, 7); }) == 7);
    CHECK_THROWS_AS(begin<void(std::exception_ptr)>(
                        [](auto handler) { handler(std::make_exception_ptr(std::out_of_range("far"))); }),
                    std::out_of_range);
    const unwilling value;
    CHECK_THROWS_AS(begin<void(unwilling)>([&](auto handler) { handler(value); }), std::runtime_error);
  });
}

// Tried: without the wait's second look for memory it aborts, as a fiber left with records and its P had no other deque.
TEST_CASE("asio: what begins an operation may wait for something else") {
  io side;
  for (const unsigned p : {1u, 2u, 4u}) {
    CAPTURE(p);
    fj::runtime rt(test::with_procs(p));
    const long n = test::divided(10'000);
    std::atomic<long> sum{0};
    rt.run([&] {
      fj::parallel_for(0L, n, [&](long i) {
        sum += begin<void(long)>([&side, i](auto handler) {
          fj::sleep_for(50us);
          asio::post(side.context, [i, end = std::move(handler)]() mutable { end(i); });
        });
      });
    });
    CHECK(sum == n * (n - 1) / 2);
  }
}

TEST_CASE("asio: an operation that is dropped ends the wait") {
  fj::run([] {
    CHECK_THROWS_AS(begin<void(int)>([](auto) {}), boost::system::system_error);
    CHECK_THROWS_AS(begin<void(error_code)>([](auto) {}), boost::system::system_error);
    error_code error;
    const int none =
        asio::async_initiate<const fj::use_fiber_t, void(error_code, int)>([](auto) {}, fj::use_fiber[error]);
    CHECK(none == 0);
    CHECK(error == asio::error::operation_aborted);
    CHECK_THROWS_AS(begin<void()>([](auto) { throw std::out_of_range("begun"); }), std::out_of_range);
  });
}
