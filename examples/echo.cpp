// An echo over TCP, on the loopback. The server has a fiber for each connection; for each request it sums the numbers
// that came, by a parallel_reduce, and sends them back with the sum. The clients are fibers, too: all connect first,
// and then each waits for its answer before it sends again. Linux.
//
//   echo [connections [requests]]                  server and clients in one program; default 1000 10
//   echo server <port>
//   echo client <port> [connections [requests]]

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <functional>
#include <iostream>
#include <numeric>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace {

struct message {
  std::array<std::uint32_t, 1000> numbers;
  std::uint64_t sum = 0;
};

bool read_all(const fj::descriptor& from, message& into) {
  for (std::size_t got = 0; got < sizeof(into);) {
    const std::size_t more = fj::read(from, reinterpret_cast<char*>(&into) + got, sizeof(into) - got);
    if (more == 0) return false;
    got += more;
  }
  return true;
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

fj::descriptor tcp_socket() { return fj::descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

fj::descriptor listen_at(int port) {
  fj::descriptor made = tcp_socket();
  const int yes = 1;
  const sockaddr_in address = loopback(port);
  setsockopt(made.native_handle(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (bind(made.native_handle(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(made.native_handle(), 4096) != 0)
    throw std::system_error(errno, std::system_category(), "listen");
  return made;
}

int port_of(const fj::descriptor& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  getsockname(listener.native_handle(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

void serve_one(const fj::descriptor& client) {
  message m;
  try {
    while (read_all(client, m)) {
      m.sum = fj::parallel_reduce(m.numbers, std::uint64_t{0}, std::plus<>());
      fj::write(client, &m, sizeof(m));
    }
  } catch (const std::system_error& error) {
    std::cerr << error.what() << '\n';
  }
}

// Until the listener is closed.
void serve(const fj::descriptor& listener) {
  for (std::error_code error;;) {
    fj::descriptor client = fj::accept(listener, error);
    if (error) break;
    static_cast<void>(fj::go([client = std::move(client)] { serve_one(client); }));
  }
}

struct clients {
  clients(int port, int connections, int requests) : port(port), connections(connections), requests(requests) {}

  void run() {
    std::vector<fj::future<void>> all;
    for (int i = 0; i < connections; ++i) all.push_back(fj::go([this, i] { run_one(i); }));
    for (auto& each : all) each.get();
  }

  void run_one(int number) {
    try {
      const sockaddr_in address = loopback(port);
      const fj::descriptor server = tcp_socket();
      std::error_code refused;
      fj::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address), refused);
      connected.done();
      if (refused) throw std::system_error(refused, "connect");
      connected.wait();
      message sent, got;
      for (int i = 0; i < requests; ++i) {
        std::iota(sent.numbers.begin(), sent.numbers.end(), static_cast<std::uint32_t>(number + i));
        const auto begin = std::chrono::steady_clock::now();
        fj::write(server, &sent, sizeof(sent));
        const bool whole = read_all(server, got);
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
        sent.sum = std::accumulate(sent.numbers.begin(), sent.numbers.end(), std::uint64_t{0});
        if (!whole || got.numbers != sent.numbers || got.sum != sent.sum) ++errors;
        microseconds[static_cast<std::size_t>(number * requests + i)] = took.count();
      }
    } catch (const std::system_error& error) {
      std::cerr << error.what() << '\n';
      ++errors;
    }
  }

  void report(double seconds) {
    std::sort(microseconds.begin(), microseconds.end());
    const auto at = [&](double part) {
      return microseconds[static_cast<std::size_t>(part * (microseconds.size() - 1))];
    };
    std::cout << connections << " connections, " << microseconds.size() << " requests, " << errors << " errors\n"
              << static_cast<int>(microseconds.size() / seconds) << " requests a second; microseconds: p50 " << at(0.5)
              << ", p99 " << at(0.99) << ", p99.9 " << at(0.999) << '\n';
  }

  const int port, connections, requests;
  fj::wait_group connected;
  std::atomic<int> errors{0};
  std::vector<double> microseconds = std::vector<double>(static_cast<std::size_t>(connections * requests));
};

bool run_clients(int port, int connections, int requests) {
  clients all(port, connections, requests);
  all.connected.add(connections);
  const auto begin = std::chrono::steady_clock::now();
  all.run();
  all.report(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return all.errors == 0;
}

void allow_descriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const std::string role = !words.empty() && (words[0] == "server" || words[0] == "client") ? words[0] : "";
  if (!role.empty()) words.erase(words.begin());
  auto number = [&, next = std::size_t{0}](int otherwise) mutable {
    return next < words.size() ? std::atoi(words[next++].c_str()) : otherwise;
  };
  const int given_port = role.empty() ? 0 : number(0);
  const int connections = number(1000), requests = number(10);
  allow_descriptors();
  return fj::run([&] {
    if (role == "client") return run_clients(given_port, connections, requests) ? 0 : 1;
    fj::descriptor listener = listen_at(given_port);
    auto server = fj::go([&] { serve(listener); });
    if (role == "server") {
      std::cout << "port " << port_of(listener) << std::endl;
      server.get();
      return 0;
    }
    const bool right = run_clients(port_of(listener), connections, requests);
    listener.close();
    server.get();
    return right ? 0 : 1;
  });
}
