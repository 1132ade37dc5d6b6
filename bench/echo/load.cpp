// The clients of the echo: one thread, epoll, a closed loop for each connection. It knows nothing of the library.
//
// A connection sends a request, waits for the whole answer, checks it, pauses for a random time of twice the given mean
// at most, and begins anew. The time of a request runs from the call that sends it to the end of the call that reads
// the end of its answer. The first part of the time does not count. Where the system permits it, the thread has a
// real-time priority, so that it does not wait for a processor on which the server computes. If other programs keep the
// server from the processors for so long that no answer counts, the clients go on until one does.

#include <netinet/in.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include "bench/echo/message.hpp"

namespace {

using micros = double;

constexpr micros warm_up = 500'000;

micros now() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

struct connection {
  int fd = -1;
  micros began = 0;
  std::size_t got = 0;
  message sent, answer;
};

class load {
 public:
  load(int port, std::size_t connections, double pause_ms, double seconds)
      : all_(connections), pause_(pause_ms * 1000), length_(seconds * 1e6), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    for (std::size_t i = 0; i < connections; ++i) {
      connect_to(port, all_[i]);
      std::iota(all_[i].sent.numbers.begin(), all_[i].sent.numbers.end(), static_cast<std::uint32_t>(i));
      epoll_event event{};
      event.events = EPOLLIN | EPOLLET;
      event.data.u64 = i;
      if (epoll_ctl(epoll_, EPOLL_CTL_ADD, all_[i].fd, &event) != 0) fail("echo load: epoll_ctl");
    }
  }

  void run() {
    const micros begin = now();
    counts_from_ = begin + std::min(warm_up, length_ / 2);
    micros end = counts_from_ + length_;
    for (std::size_t i = 0; i < all_.size(); ++i) pause(i, begin);
    for (micros at = begin; at < end; at = now()) {
      while (!due_.empty() && due_.top().first <= now()) {
        const std::size_t i = due_.top().second;
        due_.pop();
        send(i);
      }
      wait(std::min(end, due_.empty() ? end : due_.top().first));
      if (times_.empty() && errors_ == 0 && now() >= end) end += length_;
    }
    counted_ = end - counts_from_;
  }

  int report(bool realtime) {
    std::sort(times_.begin(), times_.end());
    const auto at = [&](double part) {
      return times_.empty() ? 0.0 : times_[static_cast<std::size_t>(part * static_cast<double>(times_.size() - 1))];
    };
    std::printf("priority %s\nrequests %zu\nerrors %d\nrate %.0f\np50 %.1f\np99 %.1f\np999 %.1f\nmax %.1f\n",
                realtime ? "realtime" : "usual", times_.size(), errors_,
                static_cast<double>(times_.size()) / counted_ * 1e6, at(0.5), at(0.99), at(0.999), at(1));
    return errors_ == 0 && !times_.empty() ? 0 : 1;
  }

 private:
  static void connect_to(int port, connection& c) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    c.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c.fd < 0 || connect(c.fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
      fail("echo load: connect");
  }

  void pause(std::size_t i, micros from) {
    due_.emplace(pause_ > 0 ? from + std::uniform_real_distribution<>(0, 2 * pause_)(random_) : from, i);
  }

  // A request fits into the socket's buffer, as the one before has been answered.
  void send(std::size_t i) {
    connection& c = all_[i];
    ++c.sent.numbers[0];
    c.got = 0;
    c.began = now();
    if (::send(c.fd, &c.sent, sizeof(message), MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof(message))) give_up(c);
  }

  void give_up(connection& c) {
    ++errors_;
    c.got = sizeof(message);  // the connection sends no more
  }

  void wait(micros until) {
    epoll_event events[256];
    const double left = std::max(0.0, until - now());
    const timespec time{static_cast<time_t>(left / 1e6), static_cast<long>(std::fmod(left, 1e6) * 1e3)};
    const int count = epoll_pwait2(epoll_, events, 256, &time, nullptr);
    if (count < 0 && errno != EINTR) fail("echo load: epoll_pwait2");
    for (int k = 0; k < count; ++k) receive(events[k].data.u64);
  }

  void receive(std::size_t i) {
    connection& c = all_[i];
    while (c.got < sizeof(message)) {
      const ssize_t more =
          recv(c.fd, reinterpret_cast<char*>(&c.answer) + c.got, sizeof(message) - c.got, MSG_DONTWAIT);
      if (more < 0 && errno == EAGAIN) return;
      if (more <= 0) return give_up(c);
      c.got += static_cast<std::size_t>(more);
    }
    const micros end = now();
    if (end >= counts_from_) times_.push_back(end - c.began);
    const std::uint64_t sum = std::accumulate(c.sent.numbers.begin(), c.sent.numbers.end(), std::uint64_t{0});
    if (c.answer.numbers != c.sent.numbers || c.answer.sum != sum) ++errors_;
    pause(i, end);
  }

  std::vector<connection> all_;
  const micros pause_, length_;
  const int epoll_;
  micros counts_from_ = 0, counted_ = 0;
  int errors_ = 0;
  std::vector<micros> times_;
  std::mt19937 random_{1};  // NOLINT: each run pauses alike
  using due = std::pair<micros, std::size_t>;
  std::priority_queue<due, std::vector<due>, std::greater<>> due_;
};

}  // namespace

int run_load(int, char** argv) {
  load all(std::atoi(argv[2]), static_cast<std::size_t>(std::atoi(argv[3])), std::atof(argv[4]), std::atof(argv[5]));
  const sched_param first{.sched_priority = 1};
  const bool realtime = sched_setscheduler(0, SCHED_FIFO, &first) == 0;
  all.run();
  return all.report(realtime);
}
