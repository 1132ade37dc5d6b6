// A wait ends at a time, not after one.
// expect: receive(std::chrono::duration<R, P>) const = delete;  // {.until = std::chrono::steady_clock::now() + 1s}
// expect: send(const T&, std::chrono::duration<R, P>) const = delete;  // {.until = std::chrono::steady_clock::now() + 1s}

#include <chrono>

#include "forkjoin/go.hpp"

using namespace std::chrono_literals;

template <class Channel>
concept waits_for = requires(Channel c) { c.receive(1s); } || requires(Channel c) { c.send(1, 1s); };
static_assert(!waits_for<fj::channel<int>> && !waits_for<fj::send_channel<int>> &&
              !waits_for<fj::receive_channel<int>>);

int main() {
  const fj::channel<int> c(1);
  const fj::send_channel<int> out = c;
  const fj::receive_channel<int> in = c;
#ifdef FIXED
  const fj::wait_options one_second{.until = std::chrono::steady_clock::now() + 1s};
#else
  const auto one_second = 1s;
#endif
  c.send(1, one_second);
  c.receive(one_second);
  out.send(1, one_second);
  in.receive(one_second);
}
