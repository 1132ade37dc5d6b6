// A clock that never goes back.
#pragma once

#include "version.h"

#include <chrono>

namespace tbb {

class tick_count {
 public:
  using clock_type = std::chrono::steady_clock;

  class interval_t : public clock_type::duration {
   public:
    interval_t() : clock_type::duration(zero()) {}
    explicit interval_t(double seconds)
        : clock_type::duration(
              std::chrono::duration_cast<clock_type::duration>(std::chrono::duration<double>(seconds))) {}

    double seconds() const { return std::chrono::duration<double>(*this).count(); }

    friend interval_t operator+(const interval_t& a, const interval_t& b) { return interval_t(a.own() + b.own()); }
    friend interval_t operator-(const interval_t& a, const interval_t& b) { return interval_t(a.own() - b.own()); }

   private:
    friend class tick_count;
    explicit interval_t(clock_type::duration own) : clock_type::duration(own) {}
    const clock_type::duration& own() const { return *this; }
  };

  tick_count() = default;

  static tick_count now() { return tick_count(clock_type::now()); }
  /// Seconds from one tick to the next.
  static double resolution() { return interval_t(clock_type::duration(1)).seconds(); }
  friend interval_t operator-(const tick_count& a, const tick_count& b) { return a.since(b); }

 private:
  interval_t since(const tick_count& other) const { return interval_t(at_ - other.at_); }

  explicit tick_count(clock_type::time_point at) : at_(at) {}

  clock_type::time_point at_{};
};

}  // namespace tbb
