// The questions of execution.hpp by senders of a scheduler.
#pragma once

#include <cstddef>
#include <stdexec/execution.hpp>
#include <utility>

#include "bench/execution/execution.hpp"

namespace bench {

/// Pool(procs) starts the workers; get() is their scheduler.
template <class Pool>
class team_of {
 public:
  explicit team_of(int procs) : pool_(procs) {}

  void schedule() { stdexec::sync_wait(stdexec::schedule(pool_.get())); }
  template <class F>
  void bulk(std::size_t n, F f) {
    start(stdexec::bulk(stdexec::par, n, std::move(f)));
  }
  template <class F>
  void bulk_unchunked(std::size_t n, F f) {
    start(stdexec::bulk_unchunked(stdexec::par, n, std::move(f)));
  }
  template <class F>
  void bulk_chunked(std::size_t n, F f) {
    start(stdexec::bulk_chunked(stdexec::par, n, std::move(f)));
  }

 private:
  template <class Adaptor>
  void start(Adaptor loop) {
    stdexec::sync_wait(stdexec::schedule(pool_.get()) | std::move(loop));
  }

  Pool pool_;
};

}  // namespace bench
