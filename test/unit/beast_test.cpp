// HTTP by Boost.Beast, whose composed operations take the token, too.
#include "forkjoin/asio.hpp"

#include <doctest/doctest.h>

#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <functional>
#include <ranges>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "forkjoin/fork_each.hpp"
#include "forkjoin/forkjoin.hpp"
#include "forkjoin/go.hpp"
#include "test/support.hpp"

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

using request = http::request<http::string_body>;
using response = http::response<http::string_body>;

// Answers the sum below the number in each target, until the other side closes.
void serve(beast::tcp_stream from) {
  for (beast::flat_buffer buffer;;) {
    request got;
    error_code error;
    http::async_read(from, buffer, got, fj::use_fiber[error]);
    if (error == http::error::end_of_stream) return;
    REQUIRE_FALSE(error);
    const long count = std::stol(std::string(got.target().substr(1)));
    response answer(http::status::ok, got.version());
    answer.body() = std::to_string(fj::parallel_reduce(std::views::iota(0L, count), 0L, std::plus<>()));
    answer.prepare_payload();
    http::async_write(from, answer, fj::use_fiber);
  }
}

std::string ask(beast::tcp_stream& server, long count) {
  request wanted(http::verb::get, "/" + std::to_string(count), 11);
  wanted.set(http::field::host, "localhost");
  wanted.prepare_payload();
  http::async_write(server, wanted, fj::use_fiber);
  beast::flat_buffer buffer;
  response answer;
  http::async_read(server, buffer, answer, fj::use_fiber);
  CHECK(answer.result() == http::status::ok);
  return answer.body();
}

}  // namespace

TEST_CASE("beast: requests over HTTP, with a reduction in each") {
  asio::io_context context;
  auto guard = asio::make_work_guard(context);
  const std::jthread io([&] { context.run(); });
  for (const unsigned p : {1u, 2u, 8u}) {
    CAPTURE(p);
    fj::runtime rt({.procs = p});
    tcp::acceptor door(context, {asio::ip::address_v4::loopback(), 0});
    const int clients = test::divided(20);
    auto server = rt.go([&] {
      std::vector<fj::future<void>> all;
      for (int i = 0; i < clients; ++i)
        all.push_back(
            fj::go([s = door.async_accept(fj::use_fiber)]() mutable { serve(beast::tcp_stream(std::move(s))); }));
      for (auto& one : all) one.get();
    });
    rt.run([&] {
      fj::fork_each(0, clients, [&](int) {
        beast::tcp_stream to(context);
        to.async_connect(door.local_endpoint(), fj::use_fiber);
        CHECK(ask(to, 1000) == "499500");
        CHECK(ask(to, 10) == "45");
        error_code ignored;
        to.socket().shutdown(tcp::socket::shutdown_both, ignored);
      });
    });
    server.get();
  }
  guard.reset();
}
