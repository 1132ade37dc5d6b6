// expect: fj::channel: a value must be movable without exceptions; send a std::unique_ptr to it
// expect: fj::go: the argument must be callable without arguments, or with a fj::stop_token
// expect: fj::on_receive: the handler takes a std::optional of the channel's values
// expect: fj::on_send: the handler takes no arguments

#include <optional>

#include "forkjoin/go.hpp"

struct may_throw {
  may_throw() = default;
  may_throw(may_throw&&) {}
};

int main() {
  fj::channel<int> c(1);
#ifdef FIXED
  fj::channel<int> d(1);
  static_cast<void>(fj::go([] {}));
  fj::select(fj::on_receive(c, [](std::optional<int>) {}), fj::on_send(c, 1, [] {}));
#else
  fj::channel<may_throw> d(1);
  static_cast<void>(fj::go([](int) {}));
  static_cast<void>(fj::on_receive(c, [](int*) {}));
  static_cast<void>(fj::on_send(c, 1, [](int) {}));
#endif
}
