// Something to call, whatever its type.
#pragma once

#include <memory>
#include <type_traits>

namespace fj { inline namespace v0_4 { namespace detail {

template <class Signature>
class function_ref;

/// Refers to a function object that outlives it, as std::function_ref of C++26. A function that takes one is compiled
/// once, not for each closure. Each use is an indirect call.
template <class R, class... Args>
class function_ref<R(Args...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, function_ref>)
  function_ref(F&& f) noexcept
      : closure_(const_cast<std::remove_cvref_t<F>*>(std::addressof(f))), call_([](void* closure, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(closure))(args...);
        }) {}

  R operator()(Args... args) const { return call_(closure_, args...); }

 private:
  void* closure_;
  R (*call_)(void*, Args...);
};

}}}  // namespace fj::v0_4::detail
