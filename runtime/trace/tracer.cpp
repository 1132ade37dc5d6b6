#include "runtime/trace/tracer.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <stdexcept>
#include <system_error>

#include "forkjoin/abi/os/clock.hpp"
#include "forkjoin/abi/os/ticks.hpp"
#include "runtime/os/function_names.hpp"
#include "runtime/os/memory/pages.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/modules.hpp"
#include "runtime/os/thread.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

constexpr std::size_t modules_size = std::size_t{64} << 10, texts_size = std::size_t{256} << 10;
constexpr std::size_t prepared_size = std::size_t{256} << 10;  // of each ring
static_assert(sizeof(trace_ring_head) <= ring_head_size && sizeof(trace_event) == 32);
constexpr std::size_t modules_at = 4096, texts_at = modules_at + modules_size, rings_at = texts_at + texts_size;
static_assert(sizeof(trace_header) <= modules_at);
constexpr std::int64_t calibration_ns = 200'000;

std::uint64_t mixed(std::uint64_t a) noexcept {
  a = (a ^ a >> 33) * 0xff51afd7ed558ccdu;
  return a ^ a >> 33;
}

std::uint64_t key_of(const char* what, const char* file, std::uint_least32_t line) noexcept {
  const auto number = [](const char* of) { return reinterpret_cast<std::uintptr_t>(of); };
  return mixed(mixed(number(what)) + mixed(number(file) ^ line)) | 1;  // never 0
}

[[noreturn]] void throw_unwritable(int error, const std::string& path) {
  const char* const why = error == ELOOP    ? "is a symbolic link, which is not followed; name the file itself"
                          : error == ENODEV ? "is no regular file; name one, or a file that is not there yet"
                                            : "cannot be written; name a file in a folder that can, where you may make "
                                              "files and replace this one";
  throw std::system_error(error, std::generic_category(), "forkjoin: the trace \"" + path + "\" " + why);
}

// What begins to be written there.
void create(os::mapped_file& file, const std::string& path) {
  if (const int error = file.create(path.c_str())) throw_unwritable(error, path);
}
void publish(os::mapped_file& file, const std::string& path) {
  if (const int error = file.publish()) throw_unwritable(error, path);
}

void note_end(trace_header& header) noexcept {
  header.last_ns.store(static_cast<std::uint64_t>(os::now_ns()), std::memory_order_relaxed);
  // release: a reader of the file that finds this time finds that of the other clock
  header.last_ticks.store(os::ticks(), std::memory_order_release);
}

// While its thread goes on. What that overwrites meanwhile is left empty; also what it may have begun to overwrite, as
// its stores may be seen before its count.
void copy_ring(const trace_ring_head& of, std::uint64_t capacity, std::byte* to) noexcept {
  constexpr std::uint64_t under_way = 16;
  const auto* const from =
      reinterpret_cast<const trace_event*>(reinterpret_cast<const std::byte*>(&of) + ring_head_size);
  auto* const head = reinterpret_cast<trace_ring_head*>(to);
  auto* const events = reinterpret_cast<trace_event*>(to + ring_head_size);
  // acquire: pairs with the release in add, so that the events are there
  const std::uint64_t count = of.count.load(std::memory_order_acquire), first = count - std::min(count, capacity);
  for (std::uint64_t i = first; i < count; ++i) {
    // acquire: the count is read again after this
    const auto copied = [](const std::atomic<std::uint64_t>& a, std::atomic<std::uint64_t>& b) {
      b.store(a.load(std::memory_order_acquire), std::memory_order_relaxed);
    };
    const trace_event& one = from[i & (capacity - 1)];
    trace_event& other = events[i & (capacity - 1)];
    copied(one.at, other.at);
    copied(one.what, other.what);
    copied(one.a, other.a);
    copied(one.b, other.b);
  }
  const std::uint64_t now = of.count.load(std::memory_order_relaxed) + under_way;
  for (std::uint64_t i = first; i < count && i + capacity < now; ++i) {
    events[i & (capacity - 1)].at.store(0, std::memory_order_relaxed);
    events[i & (capacity - 1)].what.store(0, std::memory_order_relaxed);
  }
  head->capacity = capacity;
  head->worker = of.worker;
  head->is_outside = of.is_outside;
  head->count.store(count, std::memory_order_relaxed);
}

}  // namespace

void trace_ring::add(event what, unsigned proc, std::uint32_t fiber, std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t count = head_.count.load(std::memory_order_relaxed);
  trace_event& to = events_[count & mask_];
  to.at.store(os::ticks(), std::memory_order_relaxed);
  to.what.store(static_cast<std::uint64_t>(what) | std::uint64_t{proc} << 16 | std::uint64_t{fiber} << 32,
                std::memory_order_relaxed);
  to.a.store(a, std::memory_order_relaxed);
  to.b.store(b, std::memory_order_relaxed);
  head_.count.store(count + 1, std::memory_order_release);  // release: pairs with the acquire in copy_ring
}

tracer::tracer(const char* path, unsigned procs, std::uint64_t events)
    : path_(path ? path : ""),
      capacity_(events),
      ring_size_(os::round_to_pages(ring_head_size + events * sizeof(trace_event))) {
  if (path) create(file_, path_);
  header_ = reinterpret_cast<trace_header*>(extend(file_, path_, modules_at));
  modules_ = reinterpret_cast<char*>(extend(file_, path_, modules_size));
  texts_ = reinterpret_cast<char*>(extend(file_, path_, texts_size));
  header_->pid = os::process_id();
  header_->procs = procs;
  header_->modules_at = modules_at;
  header_->modules_size = modules_size;
  header_->texts_at = texts_at;
  header_->texts_size = texts_size;
  header_->rings_at = rings_at;
  header_->ring_size = ring_size_;
  list_modules();
  {
    const locked lock(mutex_);
    texts_used_ = 1;  // 0 is no text
    // For threads outside, for a caller of run, and for a worker of each P.
    int error = 0;
    for (unsigned i = 0; i < procs + 2; ++i)
      if (!make_ring_locked(error)) throw_no_room(error, path_);
    outside_ = rings_.front().get();
    heads_.front()->is_outside = 1;
    used_ = 1;
  }
  header_->began_unix_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
  // For a trace that is cut off.
  const std::int64_t begin_ns = os::now_ns();
  const std::uint64_t begin = os::ticks();
  std::int64_t now_ns = begin_ns;
  while (now_ns - begin_ns < calibration_ns) now_ns = os::now_ns();
  header_->first_ticks = os::ticks();
  header_->first_ns = static_cast<std::uint64_t>(now_ns);
  header_->ns_per_tick = static_cast<double>(now_ns - begin_ns) /
                         static_cast<double>(std::max<std::uint64_t>(header_->first_ticks - begin, 1));
  header_->magic = trace_header::right_magic;
  if (path) publish(file_, path_);
}

void tracer::refuse_unwritable(const char* path) {
  os::mapped_file would_be;
  create(would_be, path);
}

std::byte* tracer::extend(os::mapped_file& file, const std::string& path, std::size_t bytes) const {
  int error = 0;
  std::byte* const memory = file.extend(bytes, error);
  if (!memory) throw_no_room(error, path);
  return memory;
}

void tracer::throw_no_room(int error, const std::string& path) const {
  const std::string need = ", which needs " + std::to_string(ring_size_) +
                           " bytes for each thread; set FORKJOIN_TRACE_EVENTS to fewer than " +
                           std::to_string(capacity_);
  throw std::system_error(error, std::generic_category(),
                          path.empty() ? "forkjoin: there is no memory for the flight recorder" + need
                                       : "forkjoin: there is no room for the trace \"" + path + "\"" + need +
                                             ", name a file on another disk, or raise the limit (ulimit -f)");
}

void tracer::write(const char* path) {
  os::mapped_file to;
  create(to, path);
  const locked lock(mutex_);
  if (!file_.is_whole())
    throw std::system_error(
        std::make_error_code(std::errc::io_error),
        "forkjoin: the trace \"" + path_ +
            "\" was made shorter by another program, so there is no copy; call stop_trace and trace_to");
  list_modules();  // some may have come meanwhile
  std::byte* const copy = extend(to, path, rings_at + heads_.size() * ring_size_);
  std::memcpy(copy, static_cast<const void*>(header_), sizeof(trace_header));  // it changes under the mutex alone
  std::memcpy(copy + modules_at, modules_, modules_size);
  std::memcpy(copy + texts_at, texts_, texts_size);
  std::byte* at = copy + rings_at;
  for (const trace_ring_head* each : heads_) {
    copy_ring(*each, capacity_, at);
    at += ring_size_;
  }
  note_end(*reinterpret_cast<trace_header*>(copy));
  publish(to, path);
}

void tracer::list_modules() noexcept {
  try {
    const std::string all = os::modules();
    const std::size_t size = std::min(all.size(), modules_size - 1);
    std::memcpy(modules_, all.data(), size);
    std::memset(modules_ + size, 0, modules_size - size);  // it may have been longer
  } catch (const std::bad_alloc&) {}                       // then addresses stay numbers
}

trace_ring* tracer::make_ring(std::uint32_t worker) noexcept {
  const locked lock(mutex_);
  int error = 0;
  if (used_ == rings_.size() && !make_ring_locked(error)) {
    header_->without_ring.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  heads_[used_]->worker = worker;
  return rings_[used_++].get();
}

trace_ring* tracer::make_ring_locked(int& error) noexcept {
  try {
    rings_.reserve(rings_.size() + 1);
    heads_.reserve(heads_.size() + 1);
    if (std::byte* const memory = file_.extend(ring_size_, error)) {
      auto* const head = reinterpret_cast<trace_ring_head*>(memory);
      os::mapped_file::prepare(memory, std::min(static_cast<std::size_t>(ring_size_), prepared_size));
      head->capacity = capacity_;
      rings_.push_back(std::make_unique<trace_ring>(
          *this, *head, reinterpret_cast<trace_event*>(memory + ring_head_size), capacity_));
      heads_.push_back(head);
      // release: a reader of the file that finds this number finds the head of the ring
      header_->rings.fetch_add(1, std::memory_order_release);
      return rings_.back().get();
    }
  } catch (const std::bad_alloc&) {
    error = ENOMEM;
  }
  return nullptr;
}

void tracer::add_outside(event what, unsigned proc, std::uint32_t fiber, std::uint64_t a, std::uint64_t b) noexcept {
  const locked lock(mutex_);
  if (outside_) outside_->add(what, proc, fiber, a, b);
}

std::uint64_t tracer::place(const char* what, std::source_location by) noexcept {
  const std::uint64_t key = key_of(what, by.file_name(), by.line());
  std::size_t at = key % most_places;
  for (std::size_t tries = 0; tries < most_places; ++tries, at = (at + 1) % most_places) {
    // acquire: pairs with the release below, so that the text is there
    const std::uint64_t found = places_[at].key.load(std::memory_order_acquire);
    if (found == key) return places_[at].text;
    if (found == 0) break;
  }
  const locked lock(mutex_);
  for (std::size_t tries = 0; tries < most_places; ++tries, at = (at + 1) % most_places) {
    const std::uint64_t found = places_[at].key.load(std::memory_order_relaxed);
    if (found == key) return places_[at].text;
    if (found != 0) continue;
    try {
      places_[at].text = append(by.line() == 0 ? std::string(what)
                                               : std::string(what) + ", called by " + os::name_of(by.function_name()) +
                                                     " at " + by.file_name() + ":" + std::to_string(by.line()));
    } catch (const std::bad_alloc&) {
      return 0;
    }
    places_[at].key.store(key, std::memory_order_release);  // release: pairs with the acquire above
    return places_[at].text;
  }
  return 0;
}

std::uint64_t tracer::text(std::string_view of) noexcept {
  if (of.empty()) return 0;  // it may have no address
  const locked lock(mutex_);
  try {
    const auto [known, is_new] = known_texts_.try_emplace(std::string(of), 0);
    if (is_new && (known->second = append(of)) == 0) {
      known_texts_.erase(known);
      return 0;
    }
    return known->second;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

std::uint64_t tracer::append(std::string_view of) noexcept {
  const auto length = static_cast<std::uint16_t>(std::min<std::size_t>(of.size(), 0xffff));
  if (texts_used_ + sizeof length + length > texts_size) return 0;
  const std::uint64_t at = texts_used_;
  std::memcpy(texts_ + at, &length, sizeof length);
  std::memcpy(texts_ + at + sizeof length, of.data(), length);
  texts_used_ += sizeof length + length;
  return at;
}

void tracer::finish() noexcept {
  const locked lock(mutex_);
  list_modules();  // some may have come meanwhile
  note_end(*header_);
  std::uint64_t lost = 0;
  for (const trace_ring_head* each : heads_) {
    const std::uint64_t count = each->count.load(std::memory_order_relaxed);
    lost += count - std::min(count, capacity_);
  }
  const std::uint64_t without = header_->without_ring.load(std::memory_order_relaxed);
  const bool is_whole = file_.is_whole();
  file_.let_go();  // so that a program that traces again and again keeps no disk for the traces before
  if (path_.empty() || (is_whole && lost + without == 0)) return;
  os::print_error("forkjoin: the trace \"");
  os::print_error(path_.c_str());
  if (!is_whole) return os::print_error("\" was made shorter by another program: its events are lost\n");
  os::print_error("\" lacks the oldest ");
  os::print_error(lost);
  os::print_error(" events, and all of ");
  os::print_error(without);
  os::print_error(" threads; FORKJOIN_TRACE_EVENTS sets how many events of a thread it keeps\n");
}

tracer& tracing::begin(const char* path, unsigned procs, std::uint64_t events) {
  const locked lock(mutex_);
  if (now_.load(std::memory_order_relaxed))
    throw std::logic_error(
        "fj::runtime::trace_to: a trace of this runtime is being written, or its flight recorder is on; call "
        "stop_trace "
        "before");
  all_.reserve(all_.size() + 1);
  all_.push_back(std::make_unique<tracer>(path, procs, events));
  now_.store(all_.back().get(), std::memory_order_release);  // release: pairs with the acquire in tracer.hpp: now
  return *all_.back();
}

void tracing::write(const char* path) {
  const locked lock(mutex_);  // else the trace could end, and let go of what is copied
  tracer* const of = now_.load(std::memory_order_relaxed);
  if (!of)
    throw std::logic_error(
        "fj::runtime::write_trace: there is no trace to write; set options::flight_recorder, or call trace_to before");
  of->write(path);
}

void tracing::end() noexcept {
  const locked lock(mutex_);
  if (tracer* const over = now_.exchange(nullptr, std::memory_order_relaxed)) over->finish();
}

}}}  // namespace fj::v0_4::detail
