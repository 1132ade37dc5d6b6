// The system has no more descriptors to give: each wait that needs one fails with an error, does neither hang nor spin,
// and goes well when there are some again.

#include <fcntl.h>
#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <vector>

#include "forkjoin/go.hpp"
#include "test/process/child.hpp"
#include "test/sockets.hpp"
#include "test/support.hpp"

namespace {

using namespace std::chrono_literals;

const auto no_more = std::errc::too_many_files_open;

// Takes all numbers but so many, and gives them back at its end.
class all_taken {
 public:
  explicit all_taken(unsigned but) {
    for (int taken; (taken = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken_.push_back(taken);
    while (but-- > 0 && !taken_.empty()) give_one();
  }
  ~all_taken() {
    while (!taken_.empty()) give_one();
  }
  all_taken(const all_taken&) = delete;
  all_taken& operator=(const all_taken&) = delete;

 private:
  void give_one() {
    close(taken_.back());
    taken_.pop_back();
  }
  std::vector<int> taken_;
};

std::error_code error_of_read(const fj::descriptor& from, fj::wait_options options = {}) {
  char byte;
  std::error_code error;
  fj::read(from, &byte, 1, error, options);
  return error;
}

int body(unsigned procs) {
  const rlimit few{64, 64};
  if (setrlimit(RLIMIT_NOFILE, &few) != 0) return 1;
  fj::runtime rt(test::with_procs(procs));
  rt.go([] {}).get();  // its thread has been started
  const auto soon = [] { return std::chrono::steady_clock::now() + 2ms; };

  // The first wait opens an epoll and two eventfds.
  auto way = test::make_pipe();
  for (const unsigned left : {0u, 1u, 2u}) {
    const all_taken taken(left);
    if (rt.run([&] { return error_of_read(way.first); }) != no_more) return 2;
    std::error_code error;
    rt.run([&] { fj::readable(way.first.native_handle(), error); });
    if (error != no_more) return 3;
  }
  {
    const all_taken taken(0);
    if (error_of_read(way.first) != no_more) return 4;  // a thread's eventfd
  }
  {
    const all_taken taken(3);
    if (rt.run([&] { return error_of_read(way.first, {.until = soon()}); }) != std::errc::timed_out) return 5;
    // From now on the runtime needs no other, but for a second raw wait of one number, which takes a duplicate.
    std::error_code error;
    rt.run([&] { fj::readable(way.first.native_handle(), error, {.until = soon()}); });
    if (error != no_more) return 6;
  }
  if (error_of_read(way.first, {.until = soon()}) != std::errc::timed_out) return 7;

  // A connection that finds no number stays in the queue.
  const test::listener at;
  const fj::descriptor client = at.connect();
  const auto accepts = [&] {
    std::error_code error;
    const fj::descriptor peer = fj::accept(at.socket, error);
    return error;
  };
  {
    const all_taken taken(0);
    for (int i = 0; i < 3; ++i)
      if (rt.run(accepts) != no_more) return 8;
  }
  return rt.run(accepts) == std::error_code() ? 0 : 9;
}

}  // namespace

int main() {
  test::verdict verdict;
  for (const unsigned p : {1u, 2u, 8u}) {
    const test::ending end = test::in_child([=] { return body(p); }, 60);
    const std::string name = "P = " + std::to_string(p);
    verdict.check(!end.too_late, name + ": hangs");
    verdict.check(end.too_late || end.code == 0, name + ": exit code " + std::to_string(end.code) + ", signal " +
                                                     std::to_string(end.signal) + ", said " + end.said);
  }
  return verdict.exit_code();
}
