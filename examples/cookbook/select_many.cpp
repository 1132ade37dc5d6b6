// A wait for any of several channels, whose number is known only at run time.

#include <cstddef>
#include <forkjoin/go.hpp>
#include <iostream>
#include <optional>
#include <vector>

int main() {
  std::vector<fj::channel<std::size_t>> channels;
  for (int c = 0; c < 5; ++c) {
    const auto& mine = channels.emplace_back(1);
    static_cast<void>(fj::go([=] {
      for (std::size_t i = 0; i < 100; ++i) mine.send(i);
      mine.close();
    }));
  }
  fj::select_list any;
  std::size_t sum = 0, open = channels.size();
  for (std::size_t from = 0; from < channels.size(); ++from) {
    any.on_receive(channels[from], [&, from](std::optional<std::size_t> value) {
      if (value) {
        sum += from * 1'000 + *value;
      } else {
        any.remove(from);
        --open;
      }
    });
  }
  while (open > 0) any.select();
  std::cout << "sum " << sum << '\n';
}
