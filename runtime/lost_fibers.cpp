// A fiber that waits goes on if another strand or thread finds its wait's entry: in the queue of a channel, of a lock,
// of a future, or among the callbacks of a stop token. The entry lies in the fiber's frames. So if no word of the
// memory from which code can go on leads to these frames, over any number of blocks of the heap, nothing can end the
// wait: the fiber is lost. The look marks what can be reached, conservatively, as a garbage collector for C does (Boehm
// and Weiser, "Garbage collection in an uncooperative environment", 1988): each word that could be an address counts as
// a reference.
//
// All other threads are stopped meanwhile (os/stop_threads.hpp). What counts as a root, from which marking starts:
//
// 1. Memory that the process can write, or could before it was protected, and that is neither heap nor stack: globals,
//    mapped files and blocks.
// 2. The stacks and registers of threads, above their stack pointers; and thread-local variables, which lie above the
//    stacks.
// 3. The stacks of fibers that do not wait, and of those whose wait ends in a way that this file does not know
//    (known_waits): joins, times, descriptors, other runtimes, Boost.Asio, senders.
//
// What is reached from there and marked through: blocks of malloc (os/memory/heap_blocks.hpp), and the stacks of fibers
// that wait, from the stack pointer up, as what a fiber holds can be used once it goes on. The future of a fiber leads
// to its waiters and to its stop token, but not to what its function has captured: only the fiber uses that, and whom
// it has given an address there (is_partial).
//
// A report is no guess. Against false ones:
//
// a. What cannot be read in the way that is expected counts as a root, or ends the look.
// b. A fiber is reported only if the same wait is lost in two looks, between which all threads ran: a thread may have
//    been stopped where it had a reference in a form of its own, as in malloc.
// c. A fiber that waits at a join is never reported.
//
// The runtime's own memory is no root, or nothing would ever be lost: runtimes, workers, deques, free stacks, and the
// frames of workers that sleep. Timers are looked at one by one. What the program keeps in a form that is no address,
// such as one of a pointer's two halves, a look cannot see; the guide says so (forkjoin/guide/leaks.md).
#include "runtime/lost_fibers.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <source_location>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "forkjoin/abi/os/clock.hpp"
#include "runtime/instances.hpp"
#include "runtime/os/cpu.hpp"
#include "runtime/os/function_names.hpp"
#include "runtime/os/interrupt.hpp"
#include "runtime/os/memory/heap_blocks.hpp"
#include "runtime/os/memory/mappings.hpp"
#include "runtime/os/memory/own_table.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/stop_threads.hpp"
#include "runtime/os/thread.hpp"
#include "runtime/os/turns.hpp"
#include "runtime/wait/job_of_go.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

using address = std::uintptr_t;

template <class T>
address address_of(const T* object) noexcept {
  return reinterpret_cast<address>(object);
}

struct range {
  address begin, end;
  bool holds(address a) const noexcept { return a >= begin && a < end; }
};

// The waits that end in no other way than by their entry in a queue, a stop token, or a timer. By the names of
// wait_place::what.
constexpr std::array known_waits{"fj::channel::",
                                 "a channel that is none",
                                 "fj::select",
                                 "fj::wait_any",
                                 "fj::mutex::",
                                 "fj::shared_mutex::",
                                 "fj::condition_variable::",
                                 "fj::semaphore::",
                                 "fj::wait_group::",
                                 "fj::latch::",
                                 "fj::barrier::",
                                 "fj::future::"};

bool is_known(const char* what) noexcept {
  return what && std::any_of(known_waits.begin(), known_waits.end(),
                             [what](const char* each) { return std::strncmp(what, each, std::strlen(each)) == 0; });
}

// A wait of a fiber.
struct fiber_wait {
  const fiber* of;
  std::uint32_t version;
  auto operator<=>(const fiber_wait&) const = default;
};

struct failure {
  const char* why = nullptr;  // nullptr: none
  int thread = 0;             // that it is about
  bool may_pass = false;      // another try may succeed
};

// One look at the process.
class look {
 public:
  /// `in_use`: from where on the stack of this thread is in use.
  look(const instances& known, address in_use) noexcept : known_(known), in_use_(in_use) {}

  /// Adds the waits that are lost.
  failure find(std::vector<fiber_wait>& lost) {
    const std::unique_ptr<char[], freer> probe(static_cast<char*>(std::malloc(probe_bytes)));
    if (!probe || !gather_workers()) return no_memory;
    const failure f = stop_and_look(address_of(probe.get()));
    if (f.why) return f;
    for (const seen_fiber& each : fibers_)
      if (each.may_be_lost && !each.is_marked) lost.push_back({each.of, each.version});
    return {};
  }

 private:
  struct freer {
    void operator()(char* p) const noexcept { std::free(p); }
  };
  struct seen_fiber {
    address begin, end;  // of its memory
    fiber* of;
    address from, top;  // what is in use of its stack
    std::uint32_t version;
    bool is_asked_at_end;  // its runtime ends, and then asks its token to stop
    bool is_leaving;       // by a worker that has not finished with that
    bool is_root, is_marked, may_be_lost;

    bool holds(address a) const noexcept { return a >= begin && a < end; }
    bool has_on_stack(address a) const noexcept { return a >= address_of(of->stack_bottom()) && a < top; }
  };
  struct seen_worker {
    int thread;
    worker* of;
  };
  // Of the heap. From `first` on, index_ has the first block that ends after each `step` bytes of it.
  struct heap_part {
    address begin, end;
    std::size_t first;
  };
  static constexpr std::size_t step = 512;  // a binary search would miss the cache ten times for each reference

  // From where on a stack is in use.
  struct live_end {
    address begin;
    address descriptor;  // of its thread
  };

  static constexpr std::size_t probe_bytes = 40;
  static constexpr std::size_t most_mappings = std::size_t{1} << 17;  // twice what Linux allows by default
  static constexpr failure no_memory{"the system refuses memory for the look"};
  static constexpr failure no_pages{"/proc/self/pagemap cannot be read"};
  static constexpr failure busy{"a thread was in the midst of the library", 0, true};

  static failure in_words(const os::stop_outcome& o) noexcept {
    switch (o.failure) {
      case os::stop_failure::none:
        return {};
      case os::stop_failure::blocks_signal:
        return {"it blocks the signal that would stop it", o.thread, true};
      case os::stop_failure::does_not_answer:
        return {"it does not answer the signal that would stop it", o.thread};
      case os::stop_failure::too_many_threads:
        return {"the process has too many threads"};
      case os::stop_failure::unknown_threads:
        return {"/proc/self/task cannot be read"};
    }
    return {};
  }

  template <class Visit>
  void for_each_runtime(Visit visit) const noexcept FORKJOIN_UNANALYSED {
    for (instance* each = known_.all.first(); each; each = known_.all.after(*each))
      if (!each->is_forked_copy()) visit(*each);
  }

  // While the others run, as their list has a lock. A worker that starts meanwhile counts as a thread of the program's.
  bool gather_workers() noexcept {
    std::size_t count = 0;
    for_each_runtime([&](instance& s) { s.threads().for_each([&](worker&) { ++count; }); });
    if (!workers_.reserve(count)) return false;
    for_each_runtime(
        [&](instance& s) { s.threads().for_each([&](worker& m) { workers_.push({m.thread.id(), &m}); }); });
    return true;
  }

  failure stop_and_look(address probe) noexcept {
    if (const failure f = in_words(os::stop_threads()); f.why) return f;
    const failure f = look_around(probe);
    os::resume_threads();
    return f;
  }

  // From here on the others are stopped: nothing allocates or takes a lock.

  failure look_around(address probe) noexcept {
    if (!pages_.are_known()) return no_pages;
    if (!mappings_.reserve(most_mappings)) return no_memory;
    if (!os::read_mappings(mappings_)) return {"/proc/self/maps cannot be read"};
    if (!reserve_tables()) return no_memory;
    gather_fibers();
    if (!gather_own_memory()) return busy;
    gather_stacks();
    read_heap();
    sort(own_);
    if (!blocks_.empty()) all_blocks_ = {blocks_[0].begin, blocks_[blocks_.size() - 1].end};
    const os::heap_block* const block = block_at(probe);
    if (!block || block->begin != probe) return {"malloc is not that of glibc"};
    hide_own_blocks();
    judge_fibers();
    if (!judge_timers()) return busy;
    for (seen_fiber& f : fibers_) {
      if (f.is_root) reach(f);
      if (f.is_asked_at_end) reach_stop(f);
    }
    scan_stacks_on_heap();
    for (const range& r : registers_) scan(r.begin, r.end);
    if (!scan_mappings()) return no_pages;
    mark_all();
    const bool is_cut = to_scan_.is_full() || blocks_.is_full() || index_.is_full() || parts_.is_full() ||
                        own_.is_full() || ends_.is_full() || fibers_.is_full() || registers_.is_full();
    return is_cut ? no_memory : failure{};
  }

  bool reserve_tables() noexcept {
    std::size_t heap = 0, fibers = 0, processors = 0, threads = 1;
    for (const os::mapping& m : mappings_) {
      if (m.is_heap) heap += m.end - m.begin;
      for_each_arena(m, [&](address at) { heap += os::heap_reader::end_of_arena(at, m.end) - at; });
    }
    for_each_runtime([&](instance& s) {
      s.for_each_fiber([&](const fiber&) { ++fibers; });
      processors += s.all().count();
    });
    os::for_each_stopped([&](const os::stopped_thread&) { ++threads; });
    // A waiting fiber may have a deque, and each P has two. The smallest block takes 32 bytes. What is scanned of a
    // fiber is in six parts.
    constexpr std::size_t least_chunk = 32, per_fiber = 8, others = 4096;
    const std::size_t blocks = heap / least_chunk;
    return blocks < std::numeric_limits<std::uint32_t>::max() && blocks_.reserve(blocks) &&
           index_.reserve(heap / step + 2 * mappings_.size()) && parts_.reserve(2 * mappings_.size()) &&
           fibers_.reserve(fibers) && ends_.reserve(2 * threads + workers_.size()) && registers_.reserve(threads) &&
           own_.reserve(2 * fibers + 4 * processors + threads + 2 * workers_.size() + others) &&
           to_scan_.reserve(blocks + per_fiber * fibers + 2 * mappings_.size() + threads + others);
  }

  void gather_fibers() noexcept {
    for_each_runtime([&](instance& s) {
      const bool ends = &s != known_.by_default.load(std::memory_order_relaxed);
      s.for_each_fiber([&](const fiber& each) {
        auto* const f = const_cast<fiber*>(&each);
        const address begin = address_of(f->mapping);
        fibers_.push({.begin = begin,
                      .end = begin + f->mapping_size,
                      .of = f,
                      .from = address_of(f->stack_bottom()),
                      .top = address_of(f->stack_top()),
                      .version = f->waits.version(),
                      .is_asked_at_end = ends,
                      .is_leaving = false,
                      .is_root = false,
                      .is_marked = false,
                      .may_be_lost = false});
      });
    });
    sort(fibers_);
    if (!fibers_.empty()) all_fibers_ = {fibers_[0].begin, fibers_[fibers_.size() - 1].end};
  }

  // What is no root: the fibers' memory, which has rules of its own, the runtimes' and this look's. False while a
  // thread changes it.
  bool gather_own_memory() noexcept {
    for (const seen_fiber& f : fibers_) own_.push({f.begin, f.end});
    bool all = true;
    for_each_runtime([&](instance& s) {
      own_.push({address_of(&s), address_of(&s + 1)});
      own_.push({address_of(&s.all()[0]), address_of(&s.all()[0] + s.all().count())});
      all &= s.deques().try_for_each(
          [&](const deque* d, std::size_t bytes) { own_.push({address_of(d), address_of(d) + bytes}); });
    });
    for (const seen_worker& w : workers_) own_.push({address_of(w.of), address_of(w.of + 1)});
    own_.push({address_of(this), address_of(this + 1)});
    const os::answers_of_stops answers = os::memory_of_answers();
    own_.push({answers.begin, answers.end});
    os::for_each_stopped([&](const os::stopped_thread& t) {
      if (t.alternate != 0) own_.push({t.alternate, t.alternate_end});
    });
    const auto add = [&](const auto& table) {
      if (table.bytes() > 0) own_.push({table.memory(), table.memory() + table.bytes()});
    };
    add(mappings_), add(fibers_), add(blocks_), add(parts_), add(index_), add(workers_), add(ends_), add(registers_),
        add(to_scan_), add(own_);
    return all;
  }

  // From where on each stack is in use.
  void gather_stacks() noexcept {
    gather_stack(os::this_thread_stopped(in_use_));
    os::for_each_stopped([&](const os::stopped_thread& t) { gather_stack(t); });
    sort(ends_);
  }

  void gather_stack(const os::stopped_thread& t) noexcept {
    const bool is_in_fiber = fiber_at(t.stack_pointer);
    for (const seen_worker& w : workers_) {
      if (w.thread != t.id) continue;
      if (!w.of->is_caller()) {
        // While it runs a fiber, or sleeps, none of its frames on its own stack hold anything; above them are the
        // thread's variables.
        if (is_in_fiber || t.rests) ends_.push({t.frames_end, t.descriptor});
        if (t.rests) return;
      } else if (w.of->runs) {
        ends_.push({address_of(static_cast<const char*>(w.of->native.registers)), t.descriptor});
      }
    }
    ends_.push({t.stack_pointer, t.descriptor});
    if (t.alternate != 0) registers_.push({t.registers, t.alternate_end});
  }

  // Of the stacks in that part of memory; nullptr: there is none.
  live_end* first_end_in(address begin, address end) noexcept {
    live_end* const found = std::lower_bound(ends_.begin(), ends_.end(), begin,
                                             [](const live_end& e, address a) noexcept { return e.begin < a; });
    return found != ends_.end() && found->begin < end ? found : nullptr;
  }

  // Where an arena's region may begin.
  template <class Visit>
  void for_each_arena(const os::mapping& m, Visit visit) noexcept {
    for (address at = os::heap_reader::next_arena(m.begin); at < m.end; at = os::heap_reader::next_arena(at + 1))
      if (pages_.is_present(at)) visit(at);
  }

  void read_heap() noexcept {
    os::heap_reader reader(blocks_);
    for (std::size_t i = 0; i < mappings_.size(); ++i) {
      os::mapping& m = mappings_[i];
      if (m.is_shared || !m.is_writable || m.is_c_library) continue;
      if (m.is_heap) {
        address end = m.end;
        for (; i + 1 < mappings_.size() && mappings_[i + 1].is_heap && mappings_[i + 1].begin == end; ++i)
          end = mappings_[i + 1].end;
        const address read = reader.read_main(m.begin, end);
        add_part(m.begin, read);
      } else {
        for_each_arena(m, [&](address at) {
          if (const address read = reader.read_arena(at, m.end); read != at) add_part(at, read);
        });
      }
    }
  }

  // The blocks of that part are the last ones.
  void add_part(address begin, address end) noexcept {
    own_.push({begin, end});
    parts_.push({begin, end, index_.size()});
    std::size_t block = parts_.size() > 1 ? blocks_before_ : 0;
    for (address at = begin; at < end; at += step) {
      while (block < blocks_.size() && blocks_[block].end <= at) ++block;
      index_.push(static_cast<std::uint32_t>(block));
    }
    blocks_before_ = blocks_.size();
  }

  seen_fiber* fiber_at(address a) noexcept {
    if (!all_fibers_.holds(a)) return nullptr;
    seen_fiber* const f = fibers_.at_or_before(a);
    return f && f->holds(a) ? f : nullptr;
  }

  os::heap_block* block_at(address a) noexcept {
    if (!all_blocks_.holds(a)) return nullptr;
    for (const heap_part& part : parts_)
      if (a >= part.begin && a < part.end) {
        os::heap_block* b = blocks_.begin() + index_[part.first + (a - part.begin) / step];
        while (b != blocks_.end() && b->end <= a) ++b;
        return b != blocks_.end() && b->begin <= a ? b : nullptr;
      }
    return nullptr;
  }

  // The runtimes' own memory on the heap.
  void hide_own_blocks() noexcept {
    for (const range& r : own_)
      if (os::heap_block* const b = block_at(r.begin)) b->is_opaque = true;
  }

  void judge_fibers() noexcept {
    for (const seen_worker& w : workers_)
      if (const fiber* const left = w.of->runs)
        if (seen_fiber* const f = fiber_at(address_of(left))) f->is_leaving = true;
    for (seen_fiber& f : fibers_) judge(f);
    for (seen_fiber& f : fibers_)
      if (f.is_root) judge_parents(f);
  }

  void judge(seen_fiber& f) noexcept {
    const fiber_state state = f.of->state;
    const auto saved = address_of(static_cast<const char*>(f.of->context.registers));
    const bool is_saved = f.has_on_stack(saved);
    if (const live_end* const end = first_end_in(f.from, f.top)) {
      f.from = end->begin;
      f.is_root = true;
    } else if (state == fiber_state::free) {
      f.is_marked = true;  // to reach it means nothing
    } else if (state == fiber_state::waiting) {
      const char* const what = f.of->waits.what();
      // Its wait may be over, and its worker about to find that: so it is in both looks if the worker does not get on.
      f.may_be_lost = !f.is_leaving && is_known(what) && !f.of->waits.ended_by_others() && f.version % 2 == 0 &&
                      is_saved && !f.of->runs_on_top && !f.of->records && !f.of->carried;
      f.is_root = !f.may_be_lost;
      if (is_saved) f.from = saved;
    } else {
      f.is_root = true;
      if (state == fiber_state::runnable && is_saved) f.from = saved;
    }
    if (state == fiber_state::free || !f.of->begun) return;  // a scope's child has not been told whose it is
    const job* const whose = f.of->whose;
    const job_of_go* const of_go = whose ? job_of_go::of(*whose) : nullptr;
    os::heap_block* const b = of_go ? block_at(address_of(&of_go->holder)) : nullptr;
    if (b && b->begin == address_of(&of_go->holder)) b->is_partial = true;
  }

  // A scope's child that no thief has made a strand of its own: its parents, which wait in the call of it, whatever
  // their states say.
  void judge_parents(const seen_fiber& child) noexcept {
    for (const fiber* f = child.of; !f->begun;) {
      const record* const rest = f->as_child.stands_for;
      seen_fiber* const parent = rest ? fiber_at(address_of(rest)) : nullptr;
      if (!parent || parent->of->below != f) return;
      const auto saved = address_of(static_cast<const char*>(parent->of->context.registers));
      if (!first_end_in(address_of(parent->of->stack_bottom()), parent->top) && parent->has_on_stack(saved))
        parent->from = saved;
      parent->is_root = true;
      parent->may_be_lost = false;
      f = parent->of;
    }
  }

  // A time ends the wait. False while a thread changes a heap of timers.
  bool judge_timers() noexcept {
    bool all = true;
    for_each_runtime([&](instance& s) {
      for (unsigned i = 0; i < s.all().count(); ++i)
        all &= s.all()[i].timers.try_for_each([&](const timer& t) {
          seen_fiber* const f = fiber_at(address_of(&t));
          if (!f) return;
          f->is_root = true;
          f->may_be_lost = false;
        });
    });
    return all;
  }

  // What is reached.

  void reach(seen_fiber& f) noexcept {
    f.is_marked = true;
    to_scan_.push({f.from, f.top});
    reach(address_of(static_cast<const char*>(f.of->layer)));
    reach(address_of(static_cast<const char*>(static_cast<void*>(f.of->handled))));
    reach(address_of(static_cast<const char*>(f.of->context.exceptions.caught)));
    const continuation* const stolen = f.of->stolen;
    if (seen_fiber* const forked = stolen ? fiber_at(address_of(stolen)) : nullptr; forked && !forked->is_marked)
      reach(*forked);
    const job* const whose = f.of->whose;
    if (!whose) return;
    reach(address_of(whose));
    if (os::heap_block* const b = block_at(address_of(whose)); b && b->is_partial) {
      b->is_partial = false;
      to_scan_.push({b->begin, b->end});
    }
  }

  void reach_stop(const seen_fiber& f) noexcept {
    if (f.of->state != fiber_state::waiting || !f.of->whose) return;
    const std::stop_source* const stop = static_cast<const job*>(f.of->whose)->stop;
    if (stop) scan(address_of(stop), address_of(stop + 1));
  }

  void reach(address a) noexcept {
    if (seen_fiber* const f = fiber_at(a)) {  // blocks may lie between fibers
      if (!f->is_marked && a >= f->from && a < f->top) reach(*f);
    } else if (os::heap_block* const b = block_at(a)) {
      const bool is_captured = b->is_partial && a >= b->begin + sizeof(go_job);
      if (b->is_marked && !is_captured) return;
      b->is_marked = true;
      if (is_captured) b->is_partial = false;
      if (!b->is_opaque) to_scan_.push({b->begin, b->is_partial ? b->begin + sizeof(go_job) : b->end});
    }
  }

  void scan(address begin, address end) noexcept {
    constexpr std::size_t word = sizeof(address);
    for (address at = (begin + word - 1) / word * word; at + word <= end; at += word)
      reach(*reinterpret_cast<const address*>(at));
  }

  void mark_all() noexcept {
    while (!to_scan_.empty()) {
      const range r = to_scan_.pop();
      scan(r.begin, r.end);
    }
  }

  // A thread may run on a stack that the program has allocated.
  void scan_stacks_on_heap() noexcept {
    for (const live_end& e : ends_) reach(e.begin);
  }

  bool scan_mappings() noexcept {
    address covered = 0;
    const range* own = own_.begin();
    for (const os::mapping& m : mappings_) {
      if (m.is_c_library) continue;  // where malloc's lists of free blocks begin
      address at = std::max(covered, begin_of_stack(m));
      for (; own != own_.end() && own->begin < m.end; ++own) {
        if (own->begin > at && !scan_touched(at, own->begin, m)) return false;
        covered = std::max(covered, own->end);
        at = std::max(at, covered);
      }
      if (at < m.end && !scan_touched(at, m.end, m)) return false;
    }
    return true;
  }

  bool scan_touched(address begin, address end, const os::mapping& in) noexcept {
    return pages_.for_each_word_in(begin, end, in.is_writable,
                                   [this](address from, address to) noexcept { scan(from, to); });
  }

  // What lies below is no more in use, if the part of memory is one thread's stack: such a stack is the main thread's,
  // or has a guard below and the thread's descriptor above.
  address begin_of_stack(const os::mapping& m) noexcept {
    address first = 0;
    for (live_end* e = first_end_in(m.begin, m.end); e && e != ends_.end() && e->begin < m.end; ++e) {
      if (fiber_at(e->begin) || block_at(e->begin)) continue;
      if (!m.is_stack && !(m.after_guard && e->descriptor > e->begin && e->descriptor < m.end)) return m.begin;
      if (first == 0) first = e->begin;
    }
    return first == 0 ? m.begin : first;
  }

  template <class T>
  static void sort(os::own_table<T>& table) noexcept {
    std::sort(table.begin(), table.end(), [](const T& a, const T& b) noexcept { return a.begin < b.begin; });
  }

  const instances& known_;
  const address in_use_;
  os::touched_pages pages_;
  os::own_table<os::mapping> mappings_;
  os::own_table<seen_fiber> fibers_;
  os::own_table<seen_worker> workers_;
  os::own_table<os::heap_block> blocks_;
  os::own_table<heap_part> parts_;
  os::own_table<std::uint32_t> index_;
  std::size_t blocks_before_ = 0;
  os::own_table<live_end> ends_;
  os::own_table<range> own_, registers_, to_scan_;
  range all_fibers_{0, 0}, all_blocks_{0, 0};
};

// How long to go on trying, and what lies between two looks, in which all threads run.
constexpr std::int64_t patience_ns = 1'000'000'000, between_looks_ns = 10'000'000, first_rest_ns = 500'000;

// Threads of the library that were there before let no signal through, until they have slept.
void wake_threads(const instances& known) noexcept FORKJOIN_REQUIRES(known.mutex) {
  for (instance* each = known.all.first(); each; each = known.all.after(*each)) {
    if (each->is_forked_copy()) continue;
    each->monitor().attend();
    each->threads().for_each([](worker& m) {
      if (!m.is_caller()) m.signal();
    });
  }
}

failure ask_for_signal() noexcept {
  if (const char* const why = os::heap_reader::why_not_here()) return {why};
  if (os::runs_in_valgrind()) return {"the program runs in valgrind"};
  if (os::turns::mine()) return {"threads take turns (options::schedule)"};
  os::want_interrupts();
  if (os::interrupt_signal() == 0 && !os::allow_interrupts(os::usual_interrupt_signal()))
    return {"the system refuses a handler for SIGURG"};
  if (!os::interrupts_are_handled()) return {"the program has a handler of its own for the signal that would stop it"};
  return {};
}

// One look that succeeds, if threads that were not ready for it become so.
failure look_once(address in_use, std::vector<fiber_wait>& lost) {
  failure why = ask_for_signal();
  if (why.why) return why;
  const std::int64_t until = os::now_ns() + patience_ns;
  instances& known = known_instances();
  for (std::int64_t delay = first_rest_ns;; delay *= 2) {
    {
      const locked lock(known.mutex);
      why = std::make_unique<look>(known, in_use)->find(lost);  // too large for the stack of a fiber
      if (!why.may_pass || os::now_ns() > until) return why;
      wake_threads(known);
    }
    os::sleep_ns(delay);
  }
}

std::vector<fiber_wait> in_both(std::vector<fiber_wait>& a, std::vector<fiber_wait>& b) {
  std::vector<fiber_wait> both;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

waiting_fiber describe(const fiber& f) {
  waiting_fiber w{.number = f.number,
                  .what = f.waits.what(),
                  .waits = {f.waits.file(), f.waits.function(), f.waits.line()},
                  .started = {}};
  const std::source_location at = f.started_at;
  if (f.begun && at.line() != 0) w.started = {at.file_name(), at.function_name(), at.line()};
  return w;
}

// A fiber that is lost stays as it is, as long as its runtime lives: so its words can be read.
void add_lost(lost_report& to, const std::vector<fiber_wait>& lost) {
  instances& known = known_instances();
  const locked lock(known.mutex);
  for_each_waiting_fiber(known, [&](const fiber& f) {
    if (std::binary_search(lost.begin(), lost.end(), fiber_wait{&f, f.waits.version()}))
      to.fibers.push_back(describe(f));
  });
}

// Since when a call has seen fibers in the waits in which they are.
class long_waits {
 public:
  void add_to(lost_report& to) {
    std::map<fiber_wait, std::int64_t> now;
    std::vector<std::pair<std::int64_t, const fiber*>> oldest;
    instances& known = known_instances();
    const locked lock(known.mutex);
    for_each_waiting_fiber(known, [&](const fiber& f) {
      if (!f.waits.what()) return;
      const fiber_wait w{&f, f.waits.version()};
      const auto before = since_.find(w);
      const std::int64_t since = before == since_.end() ? os::now_ns() : before->second;
      now.emplace(w, since);
      oldest.emplace_back(since, &f);
    });
    since_.swap(now);
    std::sort(oldest.begin(), oldest.end());
    constexpr std::size_t most = 10;
    for (std::size_t i = 0; i < std::min(most, oldest.size()); ++i) {
      const fiber& f = *oldest[i].second;
      const std::uint32_t version = f.waits.version();
      waiting_fiber w = describe(f);
      if (f.waits.is_still(version) && w.what) to.wait_long.push_back(w);
    }
  }

 private:
  std::map<fiber_wait, std::int64_t> since_;
};

// One look at a time.
struct looking {
  os::mutex mutex;
  const unsigned made_in = os::process_generation();
  // Under the mutex.
  long_waits waits;
  std::set<fiber_wait> told;  // by the thread that watches, or at an end
};

// Never destroyed: other threads may look while the process ends. A child of fork(2) makes its own, as a thread that it
// does not have may have been looking.
looking& all_looks() {
  static std::atomic<looking*> present{nullptr};
  looking* there = present.load(std::memory_order_acquire);  // acquire: pairs with the release below
  while (!there || there->made_in != os::process_generation()) {
    auto made = std::make_unique<looking>();
    if (present.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel)) return *made.release();
  }
  return *there;
}

std::string in_words(const failure& why) {
  if (why.thread == 0) return why.why;
  char name[16];
  os::read_thread_name(why.thread, name);
  return "thread " + std::to_string(why.thread) + " (" + name + "): " + why.why;
}

std::string in_words(const fiber_place& p) {
  return p.line == 0 ? "?" : os::name_of(p.function) + " at " + p.file + ":" + std::to_string(p.line);
}

std::string lines_of(const std::vector<waiting_fiber>& fibers) {
  constexpr std::size_t most_numbers = 4;
  std::map<std::string, std::vector<unsigned>> alike;
  for (const waiting_fiber& f : fibers) {
    std::string does = std::string("wait in ") + f.what;
    if (f.waits.line != 0) does += ", called by " + in_words(f.waits);
    if (f.started.line != 0) does += "; started by " + in_words(f.started);
    alike[does].push_back(f.number);
  }
  std::string text;
  for (auto& [does, numbers] : alike) {
    std::sort(numbers.begin(), numbers.end());
    text += "  " + std::to_string(numbers.size()) + (numbers.size() == 1 ? " fiber (" : " fibers (");
    for (std::size_t i = 0; i < std::min(most_numbers, numbers.size()); ++i)
      text += (i > 0 ? ", " : "") + std::to_string(numbers[i]);
    text += std::string(numbers.size() > most_numbers ? ", ...): " : "): ") + does + "\n";
  }
  return text;
}

// Under the mutex of all looks. The waits that are lost; or the report says why that cannot be said. Not inlined: the
// frames of its callers are above its own, where the look begins; below lie words of earlier calls. The registers that
// these use are in the frame of its caller, which calls __builtin_unwind_init.
[[gnu::noinline]] std::vector<fiber_wait> look_twice(looking& all, lost_report& report) {
  const auto in_use = reinterpret_cast<address>(__builtin_frame_address(0));
  std::vector<fiber_wait> first, second;
  failure why = look_once(in_use, first);
  if (!why.why && !first.empty()) {
    os::sleep_ns(between_looks_ns);
    why = look_once(in_use, second);
  }
  if (!why.why) return in_both(first, second);
  report.not_available = in_words(why);
  all.waits.add_to(report);
  return {};
}

// The thread that looks from time to time.
class watch {
 public:
  void begin(std::size_t most_bytes, std::int64_t rest_ns) noexcept {
    static_cast<void>(ask_for_signal());  // threads that start from now on let it through
    if (begun_in_.exchange(os::process_generation(), std::memory_order_relaxed) == os::process_generation()) return;
    most_bytes_ = most_bytes;
    rest_ns_ = rest_ns;
    if (os::turns::mine() || !thread_.start(&serve, this)) end();
  }
  void pause(bool pauses) noexcept {
    const locked lock(pausing_);  // until a look is over
    paused_ = pauses;
  }
  /// In the copy that fork(2) makes the thread is missing, which may have been at a look.
  void forget() noexcept {
    std::construct_at(&pausing_);
    paused_ = false;
  }
  bool looks() const noexcept { return begun_in_.load(std::memory_order_relaxed) == os::process_generation(); }

  /// Prints which fibers are lost, and were not printed before.
  [[gnu::noinline]] void tell() noexcept {
    __builtin_unwind_init();  // see look_twice
    const locked no_pause(pausing_);
    if (paused_) return;
    try {
      looking& all = all_looks();
      const locked lock(all.mutex);
      lost_report report;
      std::vector<fiber_wait> lost = look_twice(all, report);
      if (!report.not_available.empty() && std::exchange(said_not_available_, true)) return;
      std::erase_if(lost, [&](const fiber_wait& w) { return !all.told.insert(w).second; });
      add_lost(report, lost);
      os::print_error(report.text().c_str());
    } catch (const std::bad_alloc&) {}
  }

 private:
  static void serve(void* self) noexcept { static_cast<watch*>(self)->look_on(); }

  void look_on() noexcept {
    for (std::int64_t rest = rest_ns_;;) {
      os::sleep_ns(std::exchange(rest, rest_ns_));
      if (os::resident_bytes() <= most_bytes_) {
        const std::int64_t begin = os::now_ns();
        tell();
        rest = std::max(rest_ns_, least_rest * (os::now_ns() - begin));
      } else if (!std::exchange(said_too_large_, true)) {
        os::print_error("forkjoin: FORKJOIN_LOST=1: the process has more memory than FORKJOIN_LOST_HEAP says, so ");
        os::print_error("lost fibers are looked for only at the end of runtimes\n");
      }
    }
  }

  void end() noexcept { begun_in_.store(~0u, std::memory_order_relaxed); }

  static constexpr std::int64_t least_rest = 20;  // times as long as the look took

  std::atomic<unsigned> begun_in_{~0u};  // process_generation: a thread does not go through fork(2)
  std::size_t most_bytes_ = 0;
  std::int64_t rest_ns_ = 0;
  bool said_not_available_ = false, said_too_large_ = false;
  os::mutex pausing_;
  bool paused_ = false;
  os::thread thread_;
};

constinit watch the_watch;

[[maybe_unused]] const bool ends_in_copies = os::at_fork(nullptr, nullptr, [] { the_watch.forget(); });

}  // namespace

[[gnu::noinline]] lost_report find_lost_fibers() {
  __builtin_unwind_init();  // see look_twice
  looking& all = all_looks();
  const locked lock(all.mutex);
  lost_report report;
  add_lost(report, look_twice(all, report));
  return report;
}

void watch_lost_fibers(std::size_t most_bytes, std::int64_t rest_ns) noexcept { the_watch.begin(most_bytes, rest_ns); }

void pause_watch(bool pauses) noexcept { the_watch.pause(pauses); }

unsigned threads_that_watch() noexcept { return the_watch.looks() ? 1 : 0; }

void report_lost_fibers() noexcept {
  if (the_watch.looks() && !os::turns::mine()) the_watch.tell();
}

}}}  // namespace fj::v0_4::detail

namespace fj { inline namespace v0_4 {

std::string lost_report::text() const {
  if (!not_available.empty())
    return "forkjoin: which fibers are lost is not available: " + not_available + "\n" +
           (wait_long.empty() ? "" : "forkjoin: these wait long:\n" + detail::lines_of(wait_long));
  if (fibers.empty()) return {};
  return "forkjoin: " + std::to_string(fibers.size()) +
         (fibers.size() == 1 ? " fiber is lost: it waits" : " fibers are lost: they wait") +
         " for what nothing that can still run reaches\n" + detail::lines_of(fibers);
}

}}  // namespace fj::v0_4
