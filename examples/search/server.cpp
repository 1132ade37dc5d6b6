// Step 5 of the tutorial: a server that finds words. A client sends lines: a word, or "reload", which makes a new
// index.
//
//   search_server                   server and clients in one program
//   search_server port [folder]     until the program is ended; a client: nc localhost port

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <forkjoin/task_group.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <system_error>

#include "segments.hpp"

namespace {

using namespace std::chrono_literals;

// A file blocks its thread while it is read: meanwhile another thread takes over the P.
struct files : library {
  using library::library;
  std::string text(int document) const {
    return fj::blocking([&] { return library::text(document); });
  }
};

// The lines that come from a client; none at its end, after 30 s without one, and when the server ends.
class lines {
 public:
  lines(const fj::descriptor& from, const fj::stop_token& stop) : from_(from), stop_(stop) {}

  std::optional<std::string> next() {
    for (;;) {
      if (const auto end = buffer_.find('\n'); end != std::string::npos) {
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return line;
      }
      char bytes[1000];
      std::error_code error;
      const std::size_t got = fj::read(from_, bytes, sizeof(bytes), error,
                                       {.until = std::chrono::steady_clock::now() + 30s, .stop = &stop_});
      if (got == 0 || buffer_.size() > 10'000) return {};
      buffer_.append(bytes, got);
    }
  }

 private:
  const fj::descriptor& from_;
  const fj::stop_token& stop_;
  std::string buffer_;
};

class search_server {
 public:
  explicit search_server(std::string folder) : folder_(std::move(folder)) { reload(); }

  // Until the door is closed. Each connection is a fiber.
  void serve(const fj::descriptor& door) {
    for (std::error_code error; error != std::errc::bad_file_descriptor;) {
      fj::descriptor client = fj::accept(door, error);
      if (error) {
        fj::sleep_for(1ms);  // with no descriptor free: until another connection ends
      } else {
        static_cast<void>(connections_.go([this, c = std::move(client)](fj::stop_token stop) { talk(c, stop); }));
      }
    }
  }

 private:
  struct content {
    explicit content(const std::string& folder) : documents(folder), index(documents) {}
    files documents;
    segments index;
  };

  void talk(const fj::descriptor& client, const fj::stop_token& stop) {
    lines from(client, stop);
    while (const auto line = from.next()) {
      const std::string answer = answer_to(*line) + '\n';
      std::error_code error;
      fj::write(client, answer.data(), answer.size(), error);
      if (error) return;
    }
  }

  std::string answer_to(const std::string& line) {
    try {
      if (line == "reload") reload();
      const auto now = current();
      if (line == "reload") return std::to_string(now->documents.size()) + " documents";
      return best_for(now->documents, line, now->index.find(line));
    } catch (const std::exception& error) {
      return std::string("error: ") + error.what();
    }
  }

  // The new index is made in parallel, while other connections use the old one.
  void reload() {
    auto made = std::make_shared<const content>(folder_);
    const std::scoped_lock lock(mutex_);
    content_ = std::move(made);
  }

  std::shared_ptr<const content> current() {
    const std::shared_lock lock(mutex_);
    return content_;
  }

  const std::string folder_;
  fj::shared_mutex mutex_;
  std::shared_ptr<const content> content_;
  fj::task_group connections_;  // the last member: its destructor asks the connections to stop, and waits for them
};

fj::descriptor new_socket() { return fj::descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

sockaddr_in at_port(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

fj::descriptor listen_at(int port) {
  fj::descriptor door = new_socket();
  const sockaddr_in address = at_port(port);
  if (::bind(door.native_handle(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(door.native_handle(), 128) != 0)
    throw std::system_error(errno, std::system_category(), "listen");
  return door;
}

int port_of(const fj::descriptor& door) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  ::getsockname(door.native_handle(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

// Sends a line and returns the answer.
std::string ask(int port, const std::string& line) {
  const fj::descriptor server = new_socket();
  const sockaddr_in address = at_port(port);
  fj::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  fj::write(server, (line + '\n').data(), line.size() + 1);
  return lines(server, fj::stop_token()).next().value_or("no answer");
}

}  // namespace

int main(int argc, char** argv) {
  return fj::run([&] {
    fj::descriptor door = listen_at(argc > 1 ? std::atoi(argv[1]) : 0);
    search_server server(argc > 2 ? argv[2] : "");
    if (argc > 1) {
      std::cout << "port " << port_of(door) << std::endl;
      server.serve(door);
      return 0;
    }
    auto serving = fj::go([&] { server.serve(door); });
    const int port = port_of(door);
    auto [river, none, reload] = fj::fork_join([=] { return ask(port, "river"); }, [=] { return ask(port, "ocean"); },
                                               [=] { return ask(port, "reload"); });
    std::cout << river << '\n' << none << '\n' << reload << '\n';
    door.close();
    serving.get();
    return 0;
  });
}
