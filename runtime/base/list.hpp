// Intrusive lists: what is linked brings its own `next`, a T* or a relaxed<T*>, so linking never allocates or fails.
#pragma once

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

/// What an item of a linked_list holds for it.
template <class T>
struct list_links {
  T* next = nullptr;
  T* previous = nullptr;
};

/// Any item can be taken out. The list does not know whether an item is in it: its users do.
template <class T, auto Links>
class linked_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return !first_; }
  T* first() const noexcept { return first_; }
  T* last() const noexcept { return last_; }
  static T* after(const T& item) noexcept { return (item.*Links).next; }

  /// The item that was pushed first of those for which `wanted` holds, or nullptr. Linear.
  template <class Predicate>
  T* find(Predicate wanted) const noexcept {
    T* item = first_;
    while (item && !wanted(*item)) item = after(*item);
    return item;
  }

  /// At the end.
  void push(T& item) noexcept {
    item.*Links = {nullptr, last_};
    (last_ ? (last_->*Links).next : first_) = &item;
    last_ = &item;
  }

  void remove(T& item) noexcept {
    const list_links<T> at = item.*Links;
    (at.previous ? (at.previous->*Links).next : first_) = at.next;
    (at.next ? (at.next->*Links).previous : last_) = at.previous;
    item.*Links = {};
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace fj::inline v0_1::detail
