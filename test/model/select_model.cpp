// A wait for one of several channels: exactly one case takes effect, each wait ends that something could end, and none
// is left behind in the queue of a channel.

#include <array>
#include <cstddef>
#include <optional>

#include "test/model/waits.hpp"

#include "forkjoin/detail/channel_state.hpp"
#include "runtime/wait/select_protocol.hpp"

namespace model {
namespace {

using parcel_channel = fj::detail::channel_state<parcel>;
using fj::detail::select_case;
using fj::detail::select_place;

/// A case that receives, or sends the value n.
struct on_channel : select_case {
  explicit on_channel(parcel_channel& c) { c.make_receive(*this, got); }
  on_channel(parcel_channel& c, int n) : number(n) { c.make_send(*this, to_send.emplace(n)); }

  std::optional<parcel> got, to_send;
  const int number = 0;
};

class select_scenario : public waits_scenario {
 public:
  void after() override { all_.check_all(); }

 protected:
  /// Returns the index of the case that took effect; the number of cases if none did. `closed`: its channel is.
  template <class... Cases>
  unsigned select(bool waits, const wait_limits& limits, Cases&... of) {
    const std::array<select_case*, sizeof...(of)> cases = {&of...};
    std::array<select_place, sizeof...(of)> places;
    const auto [end, chosen, closed] = fj::detail::selection::one_of(cases, places, waits, limits);
    unsigned index = 0, found = sizeof...(of);
    (look_at(of, &of == chosen && end == wait_end::served, closed, index++, found), ...);
    check(found != sizeof...(of) || !waits || end != wait_end::served, "a wait that is served is served by a case");
    closed_ = closed;
    return found;
  }
  template <class... Cases>
  unsigned select(Cases&... of) {
    return select(true, {}, of...);
  }

  void send(parcel_channel& to, int n, const wait_limits& limits = {}) {
    parcel p(n);
    if (to.send(p, limits) == wait_end::served) {
      all_.sent(n, p);
    } else {
      all_.kept(n, p);
    }
  }

  bool receive(parcel_channel& from, const wait_limits& limits = {}) {
    std::optional<parcel> got;
    from.receive(got, limits);
    if (got) all_.received(*got);
    return got.has_value();
  }

  parcel_channel first_{0}, second_{1};
  parcels all_;
  bool closed_ = false;  // the channel of the last case that took effect

 private:
  void look_at(on_channel& c, bool chosen, bool closed, unsigned index, unsigned& found) {
    const bool takes_effect = chosen && !closed;
    if (chosen) found = index;
    check(c.got.has_value() == (takes_effect && c.number == 0), "the case that took effect alone has a value");
    if (c.got) all_.received(*c.got);
    if (!c.to_send) return;
    if (takes_effect) {
      all_.sent(c.number, *c.to_send);
    } else {
      all_.kept(c.number, *c.to_send);
    }
  }
  void look_at(select_case&, bool chosen, bool, unsigned index, unsigned& found) {
    if (chosen) found = index;
  }
};

/// A receiver from two channels.
class choose : public select_scenario {
 public:
  void thread(unsigned index) override {
    if (index == 1) send(first_, 1);
    if (index == 2) send(second_, 2);
    for (int i = 0; index == 0 && i < 2; ++i) {
      on_channel a(first_), b(second_);
      select(a, b);
    }
  }
};

/// Two cases on one channel.
class twice : public select_scenario {
 public:
  void thread(unsigned index) override {
    parcel_channel& c = buffered_ ? second_ : first_;
    if (index != 0) {
      if (sends_) {
        receive(c);
      } else {
        send(c, static_cast<int>(index));
      }
      return;
    }
    for (int i = 0; i < 2; ++i) {
      if (sends_) {
        on_channel a(c, 1 + 2 * i), b(c, 2 + 2 * i);
        select(a, b);
      } else {
        on_channel a(c), b(c);
        select(a, b);
      }
    }
  }

 private:
  const bool sends_ = any_of(2), buffered_ = any_of(2);
};

/// Two that both send and receive: what one sends the other receives, and no strand receives from itself.
class crosswise : public select_scenario {
 public:
  void thread(unsigned index) override {
    if (index == 2) return;
    const int n = static_cast<int>(index) + 1;
    if (any_of(2)) pause();
    if (on_one_channel_) {
      on_channel a(first_, n), b(first_);
      select(a, b);
    } else if (index == 0) {
      on_channel a(first_, n), b(third_);
      select(a, b);
    } else {
      on_channel a(first_), b(third_, n);
      select(b, a);
    }
  }

 private:
  const bool on_one_channel_ = any_of(2);
  parcel_channel third_{0};
};

/// A channel that is closed meanwhile.
class close_one : public select_scenario {
 public:
  void thread(unsigned index) override {
    if (index == 1) check(first_.close(), "the channel was open");
    if (index == 2) send(second_, 2);
    if (index != 0) return;
    const bool sends = any_of(2);
    std::optional<on_channel> a;
    sends ? a.emplace(first_, 1) : a.emplace(first_);
    on_channel b(second_);
    const bool by_close = select(*a, b) == 0;
    check(!by_close || closed_, "a channel without values is ready once it is closed");
    if (by_close) check(receive(second_), "the other channel is as if it had not been looked at");
  }
};

/// A case on a time, and others that wait with a limit or not at all.
class limits : public select_scenario {
 public:
  void thread(unsigned index) override {
    if (index == 1) send(first_, 1, soon);
    if (index == 2 && any_of(2)) {
      send(first_, 2, soon);
    } else if (index == 2) {
      on_channel a(first_);
      select(false, {}, a);
    }
    if (index != 0) return;
    on_channel a(first_), b(second_);
    if (any_of(2)) {
      select_case time;
      time.at = 1;
      check(select(a, time, b) < 2, "a case on a channel or the time takes effect");
    } else {
      select(true, soon, a, b);
    }
  }
};

}  // namespace

const named_scenario scenarios[] = {
    {"select", 200'000, &make<choose>},
    {"select_twice", 200'000, &make<twice>},
    {"select_crosswise", 200'000, &make<crosswise>},
    {"select_close", 200'000, &make<close_one>},
    {"select_limits", 200'000, &make<limits>},
    {},
};

}  // namespace model
