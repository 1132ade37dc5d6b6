// A promise: a value that another fiber, or a thread of another library, gives later. A channel with room for one value
// is one. Closed without a value, it is a broken promise.

#include <forkjoin/go.hpp>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

// Stands for a library that calls back on a thread of its own.
void look_up(std::string name, std::function<void(std::string)> then) {
  static std::jthread library;
  library = std::jthread([=] { then(name + " is 127.0.0.1"); });
}

std::string address_of(const std::string& name) {
  const fj::channel<std::string> promise(1);
  look_up(name, [=](std::string found) { promise.send(std::move(found)); });  // has room: does not wait
  return *promise.receive();
}

int main() {
  std::cout << fj::run([] { return address_of("localhost"); }) << '\n';

  const fj::channel<int> broken(1);
  auto waits = fj::go([=] { return broken.receive(); });
  broken.close();
  std::cout << (waits.get() ? "a value\n" : "no value came\n");
}
