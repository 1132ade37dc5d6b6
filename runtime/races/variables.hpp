// What an address is of: a variable of the program's files, a block of the heap, a function's frame. A report names it,
// and of each variable that races at least one race is told, also where one accessor has the accesses of many.
//
// Blocks of the heap that one place in the code has allocated are one variable: of a tree with a race in each node one
// report tells enough. So each block has the number of that place, in an array of its own: a number where the block
// begins, and zeros up to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/races/shadow.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace races {

/// A block of the heap begins, which the instruction at pc has allocated; it ends.
void block_begins(address at, address pc) noexcept;
void block_ends(address at) noexcept;

/// What variables are told apart by.
struct variable_key {
  enum class memory : std::uint8_t { named, heap, stack, other };
  memory of = memory::other;
  address number = 0;  // where it begins; the site that allocates; the address in the function; 0

  friend auto operator<=>(const variable_key&, const variable_key&) = default;
};
variable_key variable_of(address at);

/// "name", or "name+8"; empty if it has no name.
std::string name_of_variable(address at);

/// The address in a function whose frame holds this address of the stack; 0 if it is not on it.
address frame_that_holds(address at) noexcept;

void start_variables() noexcept;

}}}}  // namespace fj::v0_4::detail::races
