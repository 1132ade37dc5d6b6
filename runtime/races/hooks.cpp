// What compilers call for -fsanitize=thread, in place of ThreadSanitizer's own runtime: each access looks at its cells.
//
// A cell has the last writer, and a reader that may run beside what comes. Feng and Leiserson show that this is enough
// to find a race of each location that has one: of two readers, one of which is before the access, only the other
// counts; and what races with an earlier access races with a later one that is after it, too. So:
//   read   a race if the writer is beside it. It replaces the reader unless that is beside it; see covers for branches
//          that escape
//   write  a race if the writer is, or the reader. It replaces the writer, and the reader unless that is beside it
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <utility>
#include <vector>

#include "forkjoin/abi/races.hpp"
#include "runtime/os/memory/interposed.hpp"
#include "runtime/os/memory/pages.hpp"
#include "runtime/races/contexts.hpp"
#include "runtime/races/counters.hpp"
#include "runtime/races/locks.hpp"
#include "runtime/races/report.hpp"
#include "runtime/races/start.hpp"
#include "runtime/races/strands.hpp"
#include "runtime/races/variables.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

// Of objects that were compiled otherwise: marks that only they define.
namespace os {
extern const char library_built_without_sanitizer __attribute__((weak));
extern const char library_built_with_thread_sanitizer __attribute__((weak));
}  // namespace os
extern const char is_serial_without_observer __attribute__((weak));

namespace races {

const char link_with_forkjoin_races = 0;

namespace {

/// Four bytes with a cell each.
struct four {
  cell byte[4];
};

four* splits = nullptr;
std::vector<std::uint32_t>* free_splits = nullptr;
std::uint32_t splits_used = 1;
std::size_t specials = 0;  // split or listed cells

[[gnu::always_inline]] inline std::uint64_t both(const std::uint32_t (&halves)[2]) noexcept {
  std::uint64_t value;
  __builtin_memcpy(&value, halves, sizeof value);
  return value;
}

[[gnu::always_inline]] inline void set_both(std::uint32_t (&halves)[2], std::uint32_t value) noexcept {
  halves[0] = halves[1] = value;
}

void drop_special(std::uint32_t writer) noexcept;

/// Whether the access counts. Notes what the branch has on the stack, which it forgets at its end.
[[gnu::always_inline]] inline bool counts(address a) noexcept {
  if (a - now.stack_bottom < now.branch.span && a < now.branch.low) now.branch.low = a;
  return a - now.thread_locals >= now.thread_locals_size;
}

[[gnu::noinline, gnu::cold]] void race(address a, strand_id strand, site_id at, bool wrote, address pc,
                                       bool writes) noexcept {
  note_race(a, {strand, at, wrote, 0}, pc, writes);
}

/// What an access does to what a cell has; they are references to the words of a cell, or to the first of two that are
/// alike.
template <bool Writes>
struct decision {
  bool sets_writer = false, sets_reader = false, clears_reader = false;

  [[gnu::always_inline]] decision(address a, strand_id writer, strand_id reader, site_id wrote_at, site_id read_at,
                                  address pc) noexcept {
    if (writer != now.here && beside(writer)) [[unlikely]]
      race(a, writer, wrote_at, true, pc, Writes);
    const bool reader_counts = reader != 0 && reader != now.here && beside(reader);
    if constexpr (Writes) {
      if (reader_counts) [[unlikely]]
        race(a, reader, read_at, false, pc, true);
      sets_writer = true;
      clears_reader = !reader_counts;
    } else {
      sets_reader = !reader_counts;
    }
  }
};

/// Whether b, of the same list, has no race that a has not, whatever comes: both are in one bag, and stay so.
bool stands_for(const locked_access& a, const locked_access& b) noexcept {
  return root_of(a.strand) == root_of(b.strand) && is_subset(a.under, b.under) && (a.writes || !b.writes);
}

/// Makes room in a list that is full: without a loss if there is an access that another one stands for by now.
void drop_one(access_list& all) noexcept {
  std::size_t least = 0;
  bool is_needed = true;
  for (std::size_t i = 0; i != all.size() && is_needed; ++i) {
    is_needed = all[i].strand >= now.serial_below;
    for (std::size_t j = 0; j != all.size() && is_needed; ++j)
      is_needed = i == j || all[j].strand < now.serial_below || !stands_for(all[j], all[i]);
    if (!is_needed) least = i;
  }
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(least));
  forgotten_accesses += is_needed;
}

template <bool Writes>
void access_list_of(access_list& all, address a, address pc) noexcept {
  const aside work;
  const strand_id me = this_strand();
  bool is_redundant = false;
  for (std::size_t i = 0; i != all.size();) {
    const locked_access one = all[i];
    const bool conflicts = Writes || one.writes;
    const bool is_beside = one.strand != me && beside(one.strand);
    if (is_beside && conflicts && !exclude(one.under, now.held))
      note_race(a, {one.strand, one.at, one.writes, one.under}, pc, Writes);
    if (!is_beside && is_subset(now.held, one.under) && (Writes || !one.writes)) {
      all[i] = all.back();
      all.pop_back();
      continue;
    }
    if (is_subset(one.under, now.held) && (one.writes || !Writes) &&
        (one.strand == me || (is_beside && covers(one.strand))))
      is_redundant = true;
    ++i;
  }
  if (is_redundant) return;
  if (all.size() == longest_list) drop_one(all);
  all.push_back({me, site_here(pc), now.held, Writes});
}

/// Makes a list of what a cell has.
std::uint32_t listed_from(strand_id writer, strand_id reader, site_id wrote_at, site_id read_at) noexcept {
  const aside work;
  const std::uint32_t number = new_list();
  access_list& all = list(number);
  const lock_set under = is_only_atomic(writer) ? and_atomic(0) : 0;
  writer &= ~special;
  if (writer != 0) all.push_back({writer, wrote_at, under, true});
  if (reader != 0) all.push_back({reader, read_at, under, false});
  ++specials;
  return number | listed;
}

lock_set only_atomic = 0;  // of an atomic access under no lock, once there was an atomic access

/// Whether a reader that the cell has does not stand for the one that reads now.
[[gnu::always_inline]] inline bool needs_both(strand_id reader) noexcept {
  return now.escaping != 0 && reader != 0 && reader != now.here && beside(reader) && !covers_escaping(reader);
}

/// Whether s, which may be none, is of a strand, this or another one, that the running one comes after.
bool is_mine_or_before(strand_id s) noexcept { return s == 0 || s == now.here || !beside(s); }

/// An atomic access, under no lock, of what only such accesses count of: as of any cell, but that none of them races.
/// False if it needs a list.
template <bool Writes>
bool is_among_atomic(strand_id& writer, strand_id& reader, site_id& wrote_at, site_id& read_at, address pc) noexcept {
  if (!(writer & special)) {
    if (writer >= now.serial_below || reader >= now.serial_below) return false;
    writer = atomic;
    reader = 0;
  }
  if (!is_only_atomic(writer)) return false;
  const strand_id wrote = writer & ~special;
  if (!is_mine_or_before(wrote)) return covers(wrote);  // it stands for this one
  if constexpr (Writes) {
    writer = atomic | this_strand();
    wrote_at = site_here(pc);
    if (is_mine_or_before(reader)) reader = 0;
  } else {
    if (wrote != 0 && wrote == now.here) return true;
    if (!is_mine_or_before(reader)) return covers(reader);
    reader = this_strand();
    read_at = site_here(pc);
  }
  return true;
}

/// Whether all that a special cell of one access has is before all that runs now.
bool is_past(std::uint32_t writer, strand_id reader) noexcept {
  if (is_only_atomic(writer)) return (writer & ~special) < now.serial_below && reader < now.serial_below;
  const auto is_before = [](const locked_access& one) { return one.strand < now.serial_below; };
  return is_listed(writer) && std::ranges::all_of(list(writer & ~special), is_before);
}

template <bool Writes>
void access_cell(strand_id& writer, strand_id& reader, site_id& wrote_at, site_id& read_at, address a,
                 address pc) noexcept {
  if ((writer & special) && is_past(writer, reader)) [[unlikely]] {
    const aside work;
    drop_special(writer);
    writer = reader = 0;
  }
  if (now.held != 0 && now.held == only_atomic && is_among_atomic<Writes>(writer, reader, wrote_at, read_at, pc))
    return;
  if (!is_listed(writer) && (now.held != 0 || is_only_atomic(writer) || (!Writes && needs_both(reader)))) {
    writer = listed_from(writer, reader, wrote_at, read_at);
    reader = 0;
  }
  if (is_listed(writer)) return access_list_of<Writes>(list(writer & ~listed), a, pc);
  const decision<Writes> does(a, writer, reader, wrote_at, read_at, pc);
  if (does.sets_writer) {
    writer = this_strand();
    wrote_at = site_here(pc);
  }
  if (does.clears_reader) reader = 0;
  if (does.sets_reader) {
    reader = this_strand();
    read_at = site_here(pc);
  }
}

/// Of four bytes, all of which are accessed.
template <bool Writes>
void access_word(cells& c, unsigned half, address a, address pc) noexcept {
  if (is_split(c.writer[half])) {
    for (unsigned i = 0; i != 4; ++i) {
      cell& byte = splits[c.writer[half] & ~split].byte[i];
      access_cell<Writes>(byte.writer, byte.reader, byte.wrote_at, byte.read_at, a + i, pc);
    }
  } else {
    access_cell<Writes>(c.writer[half], c.reader[half], sites_of(c).wrote_at[half], sites_of(c).read_at[half], a, pc);
  }
}

/// Of bytes [from, to) of the four at a.
template <bool Writes>
void access_bytes(cells& c, unsigned half, address a, unsigned from, unsigned to, address pc) noexcept {
  if (!(c.writer[half] & special)) {
    // As most accesses of bytes are of a strand that has them all, or by one that comes after all others.
    if (c.writer[half] == now.here && (Writes ? c.reader[half] == 0 : true)) return;
    if (!Writes && c.reader[half] == now.here) return;
  }
  if (!is_split(c.writer[half])) {
    const aside work;
    std::uint32_t number = splits_used;
    if (free_splits->empty()) {
      ++splits_used;
    } else {
      number = free_splits->back();
      free_splits->pop_back();
    }
    for (cell& byte : splits[number].byte) {
      byte = {c.writer[half], c.reader[half], sites_of(c).wrote_at[half], sites_of(c).read_at[half]};
      if (is_listed(byte.writer)) {
        const access_list copy = list(byte.writer & ~listed);
        byte.writer = new_list() | listed;
        list(byte.writer & ~listed) = copy;
        ++specials;
      }
    }
    if (is_listed(c.writer[half])) {
      drop_list(c.writer[half] & ~listed);
      --specials;
    }
    c.writer[half] = number | split;
    ++specials;
  }
  for (unsigned i = from; i != to; ++i) {
    cell& byte = splits[c.writer[half] & ~split].byte[i];
    access_cell<Writes>(byte.writer, byte.reader, byte.wrote_at, byte.read_at, a + i, pc);
  }
}

/// What most accesses need that a strand makes first: to be noted, as all others are before them, or nothing, if a cell
/// has a reader that runs beside this one. False if it is another case, which needs a look-up. `same` is the words of
/// one cell, or of two that are alike: writer, reader and where they are, as numbers of four or eight bytes.
template <bool Writes, class Word>
[[gnu::always_inline]] inline bool is_simple(Word& writer, Word& reader, Word& wrote_at, Word& read_at, address a,
                                             address pc) noexcept {
  constexpr Word both = sizeof(Word) == 8 ? static_cast<Word>(0x100000001) : 1;
  const auto w = static_cast<strand_id>(writer), r = static_cast<strand_id>(reader);
  if (writer != w * both || reader != r * both || !surely_before(w) || now.careful) return false;
  if constexpr (!Writes) {
    if (surely_beside(r)) {
      if (w < now.serial_below) now.usual[r & 1] = {w * std::uint64_t{0x100000001}, r * std::uint64_t{0x100000001}};
      return true;
    }
  }
  if (!surely_before(r) || now.strand == 0) return false;
  const known_site& at = recent_site(pc);
  if (at.pc != pc || at.context != now.branch.context || !counts(a)) return false;
  if constexpr (Writes) {
    writer = now.strand * both;
    wrote_at = at.id * both;
    if (r != 0) reader = 0;
  } else {
    reader = now.strand * both;
    read_at = at.id * both;
  }
  return true;
}

/// The eight bytes at two halves of a cell, which are aligned so.
struct halves {
  [[gnu::may_alias]] typedef std::uint64_t word;
  static word& of(std::uint32_t (&two)[2]) noexcept { return *reinterpret_cast<word*>(two); }
};

// What thread-local variables pointed to until lately: a pointer often leaves its block before that is freed.
address left_by_thread_locals[16];
unsigned left_blocks = 0;

bool was_of_thread_local(address block) noexcept {
  return std::ranges::find(left_by_thread_locals, block) != std::end(left_by_thread_locals);
}

/// Of eight bytes.
template <bool Writes>
[[gnu::noinline]] void look_up_both(cells& c, address a, address pc) noexcept {
  if (!counts(a)) {
    if (Writes && a - now.thread_locals < now.thread_locals_size)
      left_by_thread_locals[left_blocks++ % std::size(left_by_thread_locals)] = *reinterpret_cast<const address*>(a);
    return;
  }
  const std::uint32_t writer = c.writer[0], reader = c.reader[0];
  if (writer != c.writer[1] || reader != c.reader[1] || (writer & special) || now.held != 0 ||
      (!Writes && needs_both(reader))) [[unlikely]] {
    access_word<Writes>(c, 0, a, pc);
    access_word<Writes>(c, 1, a + 4, pc);
    return;
  }
  const decision<Writes> does(a, writer, reader, sites_of(c).wrote_at[0], sites_of(c).read_at[0], pc);
  if (does.sets_writer) {
    set_both(c.writer, this_strand());
    set_both(sites_of(c).wrote_at, site_here(pc));
  }
  if (does.clears_reader && reader != 0) set_both(c.reader, 0);
  if (does.sets_reader) {
    set_both(c.reader, this_strand());
    set_both(sites_of(c).read_at, site_here(pc));
  }
}

template <bool Writes>
[[gnu::noinline]] void access_both(cells& c, address a, address pc) noexcept {
  if (!is_simple<Writes>(halves::of(c.writer), halves::of(c.reader), halves::of(sites_of(c).wrote_at),
                         halves::of(sites_of(c).read_at), a, pc)) [[unlikely]]
    look_up_both<Writes>(c, a, pc);
}

template <bool Writes>
[[gnu::noinline]] void look_up_word(cells& c, address a, address pc) noexcept {
  if (counts(a)) access_word<Writes>(c, a >> 2 & 1, a, pc);
}

template <bool Writes>
[[gnu::noinline]] void access_one_word(cells& c, address a, address pc) noexcept {
  const unsigned half = a >> 2 & 1;
  if (!is_simple<Writes>(c.writer[half], c.reader[half], sites_of(c).wrote_at[half], sites_of(c).read_at[half], a, pc))
      [[unlikely]]
    look_up_word<Writes>(c, a, pc);
}

template <bool Writes>
[[gnu::always_inline]] inline void access_8(address a, address pc) noexcept {
  cells& c = cells_of(a);
  const std::uint64_t writer = both(c.writer), reader = both(c.reader);
  if (writer == now.here_twice && (!Writes || reader == 0)) return;
  if (!Writes &&
      (reader == now.here_twice || (reader == now.usual[reader & 1].reader && writer == now.usual[reader & 1].writer)))
    return;
  access_both<Writes>(c, a, pc);
}

template <bool Writes>
[[gnu::always_inline]] inline void access_4(address a, address pc) noexcept {
  cells& c = cells_of(a);
  const unsigned half = a >> 2 & 1;
  if (c.writer[half] == now.here && (!Writes || c.reader[half] == 0)) return;
  if constexpr (!Writes) {
    const auto& usual = now.usual[c.reader[half] & 1];
    if (c.reader[half] == now.here || (c.reader[half] == static_cast<strand_id>(usual.reader) &&
                                       c.writer[half] == static_cast<strand_id>(usual.writer)))
      return;
  }
  access_one_word<Writes>(c, a, pc);
}

template <bool Writes>
void access_range(address a, std::size_t n, address pc) noexcept {
  if (n == 0) return;
  const address end = a + n;
  while (a != end) {
    if ((a & 7) == 0 && end - a >= 8) {
      access_8<Writes>(a, pc);
      a += 8;
    } else if ((a & 3) == 0 && end - a >= 4) {
      access_4<Writes>(a, pc);
      a += 4;
    } else {
      const auto from = static_cast<unsigned>(a & 3);
      const unsigned to = end - a < 4 - from ? from + static_cast<unsigned>(end - a) : 4;
      const address word = a & ~address{3};
      if (counts(word)) access_bytes<Writes>(cells_of(word), word >> 2 & 1, word, from, to, pc);
      a = word + to;
    }
  }
}

lock_set and_atomic_aside(lock_set held) noexcept {
  const aside work;
  if (only_atomic == 0) only_atomic = and_atomic(0);
  return and_atomic(held);
}

/// As an access under a lock that all atomic ones hold.
template <bool Writes>
[[gnu::noinline]] void access_atomic(address a, std::size_t n, address pc) noexcept {
  const class under_lock {
   public:
    under_lock() noexcept : held_(now.held), careful_(now.careful) {
      now.held = held_ == 0 && only_atomic != 0 ? only_atomic : and_atomic_aside(held_);
      now.careful = true;
    }
    ~under_lock() {
      now.held = held_;
      now.careful = careful_;
    }
    under_lock(const under_lock&) = delete;
    under_lock& operator=(const under_lock&) = delete;

   private:
    lock_set held_;
    bool careful_;
  } here;
  access_range<Writes>(a, n, pc);
}

/// What follows must not use the block; nor can it, if its addresses end. Then cells that nothing has touched stay so.
void end_of_block(address begin, std::size_t n, bool is_mapped, address pc) noexcept {
  if (!is_mapped) return access_range<true>(begin, n, pc);
  for (address a = begin & ~address{7}; a < begin + n; a += 8) {
    const cells& c = cells_of(a);
    if ((both(c.writer) | both(c.reader)) != 0)
      access_range<true>(std::max(a, begin), std::min(a + 8, begin + n) - std::max(a, begin), pc);
  }
  forget(begin, begin + n);
}

template <bool Writes, std::size_t N>
[[gnu::always_inline]] inline void access(void* at, void* from) noexcept {
  if (now.ignoring) [[unlikely]]
    return;
  const auto a = reinterpret_cast<address>(at), pc = reinterpret_cast<address>(from);
  if constexpr (N == 8) {
    if ((a & 7) == 0) [[likely]]
      return access_8<Writes>(a, pc);
  } else if constexpr (N == 4) {
    if ((a & 3) == 0) [[likely]]
      return access_4<Writes>(a, pc);
  } else if constexpr (N == 16) {
    if ((a & 7) == 0) [[likely]] {
      access_8<Writes>(a, pc);
      return access_8<Writes>(a + 8, pc);
    }
  }
  access_range<Writes>(a, N, pc);
}

void drop_special(std::uint32_t writer) noexcept {
  if (is_listed(writer)) {
    drop_list(writer & ~special);
    --specials;
  } else if (is_split(writer)) {
    for (const cell& byte : splits[writer & ~split].byte) drop_special(byte.writer);
    free_splits->push_back(writer & ~split);
    --specials;
  }
}

bool started = false;

[[noreturn]] void end_with(int status) noexcept {
  // libstdc++ does so itself; from version 13 on after this.
  std::cout.flush();
  std::wcout.flush();
  std::clog.flush();
  std::wclog.flush();
  std::fflush(nullptr);
  std::_Exit(status);
}

void check_build() noexcept {
  if (&os::library_built_without_sanitizer || &os::library_built_with_thread_sanitizer)
    os::interposed::refuse(
        "some objects of the program were compiled without FORKJOIN_RACES, for a program that links with forkjoin");
  if (&is_serial_without_observer)
    os::interposed::refuse(
        "some objects of the program were compiled with FORKJOIN_SERIAL, but without FORKJOIN_RACES");
}

bool told = false;
bool is_watched = false;  // some code of the program is

/// What was found, once, by the process that found it. Returns whether there was a race.
bool tell() noexcept {
  if (!started || os::interposed::is_copy() || std::exchange(told, true)) return false;
  const aside work;
  tell_unseen(now.blocks_opened != 0 && !is_watched);
  return tell_races() != 0;
}

/// At the end: after all other destructors.
struct end_of_program {
  ~end_of_program() {
    if (tell()) end_with(66);
  }
};

[[gnu::init_priority(101)]] end_of_program at_the_end;

}  // namespace

void* reserve(std::size_t bytes, const char* what) noexcept {
  if (std::byte* const memory = os::reserve_pages(os::round_to_pages(bytes))) return memory;
  std::fprintf(
      stderr,
      "forkjoin-races: the system refuses %zu GiB of addresses for %s: see ulimit -v and vm.overcommit_memory\n",
      bytes >> 30, what);
  std::_Exit(70);
}

void give_back(void* begin, std::size_t bytes) noexcept {
  const auto from = os::round_to_pages(reinterpret_cast<address>(begin));
  const address to = (reinterpret_cast<address>(begin) + bytes) & ~(os::page_size() - 1);
  if (from < to) os::discard_pages(reinterpret_cast<std::byte*>(from), to - from);
}

void forget_all() noexcept { give_back(now.shadow_base, shadow_bytes); }

namespace {

void forget_half(address word) noexcept {
  cells& c = cells_of(word);
  const unsigned half = word >> 2 & 1;
  if (c.writer[half] & special) {
    const aside work;
    drop_special(c.writer[half]);
  }
  c.writer[half] = c.reader[half] = 0;
}

}  // namespace

void forget(address begin, address end) noexcept {
  if (some_locks) [[unlikely]] {
    const aside work;
    forget_locks(begin, end);
  }
  begin &= ~address{3};
  end = (end + 3) & ~address{3};
  if (begin < end && (begin & 4)) {
    forget_half(begin);
    begin += 4;
  }
  if (begin < end && (end & 4)) forget_half(end -= 4);
  if (begin >= end) return;
  std::byte* const from = now.shadow_base + shadow_offset(begin);
  const std::size_t bytes = (end - begin) * 2;
  if (specials != 0) {
    const aside work;
    for (auto* c = reinterpret_cast<cells*>(from); c != reinterpret_cast<cells*>(from + bytes); ++c) {
      if ((c->writer[0] | c->writer[1]) & special) {
        drop_special(c->writer[0]);
        drop_special(c->writer[1]);
      }
    }
  }
  constexpr std::size_t large = std::size_t{1} << 17;
  if (bytes < large) return os::interposed::zero(from, bytes);
  const address first = os::round_to_pages(reinterpret_cast<address>(from));
  const address last = reinterpret_cast<address>(from + bytes) & ~(os::page_size() - 1);
  os::interposed::zero(from, first - reinterpret_cast<address>(from));
  os::interposed::zero(reinterpret_cast<void*>(last), reinterpret_cast<address>(from + bytes) - last);
  os::discard_pages(reinterpret_cast<std::byte*>(first), last - first);
  os::discard_pages(reinterpret_cast<std::byte*>(first) + bytes_of_cells, last - first);
}

void start() noexcept {
  if (started) return;
  started = true;
  os::interposed::find_originals();
  now.shadow_base = static_cast<std::byte*>(reserve(shadow_bytes, "cells"));
  start_strands();
  start_contexts();
  start_variables();
  splits = static_cast<four*>(reserve((std::size_t{1} << 30) * sizeof(four), "bytes"));
  free_splits = new std::vector<std::uint32_t>;
  now.stack_bottom = os::interposed::lowest_of_stack();
  os::interposed::pretend_threads();
  const auto [locals, end] = os::interposed::thread_locals();
  now.thread_locals = locals;
  now.thread_locals_size = end - locals;
  check_build();
}

void ignore_begin() noexcept { ++now.ignoring; }
void ignore_end() noexcept { --now.ignoring; }

}  // namespace races

// --- what the C library's functions tell ---

namespace os::interposed {

void reads(const void* at, std::size_t n, void* pc) noexcept {
  if (races::now.ignoring == 0)
    races::access_range<false>(reinterpret_cast<races::address>(at), n, reinterpret_cast<races::address>(pc));
}

void writes(void* at, std::size_t n, void* pc) noexcept {
  if (races::now.ignoring == 0)
    races::access_range<true>(reinterpret_cast<races::address>(at), n, reinterpret_cast<races::address>(pc));
}

void allocated(void* at, std::size_t n, void* pc) noexcept {
  races::block_begins(reinterpret_cast<races::address>(at), reinterpret_cast<races::address>(pc));
  grown(at, n);
}

void ended(const void* at) noexcept { races::block_ends(reinterpret_cast<races::address>(at)); }

void grown(void* at, std::size_t n) noexcept {
  // Also where accesses are ignored: the block may come from a branch. Where no block is open, all that is known is
  // before what comes.
  if (races::now.open_blocks == 0 || races::now.working != 0) return;
  races::forget(reinterpret_cast<races::address>(at), reinterpret_cast<races::address>(at) + n);
}

void freed(const void* at, std::size_t n, bool is_mapped, void* pc) noexcept {
  const auto begin = reinterpret_cast<races::address>(at);
  if (races::now.ignoring == 0 && !races::was_of_thread_local(begin))
    races::end_of_block(begin, n, is_mapped, reinterpret_cast<races::address>(pc) | races::frees);
  if (races::now.last_owner_below != 0) races::end_of_memory(begin, n);
}

bool watches_freed() noexcept {
  return races::now.working == 0 && (races::now.ignoring == 0 || races::now.last_owner_below != 0);
}

void acquired(const void* lock, bool shared) noexcept {
  const races::aside work;
  races::acquire(lock, shared);
}

void released(const void* lock) noexcept {
  const races::aside work;
  races::release(lock);
}

void counted_down(const void* counter, bool to_zero) noexcept {
  if (races::now.open_blocks != 0 && races::now.ignoring == 0)
    races::count_down(reinterpret_cast<races::address>(counter), to_zero);
}

int ends_early(int status) noexcept { return races::tell() ? 66 : status; }

namespace {

// Of static variables that are being initialized, one within another: whether accesses are ignored meanwhile.
std::vector<bool>& initializations() {
  static std::vector<bool>* all = nullptr;  // the initialization of an object here would be one of these
  if (!all) all = new std::vector<bool>;
  return *all;
}

}  // namespace

// Where no block is open the initialization is before what comes anyway, and its own forks are watched.
void once_begins() noexcept {
  const races::aside work;
  initializations().push_back(races::now.open_blocks != 0);
  races::now.ignoring += initializations().back();
}
void once_ends() noexcept {
  const races::aside work;
  races::now.ignoring -= initializations().back();
  initializations().pop_back();
}

void refuse(const char* what) noexcept {
  ++races::now.ignoring;
  std::fflush(nullptr);
  std::fprintf(stderr, "forkjoin-races: %s\n", what);
  std::_Exit(70);
}

}  // namespace os::interposed

}}}  // namespace fj::v0_4::detail

// --- what compilers call ---

using namespace fj::detail::races;  // NOLINT: what follows is C's

#define CALLED_FROM __builtin_return_address(0)
#define ACCESSES(N)                                                                             \
  void __tsan_read##N(void* at) { access<false, N>(at, CALLED_FROM); }                          \
  void __tsan_write##N(void* at) { access<true, N>(at, CALLED_FROM); }                          \
  void __tsan_read_write##N(void* at) { access<true, N>(at, CALLED_FROM); }                     \
  void __tsan_unaligned_read##N(void* at) { access_range<false>(at, N, CALLED_FROM); }          \
  void __tsan_unaligned_write##N(void* at) { access_range<true>(at, N, CALLED_FROM); }          \
  void __tsan_unaligned_read_write##N(void* at) { access_range<true>(at, N, CALLED_FROM); }     \
  void __tsan_volatile_read##N(void* at) { access<false, N>(at, CALLED_FROM); }                 \
  void __tsan_volatile_write##N(void* at) { access<true, N>(at, CALLED_FROM); }                 \
  void __tsan_unaligned_volatile_read##N(void* at) { access_range<false>(at, N, CALLED_FROM); } \
  void __tsan_unaligned_volatile_write##N(void* at) { access_range<true>(at, N, CALLED_FROM); }

namespace {

template <bool Writes>
void access_range(const void* at, std::size_t n, void* from) noexcept {
  if (now.ignoring == 0)
    fj::detail::races::access_range<Writes>(reinterpret_cast<address>(at), n, reinterpret_cast<address>(from));
}

/// Atomic operations race with plain accesses alone, and order nothing for the detector. As one thread runs, they are
/// plain ones.
template <bool Writes, class T>
[[gnu::always_inline]] inline void access_atomic(const volatile T* at, void* from) noexcept {
  if (now.ignoring == 0)
    fj::detail::races::access_atomic<Writes>(reinterpret_cast<address>(at), sizeof(T), reinterpret_cast<address>(from));
}

template <class T>
T load(const volatile T* at, void* from) noexcept {
  access_atomic<false>(at, from);
  return *at;
}

template <class T>
T exchange(volatile T* at, T value, void* from) noexcept {
  access_atomic<true>(at, from);
  const T before = *at;
  *at = value;
  return before;
}

template <class T>
T added(volatile T* at, T value, int order, void* from) noexcept {
  const T before = exchange(at, static_cast<T>(*at + value), from);
  const bool is_down = (value >> (8 * sizeof(T) - 1)) != 0;
  if (is_down && order != __ATOMIC_RELAXED && now.open_blocks != 0 && now.ignoring == 0) [[unlikely]]
    count_down(reinterpret_cast<address>(at), *at == 0);
  return before;
}

/// One that fails has read.
template <class T>
int compare_exchange(volatile T* at, T* expected, T value, void* from) noexcept {
  if (*at == *expected) {
    exchange(at, value, from);
    return 1;
  }
  *expected = load(at, from);
  return 0;
}

}  // namespace

#define ATOMICS(BITS, T)                                                                                      \
  T __tsan_atomic##BITS##_load(const volatile T* at, int) { return load(at, CALLED_FROM); }                   \
  void __tsan_atomic##BITS##_store(volatile T* at, T value, int) { exchange(at, value, CALLED_FROM); }        \
  T __tsan_atomic##BITS##_exchange(volatile T* at, T value, int) { return exchange(at, value, CALLED_FROM); } \
  T __tsan_atomic##BITS##_fetch_add(volatile T* at, T value, int order) {                                     \
    return added(at, value, order, CALLED_FROM);                                                              \
  }                                                                                                           \
  T __tsan_atomic##BITS##_fetch_sub(volatile T* at, T value, int order) {                                     \
    return added(at, static_cast<T>(0 - value), order, CALLED_FROM);                                          \
  }                                                                                                           \
  T __tsan_atomic##BITS##_fetch_and(volatile T* at, T value, int) {                                           \
    return exchange(at, static_cast<T>(*at & value), CALLED_FROM);                                            \
  }                                                                                                           \
  T __tsan_atomic##BITS##_fetch_or(volatile T* at, T value, int) {                                            \
    return exchange(at, static_cast<T>(*at | value), CALLED_FROM);                                            \
  }                                                                                                           \
  T __tsan_atomic##BITS##_fetch_xor(volatile T* at, T value, int) {                                           \
    return exchange(at, static_cast<T>(*at ^ value), CALLED_FROM);                                            \
  }                                                                                                           \
  T __tsan_atomic##BITS##_fetch_nand(volatile T* at, T value, int) {                                          \
    return exchange(at, static_cast<T>(~(*at & value)), CALLED_FROM);                                         \
  }                                                                                                           \
  int __tsan_atomic##BITS##_compare_exchange_strong(volatile T* at, T* expected, T value, int, int) {         \
    return compare_exchange(at, expected, value, CALLED_FROM);                                                \
  }                                                                                                           \
  int __tsan_atomic##BITS##_compare_exchange_weak(volatile T* at, T* expected, T value, int, int) {           \
    return compare_exchange(at, expected, value, CALLED_FROM);                                                \
  }                                                                                                           \
  T __tsan_atomic##BITS##_compare_exchange_val(volatile T* at, T expected, T value, int, int) {               \
    compare_exchange(at, &expected, value, CALLED_FROM);                                                      \
    return expected;                                                                                          \
  }

extern "C" {

void __tsan_init() {
  is_watched = true;
  start();
}

void __tsan_func_entry(void* pc) {
  if (contexts) [[likely]]
    enter_function(reinterpret_cast<address>(pc), reinterpret_cast<address>(__builtin_frame_address(0)));
}

void __tsan_func_exit() {
  if (contexts) [[likely]]
    leave_function();
}

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_read_range(void* at, std::size_t n) { access_range<false>(at, n, CALLED_FROM); }
void __tsan_write_range(void* at, std::size_t n) { access_range<true>(at, n, CALLED_FROM); }

// A constructor or destructor that writes the pointer that is there already writes nothing.
void __tsan_vptr_update(void** at, void* value) {
  if (*at != value) access<true, 8>(at, CALLED_FROM);
}
void __tsan_vptr_read(void** at) { access<false, 8>(at, CALLED_FROM); }

void* __tsan_memcpy(void* to, const void* from, std::size_t n) {
  access_range<false>(from, n, CALLED_FROM);
  access_range<true>(to, n, CALLED_FROM);
  const aside work;
  return std::memmove(to, from, n);
}

void* __tsan_memmove(void* to, const void* from, std::size_t n) {
  access_range<false>(from, n, CALLED_FROM);
  access_range<true>(to, n, CALLED_FROM);
  const aside work;
  return std::memmove(to, from, n);
}

void* __tsan_memset(void* to, int value, std::size_t n) {
  access_range<true>(to, n, CALLED_FROM);
  const aside work;
  return std::memset(to, value, n);
}

ATOMICS(8, unsigned char)
ATOMICS(16, unsigned short)
ATOMICS(32, unsigned)
ATOMICS(64, unsigned long)
__extension__ typedef unsigned __int128 sixteen_bytes;
ATOMICS(128, sixteen_bytes)

void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}

// What <sanitizer/tsan_interface.h> has for locks of a program's own, and for what it knows to be right.
void __tsan_mutex_create(void*, unsigned) {}
void __tsan_mutex_destroy(void*, unsigned) {}
void __tsan_mutex_pre_lock(void*, unsigned) {}
void __tsan_mutex_post_lock(void* lock, unsigned flags, int) {
  constexpr unsigned read_lock = 1u << 3, failed = 1u << 5;
  if (!(flags & failed)) fj::detail::os::interposed::acquired(lock, flags & read_lock);
}
int __tsan_mutex_pre_unlock(void* lock, unsigned) {
  fj::detail::os::interposed::released(lock);
  return 0;
}
void __tsan_mutex_post_unlock(void*, unsigned) {}
void __tsan_mutex_pre_signal(void*, unsigned) {}
void __tsan_mutex_post_signal(void*, unsigned) {}
void __tsan_mutex_pre_divert(void*, unsigned) {}
void __tsan_mutex_post_divert(void*, unsigned) {}
void __tsan_acquire(void*) {}
void __tsan_release(void*) {}
void __tsan_ignore_thread_begin() { ignore_begin(); }
void __tsan_ignore_thread_end() { ignore_end(); }
void AnnotateIgnoreReadsBegin(const char*, int) { ignore_begin(); }
void AnnotateIgnoreReadsEnd(const char*, int) { ignore_end(); }
void AnnotateIgnoreWritesBegin(const char*, int) { ignore_begin(); }
void AnnotateIgnoreWritesEnd(const char*, int) { ignore_end(); }
void AnnotateHappensBefore(const char*, int, void*) {}
void AnnotateHappensAfter(const char*, int, void*) {}
}
