#include "forkjoin/abi/local.hpp"

#include <atomic>

#include "runtime/fork/current.hpp"
#include "runtime/fork/job.hpp"
#include "runtime/os/thread.hpp"
#include "runtime/sched/worker.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

// Not an object with a destructor: destructors of other thread_local objects may make values after that.
constinit thread_local std::atomic<local_value*> outside_values{nullptr};

void destroy_outside_values(void* list) {
  while (destroy_newest(*static_cast<std::atomic<local_value*>*>(list))) {}
}

// Apart, because a strand may have changed its thread since it last asked for the address.
[[gnu::noinline]] std::atomic<local_value*>& list_of_thread() noexcept { return outside_values; }

std::atomic<local_value*>& list_of_caller() noexcept {
  return current_worker() ? current_deque().whose()->locals : list_of_thread();
}

local_value* find_in(local_value* from, const local_value* end, std::uint64_t key) noexcept {
  while (from != end && from->key != key) from = from->next;
  return from == end ? nullptr : from;
}

}  // namespace

std::uint64_t new_local_key() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

local_value* find_local(std::uint64_t key) noexcept {
  // acquire: pairs with the release in keep_local, so that the value is there
  return find_in(list_of_caller().load(std::memory_order_acquire), nullptr, key);
}

local_value& keep_local(local_value& made) noexcept {
  std::atomic<local_value*>& list = list_of_caller();
  local_value* seen = nullptr;
  local_value* first = list.load(std::memory_order_acquire);  // acquire: pairs with the release below
  for (;;) {
    if (local_value* const other = find_in(first, seen, made.key)) return *other;
    seen = first;
    made.next = first;
    // release: pairs with the acquires here and in find_local
    if (list.compare_exchange_weak(first, &made, std::memory_order_release, std::memory_order_acquire)) break;
  }
  if (!first && !current_worker()) os::at_thread_end(&destroy_outside_values, &list);
  return made;
}

}}}  // namespace fj::v0_4::detail
