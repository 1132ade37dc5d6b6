// A value for each thread that asks for one. A strand may go on on another thread after a fork or a wait: so ask anew after it, as oneTBB's
// programs do at the begin of each body. Where strands fork while they use a value, fj::combinable is safe.
#pragma once

#include "detail/left_out.h"

#include <cstddef>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <type_traits>
#include <utility>

namespace tbb {

enum ets_key_usage_type { ets_key_per_instance, ets_no_key, ets_suspend_aware };

template <class T, class = void, ets_key_usage_type = ets_no_key>
class enumerable_thread_specific {
 public:
  using value_type = T;
  using reference = T&;
  using const_reference = const T&;
  using iterator = typename std::list<T>::iterator;
  using const_iterator = typename std::list<T>::const_iterator;
  using range_type = std::pair<iterator, iterator>;

  enumerable_thread_specific() : make_([](std::list<T>& to) -> T& { return to.emplace_back(); }) {}
  template <class Make>
    requires std::is_invocable_v<Make&> && (!std::is_same_v<std::decay_t<Make>, enumerable_thread_specific>)
  explicit enumerable_thread_specific(Make make)
      : make_([make = std::move(make)](std::list<T>& to) mutable -> T& { return to.emplace_back(make()); }) {}
  template <class First, class... More>
    requires(!std::is_invocable_v<First&> && !std::is_same_v<std::decay_t<First>, enumerable_thread_specific> &&
             std::is_constructible_v<T, const First&, const More&...>)
  explicit enumerable_thread_specific(const First& first, const More&... more)
      : make_([=](std::list<T>& to) -> T& { return to.emplace_back(first, more...); }) {}

  T& local() {
    bool exists = false;
    return local(exists);
  }
  T& local(bool& exists) {
    const std::thread::id me = std::this_thread::get_id();
    {
      const std::shared_lock held(*mutex_);
      const auto found = by_thread_.find(me);
      exists = found != by_thread_.end();
      if (exists) return *found->second;
    }
    const std::scoped_lock held(*mutex_);
    T& made = make_(values_);
    by_thread_[me] = &made;
    return made;
  }

  std::size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  void clear() {
    by_thread_.clear();
    values_.clear();
  }
  iterator begin() { return values_.begin(); }
  iterator end() { return values_.end(); }
  const_iterator begin() const { return values_.begin(); }
  const_iterator end() const { return values_.end(); }

  template <class... Any>
  __attribute__((
      unavailable("forkjoin has no range() of a tbb::enumerable_thread_specific: write a loop over it"))) void
  range(Any&&...);

  template <class Combine>
  T combine(Combine f) {
    if (values_.empty()) return make_(values_);
    T all = values_.front();
    for (auto at = std::next(values_.begin()); at != values_.end(); ++at) all = f(all, *at);
    return all;
  }
  template <class F>
  void combine_each(F f) {
    for (T& each : values_) f(each);
  }

 private:
  std::function<T&(std::list<T>&)> make_;
  std::shared_ptr<std::shared_mutex> mutex_ = std::make_shared<std::shared_mutex>();
  std::map<std::thread::id, T*> by_thread_;
  std::list<T> values_;
};

}  // namespace tbb
