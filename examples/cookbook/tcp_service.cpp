// A TCP service that echoes: a fiber for each connection, which ends if it is idle for 50 ms; and a graceful end.
#include <sys/socket.h>
#include <forkjoin/go.hpp>
#include <forkjoin/task_group.hpp>
#include <iostream>

auto in(int ms) { return std::chrono::steady_clock::now() + std::chrono::milliseconds(ms); }

void serve(const fj::descriptor& client, const fj::stop_token& stop) {
  char bytes[4096];
  std::error_code error;  // timed_out: idle; operation_canceled: asked to stop
  while (const std::size_t got = fj::read(client, bytes, sizeof(bytes), error, {.until = in(50), .stop = &stop}))
    if (fj::write(client, bytes, got, error, {.until = in(50)}); error) return;
}

int main() {
  const auto new_socket = [] { return fj::descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); };
  fj::descriptor door = new_socket();
  sockaddr at;  // without bind: on a free port
  socklen_t size = sizeof(at);
  if (::listen(door.native_handle(), 128) || ::getsockname(door.native_handle(), &at, &size)) return 1;
  fj::task_group all;
  static_cast<void>(all.go([&] {
    for (std::error_code error; error != std::errc::bad_file_descriptor;) {  // until door.close()
      fj::descriptor client = fj::accept(door, error);
      if (error) fj::sleep_for(std::chrono::milliseconds(1));  // with no descriptor free: until another connection ends
      if (!error) static_cast<void>(all.go([c = std::move(client)](fj::stop_token stop) { serve(c, stop); }));
    }
  }));
  const fj::descriptor client = new_socket();
  fj::connect(client, &at, size);
  char letter = 'a';
  fj::write(client, &letter, 1);
  std::cout << fj::read(client, &letter, 1) << " byte came back, then " << fj::read(client, &letter, 1) << '\n';
  door.close();
  try {
    all.wait({.until = in(100)});
  } catch (const fj::timed_out&) {}  // the group's destructor asks the rest to stop, and waits for it
}
