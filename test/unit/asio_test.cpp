// Asio's operations, waited for by fibers. Tried: without the handler's destructor the test of a dropped operation
// hangs.
#include "forkjoin/asio.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "forkjoin/fork_each.hpp"
#include "forkjoin/forkjoin.hpp"
#include "forkjoin/go.hpp"
#include "test/support.hpp"

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::ip::udp;
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

// A match condition that any text fulfils.
struct to_its_end {
  using result_type = bool;  // by which Asio knows it
  template <class I>
  std::pair<I, bool> operator()(I begin, I end) const {
    return {end, begin != end};
  }
};

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

// Asio chooses among overloads of a name by what the token's result would be. Tried with a result type that had to be
// deduced: those that accept into a socket do not compile.
TEST_CASE("asio: each form of accept and connect") {
  io side;
  asio::io_context& context = side.context;
  tcp::acceptor door(context, {asio::ip::address_v4::loopback(), 0});
  const std::array server{door.local_endpoint()};
  fj::run([&] {
    tcp::socket a(context), b(context), c(context), d(context), e(context), f(context), g(context), h(context);
    a.async_connect(server[0], fj::use_fiber);
    CHECK(asio::async_connect(b, server, fj::use_fiber) == server[0]);
    const auto any = [](const error_code&, const tcp::endpoint&) { return true; };
    CHECK(asio::async_connect(c, server, any, fj::use_fiber) == server[0]);
    CHECK(asio::async_connect(d, server.begin(), server.end(), fj::use_fiber) == server.begin());
    CHECK(asio::async_connect(e, server.begin(), server.end(), any, fj::use_fiber) == server.begin());
    for (tcp::socket* more : {&f, &g, &h}) more->async_connect(server[0], fj::use_fiber);

    tcp::endpoint peer;
    tcp::socket into(context), into_with_peer(context);
    door.async_wait(tcp::acceptor::wait_read, fj::use_fiber);
    door.async_accept(into, fj::use_fiber);
    CHECK(into.remote_endpoint() == a.local_endpoint());
    door.async_accept(into_with_peer, peer, fj::use_fiber);
    CHECK(peer == b.local_endpoint());
    CHECK(door.async_accept(fj::use_fiber).remote_endpoint() == c.local_endpoint());
    CHECK(door.async_accept(context, fj::use_fiber).remote_endpoint() == d.local_endpoint());
    CHECK(door.async_accept(context.get_executor(), fj::use_fiber).remote_endpoint() == e.local_endpoint());
    door.async_accept(peer, fj::use_fiber);
    CHECK(peer == f.local_endpoint());
    door.async_accept(context, peer, fj::use_fiber);
    CHECK(peer == g.local_endpoint());
    door.async_accept(context.get_executor(), peer, fj::use_fiber);
    CHECK(peer == h.local_endpoint());

    fj::fork_join(
        [&] {
          error_code error;
          tcp::socket none(context);
          door.async_accept(none, fj::use_fiber[error]);
          const bool waited = error != asio::error::bad_descriptor;  // when it was closed
          CHECK((error == asio::error::operation_aborted || !waited));
        },
        [&] { asio::post(context, [&] { door.close(); }); });
  });
}

TEST_CASE("asio: each form of a read and a write") {
  io side;
  tcp::acceptor door(side.context, {asio::ip::address_v4::loopback(), 0});
  fj::run([&] {
    tcp::socket to(side.context);
    to.async_connect(door.local_endpoint(), fj::use_fiber);
    tcp::socket from = door.async_accept(fj::use_fiber);
    const auto word = asio::buffer("word\n", 5);
    std::string line;
    const auto text = asio::dynamic_buffer(line);
    asio::streambuf stream;
    std::string room(5, 0);
    const auto five = asio::buffer(room);
    const auto all = asio::transfer_all();

    CHECK(to.async_write_some(word, fj::use_fiber) == 5);
    from.async_wait(tcp::socket::wait_read, fj::use_fiber);
    CHECK(from.async_read_some(five, fj::use_fiber) == 5);
    CHECK(to.async_send(word, fj::use_fiber) == 5);
    CHECK(from.async_receive(five, fj::use_fiber) == 5);
    CHECK(to.async_send(word, 0, fj::use_fiber) == 5);
    CHECK(from.async_receive(five, 0, fj::use_fiber) == 5);
    CHECK(room == "word\n");

    CHECK(asio::async_write(to, word, fj::use_fiber) == 5);
    CHECK(asio::async_read(from, five, fj::use_fiber) == 5);
    CHECK(asio::async_write(to, word, all, fj::use_fiber) == 5);
    CHECK(asio::async_read(from, five, all, fj::use_fiber) == 5);
    line = "word\n";
    CHECK(asio::async_write(to, text, fj::use_fiber) == 5);
    CHECK(asio::async_read(from, text, asio::transfer_exactly(5), fj::use_fiber) == 5);
    CHECK(line == "word\n");
    CHECK(asio::async_write(to, text, all, fj::use_fiber) == 5);
    CHECK(asio::async_read(from, stream, asio::transfer_exactly(5), fj::use_fiber) == 5);
    CHECK(asio::async_write(to, stream, fj::use_fiber) == 5);
    CHECK(asio::async_read_until(from, text, '\n', fj::use_fiber) == 5);
    CHECK(asio::async_write(to, text, fj::use_fiber) == 5);
    CHECK(asio::async_read_until(from, text, "d\n", fj::use_fiber) == 5);
    CHECK(asio::async_write(to, text, fj::use_fiber) == 5);
    CHECK(asio::async_read_until(from, text, to_its_end(), fj::use_fiber) == 5);
    CHECK(asio::async_write(to, text, fj::use_fiber) == 5);
    CHECK(asio::async_read_until(from, stream, '\n', fj::use_fiber) == 5);
    CHECK(asio::async_write(to, stream, all, fj::use_fiber) == 5);
    CHECK(asio::async_read_until(from, stream, "d\n", fj::use_fiber) == 5);
    CHECK(asio::async_write(to, word, fj::use_fiber) == 5);
    asio::streambuf small(5);
    CHECK(asio::async_read(from, small, fj::use_fiber) == 5);
    to.close();
    error_code error;
    CHECK(asio::async_read(from, text, fj::use_fiber[error]) == 0);
    CHECK(error == asio::error::eof);
  });
}

TEST_CASE("asio: each form of a datagram's way") {
  io side;
  udp::socket to(side.context, {asio::ip::address_v4::loopback(), 0});
  udp::socket from(side.context, {asio::ip::address_v4::loopback(), 0});
  fj::run([&] {
    const auto word = asio::buffer("word\n", 5);
    std::string room(5, 0);
    const auto five = asio::buffer(room);
    udp::endpoint peer;
    CHECK(to.async_send_to(word, from.local_endpoint(), fj::use_fiber) == 5);
    from.async_wait(udp::socket::wait_read, fj::use_fiber);
    CHECK(from.async_receive_from(five, peer, fj::use_fiber) == 5);
    CHECK(to.async_send_to(word, from.local_endpoint(), 0, fj::use_fiber) == 5);
    CHECK(from.async_receive_from(five, peer, 0, fj::use_fiber) == 5);
    CHECK(peer == to.local_endpoint());
    to.async_connect(from.local_endpoint(), fj::use_fiber);
    CHECK(to.async_send(word, fj::use_fiber) == 5);
    CHECK(from.async_receive(five, fj::use_fiber) == 5);
    CHECK(to.async_send(word, 0, fj::use_fiber) == 5);
    CHECK(from.async_receive(five, 0, fj::use_fiber) == 5);
  });
}

TEST_CASE("asio: each form of a timer, a resolver, a signal and a call") {
  io side;
  asio::io_context& context = side.context;
  fj::run([&] {
    asio::steady_timer(context, 1ms).async_wait(fj::use_fiber);
    asio::system_timer(context, 1ms).async_wait(fj::use_fiber);
    asio::high_resolution_timer(context, 1ms).async_wait(fj::use_fiber);
    asio::deadline_timer(context, boost::posix_time::milliseconds(1)).async_wait(fj::use_fiber);

    const tcp::endpoint web(asio::ip::make_address("127.0.0.1"), 80);
    tcp::resolver resolver(context);
    CHECK(resolver.async_resolve("127.0.0.1", "80", fj::use_fiber).begin()->endpoint() == web);
    CHECK(resolver.async_resolve(tcp::v4(), "127.0.0.1", "80", fj::use_fiber).begin()->endpoint() == web);
    const auto numeric = tcp::resolver::numeric_host;
    CHECK(resolver.async_resolve("127.0.0.1", "80", numeric, fj::use_fiber).begin()->endpoint() == web);
    CHECK(resolver.async_resolve(tcp::v4(), "127.0.0.1", "80", numeric, fj::use_fiber).begin()->endpoint() == web);
    error_code error;
    const auto names = resolver.async_resolve(web, fj::use_fiber[error]);  // a machine may have no name
    CHECK((error || names.begin()->endpoint() == web));

    asio::signal_set signals(context, SIGUSR1);
    const int caught = std::get<0>(fj::fork_join([&] { return signals.async_wait(fj::use_fiber); },
                                                 [&] { asio::post(context, [] { std::raise(SIGUSR1); }); }));
    CHECK(caught == SIGUSR1);

    asio::post(context, fj::use_fiber);
    asio::defer(context, fj::use_fiber);
    asio::dispatch(context, fj::use_fiber);

    int ends[2];
    REQUIRE(pipe(ends) == 0);
    asio::posix::stream_descriptor reads(context, ends[0]), writes(context, ends[1]);
    std::string room(5, 0);
    CHECK(writes.async_write_some(asio::buffer("word\n", 5), fj::use_fiber) == 5);
    CHECK(reads.async_read_some(asio::buffer(room), fj::use_fiber) == 5);
    writes.async_wait(asio::posix::descriptor_base::wait_write, fj::use_fiber);
  });
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

// Tried: without the wait's second look for memory it aborts, as a fiber left with records and its P had no other
// deque.
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
