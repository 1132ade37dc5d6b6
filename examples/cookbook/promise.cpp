// A promise: a value that another fiber, or a thread of another library, gives later.

#include <forkjoin/go.hpp>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

// Stands for a library that calls back on a thread of its own.
void look_up(std::string name, std::function<void(std::string)> then) {
  static std::jthread library;
  library = std::jthread([=] { then(name + " is 127.0.0.1"); });
}

std::string address_of(const std::string& name) {
  // Shared, because a std::function is copied.
  const auto promise = std::make_shared<fj::promise<std::string>>();
  auto address = promise->get_future();
  look_up(name, [=](std::string found) { promise->set_value(std::move(found)); });
  return address.get();
}

int main() {
  std::cout << fj::run([] { return address_of("localhost"); }) << '\n';
  fj::future<int> never = fj::promise<int>().get_future();
  try {
    std::cout << never.get() << '\n';
  } catch (const fj::broken_promise&) {
    std::cout << "no value came\n";
  }
}
