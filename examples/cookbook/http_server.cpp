// HTTP by Boost.Beast: a fiber for each connection, in straight code. A request may fork.

#include <forkjoin/asio.hpp>

#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <iostream>
#include <ranges>
#include <string>
#include <thread>

namespace asio = boost::asio;
namespace http = boost::beast::http;

void serve(boost::beast::tcp_stream peer) {
  boost::beast::flat_buffer buffer;
  http::request<http::string_body> request;
  http::async_read(peer, buffer, request, fj::use_fiber);
  const long count = std::stol(std::string(request.target().substr(1)));
  http::response<http::string_body> response(http::status::ok, request.version());
  response.body() = std::to_string(fj::parallel_reduce(std::views::iota(0L, count), 0L, std::plus<>()));
  response.prepare_payload();
  http::async_write(peer, response, fj::use_fiber);
}

int main() {
  asio::io_context context;
  asio::ip::tcp::acceptor door(context, {asio::ip::address_v4::loopback(), 0});
  auto guard = asio::make_work_guard(context);
  const std::jthread io([&] { context.run(); });  // does nothing else
  auto server = fj::go([&] { serve(boost::beast::tcp_stream(door.async_accept(fj::use_fiber))); });

  asio::ip::tcp::iostream client(door.local_endpoint());
  client << "GET /1000 HTTP/1.0\r\n\r\n" << std::flush;
  for (std::string line; std::getline(client, line);) std::cout << line << '\n';
  server.get();
  guard.reset();
}
