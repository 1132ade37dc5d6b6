// A wait for any of several channels, whose number is known only at run time: a fiber for each passes on what comes,
// with the number of its channel.

#include <cstddef>
#include <forkjoin/go.hpp>
#include <iostream>
#include <utility>
#include <vector>

template <class T>
fj::receive_channel<std::pair<std::size_t, T>> merged(std::vector<fj::receive_channel<T>> inputs) {
  const fj::channel<std::pair<std::size_t, T>> all(0);
  static_cast<void>(fj::go([=] {
    fj::wait_group open;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      open.add();
      static_cast<void>(fj::go([&open, i, all, input = inputs[i]] {
        while (auto value = input.receive()) all.send({i, std::move(*value)});
        open.done();
      }));
    }
    open.wait();
    all.close();
  }));
  return all;
}

int main() {
  std::vector<fj::channel<std::size_t>> channels;
  for (int c = 0; c < 5; ++c) {
    const auto& mine = channels.emplace_back(1);
    static_cast<void>(fj::go([=] {
      for (std::size_t i = 0; i < 100; ++i) mine.send(i);
      mine.close();
    }));
  }
  std::size_t sum = 0;
  for (const auto& [from, value] : merged<std::size_t>({channels.begin(), channels.end()})) sum += from * 1'000 + value;
  std::cout << "sum " << sum << '\n';
}
