#include "runtime/profile/dag.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "forkjoin/abi/os/ticks.hpp"
#include "runtime/os/variable.hpp"
#include "runtime/profile/strands.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace profile { namespace dag {

namespace {

constexpr std::size_t most_words = std::size_t{1} << 26;  // half a GiB

// A node's words: its kind, and what it has. A branch has strands, as picoseconds times two, and blocks, as their
// numbers times two and one. A block has the numbers of branches.
constexpr std::uint64_t branch = 3;  // beside the kinds of blocks

using number = std::uint32_t;
constexpr number none = ~number{0};

const char* file = nullptr;
const char* why_not = nullptr;

/// What is open begins there in `open`.
std::vector<std::size_t>& begins = *new std::vector<std::size_t>;
std::vector<std::uint64_t>& open = *new std::vector<std::uint64_t>;

/// The nodes, each after those in it.
std::vector<std::uint64_t>& words = *new std::vector<std::uint64_t>;
std::vector<std::size_t>& ends = *new std::vector<std::size_t>;
std::vector<number>& buckets = *new std::vector<number>;  // of a hash table; a power of two

/// Calls of run, one after the other.
std::vector<std::uint64_t>& runs = *new std::vector<std::uint64_t>;

/// What is recorded takes time that is no strand's.
class left_out {
 public:
  left_out() = default;
  ~left_out() { leave_out(os::ticks_in_order() - began_); }
  left_out(const left_out&) = delete;
  left_out& operator=(const left_out&) = delete;

 private:
  const std::uint64_t began_ = os::ticks_in_order();
};

struct content {
  const std::uint64_t *begin, *end;
};

content of(number node) noexcept {
  return {words.data() + (node == 0 ? 0 : ends[node - 1]), words.data() + ends[node]};
}

number& bucket_of(const content& one) noexcept {
  std::uint64_t hash = 0;
  for (const std::uint64_t* word = one.begin; word != one.end; ++word) {
    hash = (hash ^ *word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  std::size_t at = hash & (buckets.size() - 1);
  for (; buckets[at] != none; at = (at + 1) & (buckets.size() - 1)) {
    const content known = of(buckets[at]);
    if (std::equal(known.begin, known.end, one.begin, one.end)) break;
  }
  return buckets[at];
}

/// The number of the node that has this.
number kept(const content& one) {
  if (2 * (ends.size() + 1) > buckets.size()) {
    buckets.assign(std::max<std::size_t>(2 * buckets.size(), 1024), none);
    for (number node = 0; node != ends.size(); ++node) bucket_of(of(node)) = node;
  }
  number& found = bucket_of(one);
  if (found == none) {
    found = static_cast<number>(ends.size());
    words.insert(words.end(), one.begin, one.end);
    ends.push_back(words.size());
    if (words.size() > most_words) give_up("it has too many branches that differ; profile a smaller input");
  }
  return found;
}

void begin(std::uint64_t kind) {
  begins.push_back(open.size());
  open.push_back(kind);
}

/// What began last ends.
number end() {
  const std::size_t first = std::exchange(begins.back(), 0);
  begins.pop_back();
  const number node = kept({open.data() + first, open.data() + open.size()});
  open.resize(first);
  return node;
}

/// A branch does that next.
void do_next(number node) { open.push_back(std::uint64_t{node} << 1 | 1); }

void print_numbers(std::FILE* to, const content& node) {
  const char* before = "";
  for (const std::uint64_t* word = node.begin + 1; word != node.end; ++word, before = ", ")
    std::fprintf(to, "%s%" PRIu64, before, *word);
}

void print_time(std::FILE* to, std::uint64_t ps) {
  std::fprintf(to, "{\"work_ns\": %" PRIu64 ".%03u}", ps / 1000, static_cast<unsigned>(ps % 1000));
}

void print(std::FILE* to, const content& node) {
  static constexpr const char* names[] = {"parallel", "loop", "scope"};
  if (*node.begin != branch) {
    std::fprintf(to, "{\"%s\": [", names[*node.begin]);
    print_numbers(to, node);
    std::fputs("]}", to);
  } else if (node.end - node.begin == 1) {
    print_time(to, 0);
  } else if (node.end - node.begin == 2 && (node.begin[1] & 1) == 0) {
    print_time(to, node.begin[1] >> 1);
  } else {
    const char* before = "{\"series\": [";
    for (const std::uint64_t* word = node.begin + 1; word != node.end; ++word, before = ", ") {
      std::fputs(before, to);
      if ((*word & 1) != 0) {
        std::fprintf(to, "%" PRIu64, *word >> 1);
      } else {
        print_time(to, *word >> 1);
      }
    }
    std::fputs("]}", to);
  }
}

}  // namespace

void start() noexcept {
  file = os::variable("FORKJOIN_PROFILE_DAG");
  is_recorded = file != nullptr;
}

void give_up(const char* why) noexcept {
  is_recorded = false;
  if (!why_not) why_not = why;
}

void run_begins_slow() noexcept {
  begins.clear();
  open.clear();
  begin(branch);
}

void run_ends_slow() noexcept { runs.push_back(std::uint64_t{end()} << 1 | 1); }

void strand_slow(double ticks) noexcept {
  const left_out time;
  const auto ps = static_cast<std::uint64_t>(ticks / ticks_per_ns * 1000 + 0.5);
  if (begins.empty() || ps == 0) return;
  if (open.size() - begins.back() > 1 && (open.back() & 1) == 0) {
    open.back() += ps << 1;
  } else {
    open.push_back(ps << 1);
  }
}

void branch_begins_slow() noexcept {
  const left_out time;
  begin(branch);
}

void branch_ends_slow() noexcept {
  const left_out time;
  const number node = end();
  open.push_back(node);
}

void block_begins_slow(dag_block is) noexcept {
  const left_out time;
  begin(static_cast<std::uint64_t>(is));
}

void block_is_slow(dag_block is) noexcept { open[begins.back()] = static_cast<std::uint64_t>(is); }

// One branch is no fork.
void block_ends_slow() noexcept {
  const left_out time;
  const std::size_t first = begins.back();
  if (open.size() - first > 2) return do_next(end());
  const bool is_empty = open.size() - first == 1;
  const std::uint64_t only = open.back();
  begins.pop_back();
  open.resize(first);
  if (!is_empty) do_next(static_cast<number>(only));
}

void write(bool is_whole) noexcept {
  if (!file) return;
  if (!is_whole) give_up("the program ends inside of fj::run");
  if (why_not) {
    std::fprintf(stderr, "forkjoin-profile: FORKJOIN_PROFILE_DAG: no graph is written: %s\n", why_not);
    return;
  }
  // The last node is the program.
  if (runs.size() == 1) {
    runs.assign(of(static_cast<number>(runs[0] >> 1)).begin, of(static_cast<number>(runs[0] >> 1)).end);
  } else {
    runs.insert(runs.begin(), branch);
  }
  words.insert(words.end(), runs.begin(), runs.end());
  ends.push_back(words.size());
  std::FILE* const to = std::fopen(file, "we");
  if (to) {
    std::fputs("{\"forkjoin-dag\": 1, \"nodes\": [", to);
    for (number node = 0; node != ends.size(); ++node) {
      std::fputs(node == 0 ? "\n" : ",\n", to);
      print(to, of(node));
    }
    std::fputs("]}\n", to);
  }
  const bool failed = !to || std::ferror(to) != 0;
  if ((to && std::fclose(to) != 0) || failed)
    std::fprintf(stderr, "forkjoin-profile: FORKJOIN_PROFILE_DAG: cannot write %s\n", file);
}

}}}}}  // namespace fj::v0_4::detail::profile::dag
