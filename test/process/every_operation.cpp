// A program with every public header and every public operation, for compilers_test.py: what the headers refer to must
// be in a library that another compiler has built.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <ranges>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>
#if __has_include(<boost/asio/async_result.hpp>)
#include <forkjoin/asio.hpp>
#endif
#if __has_include(<stdexec/execution.hpp>)
#include <forkjoin/execution.hpp>
#endif

#include "test/waits.hpp"

namespace {

using namespace std::chrono_literals;

#define EXPECT(what) expect(what, #what, __LINE__)
void expect(bool holds, const char* what, int line) {
  if (holds) return;
  std::fprintf(stderr, "line %d: not so: %s\n", line, what);
  std::exit(1);
}

template <class Expected, class F>
bool throws(F f) {
  try {
    f();
  } catch (const Expected&) {
    return true;
  }
  return false;
}

template <class Policy>
long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join<Policy>([=] { return fib<Policy>(n - 1); }, [=] { return fib<Policy>(n - 2); });
  return a + b;
}

template <class Policy>
long scope_fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  fj::basic_scope<Policy> s;
  s.fork([&a, n] { a = scope_fib<Policy>(n - 1); });
  s.fork([&b, n] { b = scope_fib<Policy>(n - 2); });
  s.join();
  return a + b;
}

struct failure : std::runtime_error {
  failure() : runtime_error("as expected") {}
};

template <class Policy>
void forks() {
  EXPECT(fib<Policy>(12) == 144);
  EXPECT(scope_fib<Policy>(12) == 144);
  fj::stop_source source;
  const fj::stop_token stop = source.get_token();
  EXPECT(std::get<2>(fj::fork_join<Policy>(stop, [] { return 1; }, [] { return 2; }, [] { return 3; })) == 3);
  fj::parallel_invoke<Policy>([] {}, [] {}, [] {});
  EXPECT(throws<failure>([] { fj::fork_join<Policy>([] { throw failure(); }, [] {}); }));
  EXPECT(throws<failure>([] { fj::fork_join<Policy>([] {}, [] { throw failure(); }); }));
  EXPECT(throws<failure>([] { fj::with_scope<Policy>([](auto& s) { s.fork([] { throw failure(); }); }); }));
  EXPECT(fj::with_scope<Policy>(stop, [](auto& s) {
    fj::basic_scope<Policy> inner(s);
    inner.fork([&s] { s.fork([] { fj::yield(); }); });
    return !s.stopped();
  }));
  std::vector<int> made(100);
  fj::parallel_for(0, 100, [&](int i) { made[static_cast<std::size_t>(i)] = i; });
  EXPECT(made[99] == 99);
  source.request_stop();
  EXPECT(throws<fj::cancelled>([&] { fj::fork_join<Policy>(stop, [] {}, [] {}); }));
}

void loops() {
  std::vector<int> v(10'000), to(v.size());
  std::iota(v.begin(), v.end(), 0);
  const auto odd = [](int i) { return i % 2 != 0; };
  fj::fork_each(0, 100, [&](int i) { --v[static_cast<std::size_t>(i)]; });
  fj::fork_each(v, [](int& i) { ++i; });
  EXPECT(fj::fork_reduce(0, 100, 0, std::plus<>(), [](int i) { return i; }) == 4'950);
  EXPECT(fj::fork_reduce(v, 0L, std::plus<>(), [](int i) { return i; }) > 0);
  fj::parallel_for(v, [](int& i) { ++i; }, {.grain = 16});
  fj::parallel_for(0, 10'000, 2, [&](int i) { --v[static_cast<std::size_t>(i)]; });
  fj::parallel_for_blocks(0, 10'000, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) v[static_cast<std::size_t>(i)] = i;
  });
  fj::parallel_for_2d(10, 10, [&](const auto& block) { static_cast<void>(block); });
  fj::parallel_for_2d(-5, 5, -5, 5, [](int, int, int, int) {});
  const long sum = fj::parallel_reduce(v, 0L, std::plus<>());
  EXPECT(sum == 49'995'000);
  EXPECT(fj::parallel_transform_reduce(v, 0L, std::plus<>(), [](int i) { return long{i}; }) == sum);
  fj::parallel_scan(v, to.begin());
  fj::parallel_inclusive_scan(v, to.begin());
  EXPECT(to.back() == sum);
  fj::parallel_exclusive_scan(v, to.begin(), 0);
  fj::parallel_transform(v, to.begin(), [](int i) { return -i; });
  fj::parallel_sort(to);
  fj::parallel_stable_sort(to, std::greater<>());
  EXPECT(to.front() == 0 && to.back() == -9'999);
  std::vector<int> merged(2 * v.size());
  fj::parallel_merge(v, v, merged.begin());
  EXPECT(std::ranges::is_sorted(merged));
  EXPECT(fj::parallel_copy_if(v, to.begin(), odd) == to.begin() + 5'000);
  EXPECT(fj::parallel_find(v, 17) == v.begin() + 17 && fj::parallel_find_if(v, odd) == v.begin() + 1);
  EXPECT(fj::parallel_any_of(v, odd) && !fj::parallel_none_of(v, odd) && !fj::parallel_all_of(v, odd));
  EXPECT(fj::parallel_partition(v, odd) == v.begin() + 5'000);
  EXPECT(fj::parallel_stable_partition(v, odd) == v.begin() + 5'000);
  fj::combinable<long> all;
  fj::parallel_for(v, [&](int i) { all.with_local([i](long& mine) { mine += i; }); });
  EXPECT(all.combine(std::plus<>()) == sum);
}

void fibers(fj::runtime& rt) {
  std::thread([] { fj::run([] {}); }).join();  // outside of rt, so the default runtime is there
  EXPECT(throws<std::logic_error>([] { fj::default_options({.procs = 2}); }));
  EXPECT(fj::go({.stack_size = 1 << 20}, [] { return 1; }).get() == 1);
  EXPECT(rt.go({.stack_size = 1 << 20}, [] { return 1; }).get() == 1);
  auto a = rt.go([] { return 1; });
  auto b = fj::go([](fj::stop_token stop) {
    EXPECT(throws<fj::cancelled>([&] { fj::sleep_for(1h, {.stop = &stop}); }));
    return 2;
  });
  a.wait();
  EXPECT(a.ready() && a.wait_for(1h) && a.wait_until(std::chrono::steady_clock::now()) && a.get() == 1);
  b.request_stop();
  EXPECT(b.get() == 2);
  EXPECT(throws<failure>([] { fj::go([]() -> int { throw failure(); }).get(); }));
  EXPECT(throws<fj::timed_out>([] { fj::sleep_for(1h, {.until = std::chrono::steady_clock::now() + 1ms}); }));
  fj::sleep_until(std::chrono::system_clock::now() + 1ms);
  fj::yield();
  EXPECT(fj::blocking([] { return 3; }) == 3 && fj::blocking_now([] { return 4; }) == 4);
  fj::local<int> value;
  value.get() = 5;
  EXPECT(*value == 5);
}

void channels() {
  const fj::channel<int> c(0), buffered(1);
  const fj::send_channel<int> in = c;
  const fj::receive_channel<int> out = c;
  auto sends = fj::go([=] {
    for (int i = 0; i < 3; ++i) in.send(i);
    in.close();
  });
  EXPECT(out.receive() == 0 && c.receive() == 1);
  int turns = 0;
  for (const int i : out) turns += i;
  sends.get();
  EXPECT(turns == 2 && !c.try_receive() && throws<fj::channel_closed>([&] { c.send(0); }));
  EXPECT(buffered.try_send(7) && !buffered.try_send(8) && buffered.size() == 1 && buffered.capacity() == 1);
  EXPECT(throws<fj::timed_out>([&] { buffered.send(8, {.until = std::chrono::steady_clock::now() + 1ms}); }));
  const auto nothing = [] {};
  EXPECT(fj::select(fj::on_receive(buffered, [&](std::optional<int> i) { turns = i.value_or(0); })) == 0 && turns == 7);
  EXPECT(fj::select(fj::on_receive(buffered, [](std::optional<int>) {}), fj::after(1ms, nothing)) == 1);
  EXPECT(fj::select(fj::on_receive(buffered, [](std::optional<int>) {}), fj::otherwise(nothing)) == 1);
  EXPECT(fj::select(fj::on_send(buffered, 9, nothing)) == 0);
  EXPECT(throws<fj::timed_out>([&] { fj::channel<int>().send(0, {.until = std::chrono::steady_clock::now() + 1ms}); }));
}

void locks() {
  const auto soon = [] { return std::chrono::steady_clock::now() + 1ms; };
  fj::mutex m;
  m.lock();
  EXPECT(!m.try_lock() && !m.try_lock_for(1ms) && !m.try_lock_until(soon()));
  auto waits = fj::go([&] { const std::scoped_lock lock(m); });
  fj::yield();
  m.unlock();
  waits.get();

  fj::shared_mutex s;
  s.lock_shared();
  EXPECT(s.try_lock_shared() && s.try_lock_shared_for(1ms) && s.try_lock_shared_until(soon()) && !s.try_lock());
  EXPECT(!s.try_lock_for(1ms) && !s.try_lock_until(soon()));
  for (int i = 0; i < 4; ++i) s.unlock_shared();
  s.lock();
  auto reads = fj::go([&] { const std::shared_lock lock(s); });
  fj::yield();
  s.unlock();
  reads.get();

  fj::condition_variable changed;
  bool is_set = false;
  auto sets = fj::go([&] {
    const std::scoped_lock lock(m);
    is_set = true;
    changed.notify_one();
    changed.notify_all();
  });
  std::unique_lock lock(m);
  changed.wait(lock, [&] { return is_set; });
  EXPECT(changed.wait_for(lock, 1ms) == std::cv_status::timeout);
  EXPECT(changed.wait_until(lock, soon(), [&] { return is_set; }));
  sets.get();

  fj::semaphore permits(1);
  permits.acquire();
  EXPECT(!permits.try_acquire() && !permits.try_acquire_for(1ms) && !permits.try_acquire_until(soon()));
  auto acquires = fj::go([&] { permits.acquire(); });
  fj::yield();
  permits.release();
  acquires.get();

  fj::latch both(2);
  auto arrives = fj::go([&] { both.count_down(); });
  both.arrive_and_wait();
  EXPECT(both.try_wait());
  arrives.get();
  int phases = 0;
  fj::barrier meeting(2, [&] { ++phases; });
  auto meets = fj::go([&] {
    meeting.arrive_and_wait();
    meeting.arrive_and_drop();
  });
  meeting.arrive_and_wait();
  meeting.wait(meeting.arrive());
  meets.get();
  EXPECT(phases == 2);
  fj::once once;
  once.call([&] { is_set = false; });
  EXPECT(!is_set);
}

void waits() {
  for (const auto make : test::ways_to_wait) {
    const auto way = make();
    EXPECT(!way.ask || !way.ask());
    auto waits = fj::go([&] { way.wait({}); });
    fj::yield();
    way.open();
    waits.get();
  }
}

void descriptors() {
  const int listens = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT(bind(listens, generic, size) == 0 && listen(listens, 8) == 0 && getsockname(listens, generic, &size) == 0);
  fj::descriptor door(listens);
  auto server = fj::go([&] { return fj::accept(door); });
  fj::descriptor to(::socket(AF_INET, SOCK_STREAM, 0));
  fj::connect(to, generic, size);
  const fj::descriptor from = server.get();
  char byte = 'x';
  fj::writable(to);
  auto reads = fj::go([&] { return fj::read(from, &byte, 1); });
  EXPECT(fj::write(to, "y", 1) == 1 && reads.get() == 1 && byte == 'y');
  std::error_code error;
  EXPECT(fj::write(to, "z", 1, error) == 1);
  fj::readable(from);
  fj::readable(from, error);
  fj::writable(to, error);
  EXPECT(fj::read(from, &byte, 1, error) == 1 && !error);
  EXPECT(!fj::accept(door, error, {.until = std::chrono::steady_clock::now() + 1ms}) && error == std::errc::timed_out);
  fj::descriptor more(::socket(AF_INET, SOCK_STREAM, 0));
  fj::connect(more, generic, size, error);
  EXPECT(!error && more.native_handle() >= 0);
  more.close();
  int ends[2];
  EXPECT(pipe2(ends, O_CLOEXEC) == 0);
  fj::writable(ends[1]);
  fj::writable(ends[1], error);
  EXPECT(::write(ends[1], "x", 1) == 1);
  fj::readable(ends[0]);
  fj::readable(ends[0], error);
  EXPECT(!error);
  close(ends[0]);
  close(ends[1]);
}

void others() {
#if __has_include(<boost/asio/async_result.hpp>)
  std::thread thread;
  const int got = boost::asio::async_initiate<const fj::use_fiber_t, void(int)>(
      [&](auto handler) { thread = std::thread([end = std::move(handler)]() mutable { end(6); }); }, fj::use_fiber);
  thread.join();
  EXPECT(got == 6);
#endif
#if __has_include(<stdexec/execution.hpp>)
  EXPECT(fj::wait(stdexec::schedule(fj::this_runtime().scheduler()) | stdexec::then([] { return 7; })) == 7);
#endif
}

void all(unsigned p) {
  fj::runtime rt({.procs = p});
  rt.run([&] {
    EXPECT(fj::procs() == p && fj::this_proc() >= 0);
    forks<fj::continuations>();
    forks<fj::tasks>();
    forks<fj::policy<fj::first_child_first, fj::run_on_top>>();
    forks<fj::policy<fj::first_child_first, fj::leapfrog>>();
    forks<fj::policy<fj::last_child_first, fj::leave_stack>>();
    forks<fj::policy<fj::last_child_first, fj::leapfrog>>();
    loops();
    fibers(rt);
    channels();
    locks();
    waits();
    descriptors();
    others();
  });
  fibers(rt);  // outside of any runtime, too
  channels();
  locks();
  waits();
  descriptors();
  others();
  EXPECT(rt.procs() == p);
  static_cast<void>(rt.stats());
}

}  // namespace

int main() {
  EXPECT(fj::print_fibers_on(SIGUSR1));
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) EXPECT(!fj::print_fibers_on(fault));
  for (const unsigned p : {1u, 2u, 4u}) all(p);
  EXPECT(fj::run([] { return fib<fj::continuations>(10); }) == 55);
  EXPECT(std::freopen("/dev/null", "w", stderr));
  fj::print_fibers();
  EXPECT(fj::count_fibers().waiting == 0);
  EXPECT(fj::describe_fibers().find("P 0") != std::string::npos);
}
