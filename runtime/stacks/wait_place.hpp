// Where a strand waits, for messages.
#pragma once

#include <cstdint>
#include <source_location>

#include "../base/relaxed.hpp"

namespace fj::inline v0_1::detail {

struct wait_place {
  const char* what = nullptr;    ///< the function that waits; nullptr: a join
  std::source_location at = {};  ///< the call of it
  bool ended_by_others = false;  ///< by threads that the library does not know, so that a long wait is no news
};

/// The same, as other threads may read it while the strand comes and goes: each part is right by itself, and all of them
/// while the strand waits.
class shown_wait_place {
 public:
  void show(const wait_place& p) noexcept {
    what_ = p.what;
    file_ = p.at.file_name();
    function_ = p.at.function_name();
    line_ = p.at.line();
    ended_by_others_ = p.ended_by_others;
  }
  void hide() noexcept { what_ = nullptr; }

  const char* what() const noexcept { return what_; }
  const char* file() const noexcept { return file_; }
  const char* function() const noexcept { return function_; }
  std::uint_least32_t line() const noexcept { return line_; }
  bool ended_by_others() const noexcept { return what_ && ended_by_others_; }

 private:
  relaxed<const char*> what_ = nullptr, file_ = "", function_ = "";
  relaxed<std::uint_least32_t> line_ = 0;
  relaxed<bool> ended_by_others_ = false;
};

}  // namespace fj::inline v0_1::detail
