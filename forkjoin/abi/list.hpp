// Intrusive lists: an item has its own `next`, a T* or a relaxed<T*>, so linking never allocates and never fails.
#pragma once

namespace fj { inline namespace v0_4 { namespace detail {

/// Last in, first out: the item used last is on top, and still in the cache.
template <class T, auto Next>
class stack_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return !head_; }

  void push(T* item) noexcept {
    item->*Next = head_;
    head_ = item;
  }

  /// The item that pop returns next, or nullptr.
  T* top() const noexcept { return head_; }

  /// The item pushed last, or nullptr.
  T* pop() noexcept {
    T* item = head_;
    if (item) {
      head_ = item->*Next;
      item->*Next = nullptr;
    }
    return item;
  }

  /// Takes that item out. False if it is not in the list. Linear.
  bool remove(T* item) noexcept {
    if (item == head_) return pop();
    T* before = head_;
    while (before && before->*Next != item) before = before->*Next;
    if (!item || !before) return false;
    before->*Next = item->*Next;
    item->*Next = nullptr;
    return true;
  }

 private:
  T* head_ = nullptr;
};

/// The links in an item of a linked_list.
template <class T>
struct list_links {
  T* next = nullptr;
  T* previous = nullptr;
};

struct layout;

/// A list from which any item can be taken. It does not know whether an item is in it; its user has to.
template <class T, auto Links>
class linked_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return !first_; }
  T* first() const noexcept { return first_; }
  T* last() const noexcept { return last_; }
  static T* after(const T& item) noexcept { return (item.*Links).next; }
  static T* before(const T& item) noexcept { return (item.*Links).previous; }

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

  void push_front(T& item) noexcept {
    item.*Links = {first_, nullptr};
    (first_ ? (first_->*Links).previous : last_) = &item;
    first_ = &item;
  }

  void remove(T& item) noexcept {
    const list_links<T> at = item.*Links;
    (at.previous ? (at.previous->*Links).next : first_) = at.next;
    (at.next ? (at.next->*Links).previous : last_) = at.previous;
    item.*Links = {};
  }

 private:
  friend struct layout;

  T* first_ = nullptr;
  T* last_ = nullptr;
};

}}}  // namespace fj::v0_4::detail
