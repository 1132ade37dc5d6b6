// Values that belong to a fiber of fj::go or a call of fj::run, and to all strands that it forks.
#pragma once

#include <cstdint>

namespace fj { inline namespace v0_4 { namespace detail {

/// A value of one fj::local. Allocated by its creator; `destroy` deletes it.
struct local_value {
  std::uint64_t key;
  void (*destroy)(local_value&) noexcept;
  local_value* next = nullptr;
};

/// A number that no other fj::local has.
std::uint64_t new_local_key() noexcept;

/// The value of that key of the calling strand's job, or outside of any runtime of the thread; nullptr if there is
/// none.
local_value* find_local(std::uint64_t key) noexcept;

/// Gives the job or thread this value; returns it, or the one that another strand of the same job gave it first. Then
/// the caller destroys its own.
local_value& keep_local(local_value& made) noexcept;

}}}  // namespace fj::v0_4::detail
