// What a program gets of the names of <forkjoin/go.hpp> that does not include it: an error that names that header. The
// header may follow, or have been included before: then these say nothing.
#pragma once

#include <type_traits>

namespace fj { inline namespace v0_4 {

// Class templates: without their definition the one argument that these leave out is incomplete.

namespace detail {

struct asked_for_definition {};

template <class T>
struct definition_with {
  using type = asked_for_definition;
};

template <template <class> class Template, class T>
concept undefined =
    !std::is_same_v<T, asked_for_definition> && !requires { sizeof(Template<typename definition_with<T>::type>); };

}  // namespace detail

#define FORKJOIN_TEMPLATE_OF_GO(name)                                                              \
  template <class T>                                                                               \
  class name;                                                                                      \
  template <class T>                                                                               \
    requires detail::undefined<name, T>                                                            \
  class name<T> {                                                                                  \
    static_assert(!detail::undefined<name, T>, "include <forkjoin/go.hpp>, which has fj::" #name); \
  }

FORKJOIN_TEMPLATE_OF_GO(barrier);
FORKJOIN_TEMPLATE_OF_GO(channel);
FORKJOIN_TEMPLATE_OF_GO(future);
FORKJOIN_TEMPLATE_OF_GO(local);
FORKJOIN_TEMPLATE_OF_GO(promise);
FORKJOIN_TEMPLATE_OF_GO(receive_channel);
FORKJOIN_TEMPLATE_OF_GO(send_channel);

#undef FORKJOIN_TEMPLATE_OF_GO

// All others are found in a namespace whose name says what to do, as long as there is none of the same name in fj: by a
// using-directive. A class there is that of fj, which a friend declares so that nobody finds it: with both, `using
// namespace fj` is not ambiguous.

#define FORKJOIN_OF_GO(key, name)                                           \
  struct without_##name {                                                   \
    friend key name& hidden(without_##name);                                \
  };                                                                        \
  namespace include_forkjoin_go_hpp {                                       \
  using name = std::remove_reference_t<decltype(hidden(without_##name()))>; \
  }                                                                         \
  static_assert(true)

FORKJOIN_OF_GO(class, broken_promise);      // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(class, channel_closed);      // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(class, condition_variable);  // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(class, descriptor);          // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(class, latch);               // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(class, mutex);               // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(class, once);                // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(class, select_list);         // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(class, semaphore);           // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(class, shared_mutex);        // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(class, task_group);          // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(class, time_limit);          // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(class, wait_group);          // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(struct, wait_options);       // include <forkjoin/go.hpp>

#undef FORKJOIN_OF_GO

namespace include_forkjoin_go_hpp {

// A call that fits any other function of the name chooses that one.
#define FORKJOIN_OF_GO(name) \
  template <class...>        \
  void name(...) = delete

FORKJOIN_OF_GO(accept);           // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(after);            // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(blocking);         // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(blocking_now);     // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(connect);          // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(count_fibers);     // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(describe_fibers);  // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(go);               // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(lost_fibers);      // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(now);              // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(on_ready);         // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(on_receive);       // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(on_send);          // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(otherwise);        // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(print_fibers);     // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(print_fibers_on);  // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(read);             // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(readable);         // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(select);           // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(sleep_for);        // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(sleep_until);      // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(wait_any);         // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(writable);         // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(write);            // include <forkjoin/go.hpp>
FORKJOIN_OF_GO(yield);            // include <forkjoin/go.hpp>

#undef FORKJOIN_OF_GO

}  // namespace include_forkjoin_go_hpp

using namespace include_forkjoin_go_hpp;

}}  // namespace fj::v0_4
