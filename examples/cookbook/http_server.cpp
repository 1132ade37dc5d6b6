// HTTP by Boost.Beast: a branch of a scope for each connection, in straight code. A request may fork.
#include <forkjoin/asio.hpp>

#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <charconv>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <iostream>
#include <ranges>
#include <thread>
using boost::asio::ip::tcp;
namespace http = boost::beast::http;
void serve(tcp::socket peer) try {
  boost::beast::flat_buffer buffer;
  http::request<http::string_body> in;
  http::async_read(peer, buffer, in, fj::use_fiber);
  unsigned count = 0;  // not by std::stoul, which reads errno: that is the thread's, and a wait may change the thread
  std::from_chars(in.target().data() + 1, in.target().data() + in.target().size(), count);
  http::response<http::string_body> out(http::status::ok, in.version());
  out.body() = std::to_string(fj::parallel_reduce(std::views::iota(0u, count), 0L, std::plus<>()));
  out.prepare_payload();
  http::async_write(peer, out, fj::use_fiber);
} catch (const boost::system::system_error&) {}  // the peer has gone, or sends no HTTP

int main() {
  boost::asio::io_context context;
  tcp::acceptor door(context, {boost::asio::ip::address_v4::loopback(), 0});
  const std::jthread io([&, stays = boost::asio::make_work_guard(context)] { context.run(); });  // does nothing else
  auto server = fj::go([&] {
    fj::scope all;
    for (int i = 0; i < 2; ++i) all.fork([s = door.async_accept(fj::use_fiber)]() mutable { serve(std::move(s)); });
  });
  tcp::iostream client(door.local_endpoint());
  client << "GET /1000 HTTP/1.0\r\n\r\n" << std::flush;
  for (std::string line; std::getline(client, line);) std::cout << line << '\n';
  tcp::iostream(door.local_endpoint()) << "no HTTP\r\n\r\n";
  server.get();
  context.stop();
}
