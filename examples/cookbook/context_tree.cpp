// A tree of contexts: a request to stop reaches everything below, and nothing above or beside.

#include <chrono>
#include <forkjoin/go.hpp>
#include <functional>
#include <iostream>
#include <stop_token>

class context {
 public:
  context() : context(fj::stop_token()) {}  // a root: that token is never asked to stop
  explicit context(fj::stop_token above) : link_(std::move(above), [this] { source_.request_stop(); }) {}

  fj::stop_token token() const { return source_.get_token(); }
  void stop() { source_.request_stop(); }

 private:
  fj::stop_source source_;
  std::stop_callback<std::function<void()>> link_;  // after the source, so that it is unlinked first
};

int main() {
  context server;
  context first(server.token()), second(server.token());
  const auto serve = [](context& of) {
    return fj::go([token = of.token()] {
      try {
        fj::sleep_for(std::chrono::hours(1), {.stop = &token});
      } catch (const fj::cancelled&) {}
    });
  };
  auto a = serve(first), b = serve(second);
  first.stop();
  a.get();
  std::cout << "the first has stopped; asked to stop: the second " << second.token().stop_requested() << '\n';
  server.stop();
  b.get();
  std::cout << "the second has stopped\n";
}
