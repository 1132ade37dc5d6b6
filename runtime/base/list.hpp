// Intrusive lists: what is linked brings its own `next`, a T* or a handed<T*>, so linking never allocates or fails.
#pragma once

#include <type_traits>
#include <utility>

namespace fj::inline v0_1::detail {

/// Last in, first out: keeps what was used last, and is warm, on top.
template <class T, auto Next>
class stack_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return !head_; }

  void push(T* item) noexcept {
    item->*Next = head_;
    head_ = item;
  }

  /// The item pushed last, or nullptr.
  T* pop() noexcept {
    T* item = head_;
    if (item) {
      head_ = item->*Next;
      item->*Next = nullptr;
    }
    return item;
  }

 private:
  T* head_ = nullptr;
};

/// First in, first out.
template <class T, auto Next>
class queue_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }

  void push(T* item) noexcept {
    item->*Next = nullptr;
    *tail_ = item;
    tail_ = &(item->*Next);
  }

  /// The item pushed first, or nullptr.
  T* pop() noexcept {
    return take_if([](const T&) { return true; });
  }

  /// Unlinks and returns the first item for which `wanted` holds, or nullptr. Linear.
  template <class Predicate>
  T* take_if(Predicate wanted) noexcept {
    link* at = &head_;
    for (T* item = *at; item; at = &(item->*Next), item = *at) {
      if (!wanted(*item)) continue;
      *at = static_cast<T*>(item->*Next);
      if (tail_ == &(item->*Next)) tail_ = at;
      item->*Next = nullptr;
      return item;
    }
    return nullptr;
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (T* item = head_; item; item = item->*Next) visit(*item);
  }

 private:
  using link = std::remove_reference_t<decltype(std::declval<T&>().*Next)>;

  link head_ = nullptr;
  link* tail_ = &head_;
};

}  // namespace fj::inline v0_1::detail
