// Channels: senders and receivers meet, wait for each other, and are told of a close. What is sent is received, once,
// and each wait ends that something could end.

#include <cstddef>
#include <optional>

#include "test/model/waits.hpp"

#include "forkjoin/detail/channel_state.hpp"

namespace model {
namespace {

template <std::size_t capacity>
class channel_scenario : public waits_scenario {
 public:
  void after() override { all_.check_all(); }

 protected:
  void send(int n, const wait_limits& limits = {}) {
    parcel p(n);
    if (any_of(3) == 0) {
      const auto tried = channel_.try_send(p);
      if (tried.done) return ended(tried.closed ? wait_end::refused : wait_end::served, n, p);
      all_.kept(n, p);
    }
    ended(channel_.send(p, limits), n, p);
  }

  /// The number of the value; 0: there was none.
  int receive(const wait_limits& limits = {}) {
    std::optional<parcel> got;
    if (any_of(3) == 0) channel_.try_receive(got);
    if (!got) channel_.receive(got, limits);
    return got ? all_.received(*got) : 0;
  }

  void close() { check(channel_.close(), "the channel was open"); }

  parcels all_;

 private:
  void ended(wait_end end, int n, const parcel& p) {
    if (end == wait_end::served) {
      all_.sent(n, p);
    } else {
      all_.kept(n, p);
    }
  }

  fj::detail::channel_state<parcel> channel_{capacity};
};

/// As many values as receives. One sender's arrive in order.
template <std::size_t capacity>
class talk : public channel_scenario<capacity> {
 public:
  void thread(unsigned index) override {
    if (index == 0) {
      for (int n = 1; n <= 2; ++n) this->send(n);
    } else if (index == 1) {
      two_senders_ ? this->send(3) : receive(1);
    } else {
      receive(two_senders_ ? 3 : 1);
    }
  }

 private:
  void receive(int count) {
    for (int last = 0; count > 0; --count) {
      const int n = channel_scenario<capacity>::receive();
      check(n != 0, "an open channel gives a value");
      if (n == 3) continue;
      check(n > last, "values arrive in the order in which they were sent");
      last = n;
    }
  }

  const bool two_senders_ = any_of(2);
};

/// A close, while receivers wait or senders wait.
template <std::size_t capacity>
class close : public channel_scenario<capacity> {
 public:
  void thread(unsigned index) override {
    if (to_receivers_) {
      index == 0 ? send_and_close() : drain();
    } else {
      index == 0 ? receive_and_close() : this->send(static_cast<int>(index));
    }
  }

 private:
  void send_and_close() {
    for (int n = 1; n <= values_; ++n) this->send(n);
    channel_scenario<capacity>::close();
  }

  void receive_and_close() {
    if (values_ != 0) this->receive();
    channel_scenario<capacity>::close();
    drain();
  }

  void drain() {
    while (this->receive() != 0) {}
  }

  const bool to_receivers_ = any_of(2);
  const int values_ = any_of(3);
};

/// Waits that may end by a limit.
template <std::size_t capacity>
class limits : public channel_scenario<capacity> {
 public:
  void thread(unsigned index) override {
    if (index == 0) {
      this->send(1, soon);
      if (any_of(2)) this->send(2, soon);
      channel_scenario<capacity>::close();
      while (this->receive() != 0) {}  // what no other has received
    } else if (index == 1 || any_of(2)) {
      this->receive(soon);
    } else {
      this->send(3, soon);
    }
  }
};

}  // namespace

const named_scenario scenarios[] = {
    {"channel", 200'000, &make<talk<0>>},
    {"channel_buffered", 200'000, &make<talk<1>>},
    {"channel_close", 200'000, &make<close<0>>},
    {"channel_buffered_close", 200'000, &make<close<2>>},
    {"channel_limits", 200'000, &make<limits<0>>},
    {"channel_buffered_limits", 200'000, &make<limits<1>>},
    {},
};

}  // namespace model
