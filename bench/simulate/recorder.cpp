#include "bench/simulate/recorder.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace simulate {

namespace {

constexpr picoseconds longest_work = (picoseconds{1} << 47) - 1;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t product = (a ^ b) * 0x9e3779b97f4a7c15u;
  return product ^ product >> 32;
}

std::uint64_t pair_of(std::uint32_t low, std::uint32_t high) noexcept { return low | std::uint64_t{high} << 32; }

}  // namespace

void recorder::works(picoseconds time) {
  picoseconds& worked = calls_.back().worked;
  worked += time;
  if (time < 0 || worked > longest_work)
    throw std::length_error("a strand works for longer than two minutes; record a smaller problem");
}

void recorder::begin() { calls_.push_back({open_.size()}); }

node recorder::end() {
  call now = calls_.back();
  open_.push_back(step_of(now, {recorded::none}, {recorded::none}, 0));
  calls_.pop_back();
  const std::uint32_t found = kept(now.first);
  open_.resize(now.first);
  return {found};
}

void recorder::forks(const node& left, const node& right, const loop_parts& parts, std::uint32_t iterations) {
  open_.push_back(step_of(calls_.back(), left, right, number_of({parts, iterations})));
}

recorded recorder::take(const node& root) {
  made_.root_ = root;
  return std::move(made_);
}

recorder::saved recorder::step_of(call& now, const node& left, const node& right, std::uint64_t loop) {
  return {std::exchange(now.worked, 0), loop, left.kind, right.kind};
}

std::uint64_t recorder::number_of(const loop_kind& kind) {
  if (kind == loop_kind{}) return 0;
  const auto [found, is_new] = loop_numbers_.try_emplace(kind, made_.loops_.size());
  if (is_new) made_.loops_.push_back(kind);
  if (found->second > 65'535) throw std::length_error("the loops have over 65,535 parts; record a smaller problem");
  return found->second;
}

// The node whose steps are open_[first...]: the known one, if there is one.
std::uint32_t recorder::kept(std::size_t first) {
  std::vector<saved>& steps = made_.steps_;
  if (2 * nodes_ >= buckets_.size()) grow();
  const auto begin = open_.begin() + static_cast<std::ptrdiff_t>(first);
  std::uint32_t& found = bucket_of(&*begin);
  if (found == recorded::none) {
    if (steps.size() + (open_.size() - first) > recorded::none)
      throw std::length_error("more than four billion steps differ; record a smaller problem");
    found = static_cast<std::uint32_t>(steps.size());
    steps.insert(steps.end(), begin, open_.end());
    ++nodes_;
  }
  return found;
}

// Where the node with these steps is, or the empty bucket where it belongs. The last step of a call, and no other, is
// one that ends it, so the comparison stops there.
std::uint32_t& recorder::bucket_of(const saved* steps) {
  const auto is_last = [](const saved& s) { return s.left == recorded::none; };
  std::uint64_t hash = 0;
  for (const saved* s = steps;; ++s) {
    hash = mixed(mixed(hash, static_cast<std::uint64_t>(s->work) << 16 ^ s->loop), pair_of(s->left, s->right));
    if (is_last(*s)) break;
  }
  const auto same = [&](std::uint32_t node) {
    const saved *known = &made_.steps_[node], *wanted = steps;
    for (; *known == *wanted; ++known, ++wanted)
      if (is_last(*known)) return true;
    return false;
  };
  std::size_t at = hash & (buckets_.size() - 1);
  while (buckets_[at] != recorded::none && !same(buckets_[at])) at = (at + 1) & (buckets_.size() - 1);
  return buckets_[at];
}

void recorder::grow() {
  const std::vector<std::uint32_t> before = std::exchange(
      buckets_, std::vector<std::uint32_t>(std::max<std::size_t>(2 * buckets_.size(), 1024), recorded::none));
  for (const std::uint32_t node : before)
    if (node != recorded::none) bucket_of(&made_.steps_[node]) = node;
}

}  // namespace simulate
