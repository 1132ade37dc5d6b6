// Writes a trace: into one file, for one runtime. A flight recorder's lies in memory until it is asked for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "runtime/os/memory/mapped_file.hpp"
#include "runtime/trace/format.hpp"
#include "runtime/trace/ring.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class tracer {
 public:
  /// Throws std::system_error, which names the file, if it cannot be made or has no room for a ring of each P, and
  /// std::bad_alloc. `events`: the room of each thread, a power of two. nullptr: into memory. If a file has that name,
  /// it has the name no more.
  tracer(const char* path, unsigned procs, std::uint64_t events);

  /// Throws what write would, if the path cannot be written.
  static void refuse_unwritable(const char* path);

  /// A ring for a worker; nullptr if there is no room for it. It lives as long as the tracer. There are rings for all P
  /// from the begin on: to make one takes a millisecond.
  trace_ring* make_ring(std::uint32_t worker) noexcept FORKJOIN_EXCLUDES(mutex_);

  /// By threads without a ring of this trace.
  void add_outside(event what, unsigned proc, std::uint32_t fiber, std::uint64_t a, std::uint64_t b) noexcept
      FORKJOIN_EXCLUDES(mutex_);

  /// What an event calls a place: 0 if there is no room for more. The text outlives the trace, as literals do.
  std::uint64_t place(const char* what, std::source_location by) noexcept FORKJOIN_EXCLUDES(mutex_);
  /// And a text that need not; an empty one is 0.
  std::uint64_t text(std::string_view of) noexcept FORKJOIN_EXCLUDES(mutex_);

  /// Writes what there is now into a file of its own. Threads go on adding meanwhile: of a full ring the oldest events,
  /// which they overwrite, are left out. Throws as the constructor does. Some 0.5 ms for each mebibyte.
  void write(const char* path) FORKJOIN_EXCLUDES(mutex_);

  /// No more events come; those that are under way go nowhere. Says what is missing, if anything is.
  void finish() noexcept FORKJOIN_EXCLUDES(mutex_);

 private:
  // A place that was asked for before. Its key is stored last.
  struct known_place {
    std::atomic<std::uint64_t> key{0};
    std::uint64_t text = 0;
  };
  static constexpr std::size_t most_places = 1024;

  std::byte* extend(os::mapped_file& file, const std::string& path, std::size_t bytes) const;
  [[noreturn]] void throw_no_room(int error, const std::string& path) const;
  std::uint64_t append(std::string_view of) noexcept FORKJOIN_REQUIRES(mutex_);
  trace_ring* make_ring_locked(int& error) noexcept FORKJOIN_REQUIRES(mutex_);
  void list_modules() noexcept;

  const std::string path_;
  const std::uint64_t capacity_, ring_size_;
  os::mutex mutex_;
  os::mapped_file file_;
  trace_header* header_ = nullptr;
  char *modules_ = nullptr, *texts_ = nullptr;
  std::size_t texts_used_ FORKJOIN_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, std::uint64_t> known_texts_ FORKJOIN_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<trace_ring>> rings_ FORKJOIN_GUARDED_BY(mutex_);
  std::vector<trace_ring_head*> heads_ FORKJOIN_GUARDED_BY(mutex_);
  std::size_t used_ FORKJOIN_GUARDED_BY(mutex_) = 0;  // of these, the first
  trace_ring* outside_ FORKJOIN_GUARDED_BY(mutex_) = nullptr;
  std::unique_ptr<known_place[]> places_{new known_place[most_places]};
};

/// The traces of one runtime, one at a time, a flight recorder's among them. What has been traced stays until the
/// runtime ends, as an event may be under way.
class tracing {
 public:
  /// nullptr: none is written. acquire: pairs with the release in begin
  tracer* now() const noexcept { return now_.load(std::memory_order_acquire); }

  /// Throws as the tracer does, whose path this is, and std::logic_error if a trace is being written.
  tracer& begin(const char* path, unsigned procs, std::uint64_t events);
  /// Throws as tracer::write does, and std::logic_error if there is nothing to write.
  void write(const char* path);
  void end() noexcept;

 private:
  os::mutex mutex_;
  std::atomic<tracer*> now_{nullptr};
  std::vector<std::unique_ptr<tracer>> all_ FORKJOIN_GUARDED_BY(mutex_);
};

}}}  // namespace fj::v0_4::detail
