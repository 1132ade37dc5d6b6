#include "runtime/os/exception_type.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <typeinfo>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

std::string type_of_exception() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (!type) return "an exception of another language";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(type->name(), nullptr, nullptr, &status),
                                                         &std::free);
  return name ? name.get() : type->name();
}

}}}}  // namespace fj::v0_4::detail::os
