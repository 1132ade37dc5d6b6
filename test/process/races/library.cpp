// The standard library: containers, reference counts, text; and what programs do with memory.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <forkjoin/forkjoin.hpp>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "test/process/races/cases.hpp"

using races_test::unknown;
using races_test::use;

namespace {

struct shape {
  virtual ~shape() { corners = 0; }
  virtual int size() const { return corners; }
  int corners = 4;
};

struct named_shape : shape {
  ~named_shape() override { name.clear(); }
  int size() const override { return static_cast<int>(name.size()); }
  std::string name = std::string(40, 'x');
};

thread_local std::vector<int> scratch;
thread_local std::string text;

CASE(reference_counts) {  // clean: the last owner destroys, whoever that is, and comes after all others
  std::vector<int> out(30);
  fj::run([&] {
    fj::scope s;
    for (std::size_t i = 0; i != 10; ++i) {
      const auto made = std::make_shared<named_shape>();
      s.fork([made, &to = out[i]] { to = made->size(); });
      const std::shared_ptr<shape> other(new named_shape);
      s.fork([other, &to = out[i + 10]] { to = other->size(); });
    }
    auto last = std::make_shared<named_shape>();
    s.fork([last, &to = out[20]] { to = last->size(); });
    s.fork([last = std::move(last), &to = out[21]] { to = last->size(); });
  });
}

struct counted {
  [[gnu::noinline]] bool release() { return owners.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  std::atomic<int> owners{2};
  long values[8] = {};
};

CASE(release_that_returns) {  // clean: the last owner calls a function that counts, and destroys by its result
  auto* const object = new counted;
  const auto take = [=](int at) {
    object->values[at] = at;
    if (object->release()) delete object;
  };
  fj::fork_join([=] { take(1); }, [=] { take(2); });
}

CASE(last_to_come) {  // clean: a counter that each branch takes down once
  std::vector<long> parts(8);
  std::atomic<int> left{8};
  long total = 0;
  fj::parallel_for(std::size_t{0}, parts.size(), [&](std::size_t i) {
    parts[i] = static_cast<long>(i);
    if (left.fetch_sub(1) == 1)
      for (const long part : parts) total += part;
  });
  use(total);
}

CASE(after_counting) {  // racy, merged: what the others do after they have counted is beside the last one
  std::atomic<int> left{2};
  long total = 0;
  fj::parallel_for(0, 2, [&](int i) {
    if (left.fetch_sub(1) == 1)
      total += i;  // race: a
    else
      total += i;  // race: b
  });
  use(total);
}

CASE(beside_the_last) {  // racy: one branch does not count
  std::atomic<int> left{2};
  long total = 0;
  const auto count = [&] {
    if (left.fetch_sub(1) == 1) total = 2;  // race: a
  };
  fj::fork_join([&] { total = 1; },  // race: b
                count, count);
}

CASE(handed_on) {  // clean: a branch hands its reference on to a branch of its own
  const auto write = [](std::shared_ptr<named_shape> of) {
    of->name += "y";
    fj::scope inner;
    inner.fork([of = std::move(of)] { static_cast<void>(of->size()); });
  };
  auto made = std::make_shared<named_shape>();
  fj::run([&] {
    fj::scope s;
    s.fork([write, made]() mutable { write(std::move(made)); });
    s.fork([made = std::move(made)] {});
  });
}

CASE(owners_of_owners) {  // clean: the strand that destroys an object may be the last owner of what it has
  struct list {
    std::shared_ptr<list> rest;
    std::shared_ptr<named_shape> mine = std::make_shared<named_shape>();
  };
  fj::run([&] {
    fj::scope s;
    std::shared_ptr<list> all;
    for (int i = 0; i != 5; ++i) {
      all = std::make_shared<list>(list{all});
      s.fork([all] { all->mine->corners = 5; });
      s.fork([shape = all->mine] { static_cast<void>(shape->size()); });
    }
    s.fork([all = std::move(all)] {});
  });
}

CASE(zero_by_chance) {  // racy: in the serial run each branch takes the counter to zero
  std::atomic<int> active{0};
  int x = 0;
  fj::parallel_for(0, 20, [&](int i) {
    active.fetch_add(1);
    use(i);
    active.fetch_sub(1);
    x += i;  // race: a b
  });
  use(x);
}

CASE(shared_object) {  // racy: a reference count does not order what owners do
  const auto word = std::make_shared<std::string>("word");
  fj::fork_join([word] { (*word)[1] = 'x'; },   // race: a
                [word] { (*word)[1] = 'y'; });  // race: b
}

CASE(owner_after_the_fork) {  // racy
  fj::run([&] {
    fj::scope s;
    auto number = std::make_shared<int>(3);
    s.fork([number] { *number = 4; });  // race: a
    *number = 5;                        // race: b
  });
}

CASE(thread_local_buffers) {  // clean: two strands that run at the same time have two threads
  std::vector<int> out(30);
  fj::parallel_for(std::size_t{0}, out.size(), [&](std::size_t i) {
    scratch.clear();
    for (std::size_t k = 0; k != 30 + i; ++k) scratch.push_back(static_cast<int>(k * i));
    text.assign(50 + i, 'x');
    out[i] = scratch[i] + static_cast<int>(text.size());
  });
}

CASE(heap_in_ignored_code) {  // clean: blocks that a branch has freed, and what is made once gets
  const auto table = []() -> const std::vector<int>& {
    static const std::vector<int> made(100, 3);
    return made;
  };
  std::once_flag once;
  std::unique_ptr<std::vector<int>> later;
  std::vector<int> out(20);
  fj::parallel_for(std::size_t{0}, out.size(), [&](std::size_t i) {
    {
      std::vector<int> some(100, static_cast<int>(i)), more(100, 4);
      out[i] = some[5] + more[6];
    }
    if (i > 4) out[i] += table()[i];
    if (i > 8) {
      std::call_once(once, [&] { later = std::make_unique<std::vector<int>>(100, 5); });
      out[i] += (*later)[i];
    }
  });
}

CASE(fold_of_texts) {  // clean: what is folded uses the stack that later iterations use, too
  std::string all = fj::fork_reduce(
      0, 50, std::string(), [](std::string a, const std::string& b) { return a + b; },
      [](int i) {
        std::array<int, 50> some{};
        some[static_cast<std::size_t>(i)] = unknown(i);
        use(some);
        return std::string(static_cast<std::size_t>(some[static_cast<std::size_t>(i)]), 'x');
      });
  use(all);
}

CASE(containers_in_branches) {  // clean
  std::vector<std::string> out(30);
  fj::parallel_for(std::size_t{0}, out.size(), [&](std::size_t i) {
    std::map<std::string, std::size_t> m;
    std::unordered_map<std::size_t, std::string> u;
    std::list<std::size_t> l;
    for (std::size_t k = 0; k != 20; ++k) {
      m[std::to_string((k * 7 + i) % 13)] += k;
      u[k * i] += 'a';
      l.push_front(k);
    }
    l.sort();
    l.remove_if([](std::size_t x) { return x % 3 == 0; });
    m.erase(m.begin());
    std::ostringstream o;
    o << m.size() << ' ' << u.size() << ' ' << 0.5 * static_cast<double>(l.back());
    out[i] = o.str();
  });
}

CASE(expressions) {  // clean: the library keeps what it has found out of characters, for all
  const std::regex pattern("([a-z]+) ([0-9]+)");
  std::vector<std::string> out(10);
  fj::parallel_for(std::size_t{0}, out.size(), [&](std::size_t i) {
    std::smatch found;
    const std::string line = "row " + std::to_string(i);
    if (std::regex_match(line, found, pattern)) out[i] = found[2];
    if (std::regex_search(line, std::regex("r+o*"))) out[i] += "!";
  });
}

CASE(results_and_exceptions) {  // clean
  std::vector<std::size_t> out(60);
  fj::parallel_for(std::size_t{0}, out.size(), [&](std::size_t i) {
    try {
      auto [a, b] = fj::fork_join(
          [=] {
            if (i % 3 == 0) throw std::runtime_error("bad " + std::to_string(i));
            return std::string(40, 'a');
          },
          [=] { return std::vector<std::size_t>(30, i); });
      out[i] = a.size() + b[3];
    } catch (const std::exception& e) {
      out[i] = std::string(e.what()).size();
    }
  });
}

CASE(map_read_and_insertion) {  // racy
  std::map<int, int> m{{1, 2}, {3, 4}};
  std::size_t n = 0;
  fj::fork_join([&] { n = m.count(unknown(3)); },  // race: a
                [&] { m[5] = 6; });                // race: b
  use(n);
}

CASE(map_iteration_and_erasure) {  // racy
  std::map<int, int> m{{1, 2}, {3, 4}, {5, 6}};
  int last = 0;
  fj::fork_join([&] { last = std::next(m.begin(), 2)->second; },  // race: a
                [&] { m.erase(unknown(1)); });                    // race: b
  use(last);
}

CASE(list_iteration_and_insertion) {  // racy
  std::list<int> l{1, 2, 3};
  int sum = 0;
  fj::fork_join([&] { sum = std::accumulate(l.begin(), l.end(), 0); },  // race: a
                [&] { l.push_back(4); });                               // race: b
  use(sum);
}

CASE(set_insertions) {  // racy
  std::set<std::string> s{"a", "b"};
  fj::fork_join([&] { s.insert("c"); },   // race: a
                [&] { s.insert("d"); });  // race: b
}

CASE(hash_insertions) {  // racy
  std::unordered_map<int, int> m;
  fj::parallel_for(0, 20, [&](int i) { m[i] = i; });  // race: a b
}

CASE(vector_growth) {  // racy
  std::vector<int> v{1, 2};
  std::size_t n = 0;
  fj::fork_join([&] { v.push_back(3); },  // race: a
                [&] { n = v.size(); });   // race: b
  use(n);
}

CASE(text_growth) {  // racy
  std::string s;
  fj::fork_join([&] { s += "abc"; },   // race: a
                [&] { s += "def"; });  // race: b
  use(s);
}

CASE(text_characters) {  // clean: neighbours
  std::string s(100, 'x');
  fj::parallel_for(std::size_t{0}, s.size(), [&](std::size_t i) { s[i] = static_cast<char>('a' + i % 26); });
  use(s);
}

CASE(exception_of_branches) {  // clean: the last owner destroys it
  struct bad {
    std::string what = std::string(50, 'x');
  };
  const auto look = [](const std::exception_ptr& at) {
    try {
      std::rethrow_exception(at);
    } catch (const bad& one) {
      return one.what.size();
    }
  };
  std::size_t n = 0, m = 0;
  fj::run([&] {
    fj::scope s;
    std::exception_ptr error;
    try {
      throw bad();
    } catch (...) {
      error = std::current_exception();
    }
    s.fork([look, error, &n]() mutable {
      n = look(error);
      error = nullptr;
    });
    s.fork([look, error = std::move(error), &m]() mutable {
      m = look(error);
      error = nullptr;
    });
  });
  use(n = n + m);
}

CASE(pool_of_branches) {  // clean: what one branch has given back the next one gets
  std::pmr::synchronized_pool_resource pool;
  std::vector<std::size_t> out(30);
  fj::parallel_for(std::size_t{0}, out.size(), [&](std::size_t i) {
    std::pmr::vector<int> some(20 + i % 3, static_cast<int>(i), &pool);
    std::pmr::list<std::pmr::string> words({"one", "a second one that is longer than others"}, &pool);
    out[i] = some.size() + words.size();
  });
  use(out);
}

CASE(pool_gets_memory_back) {  // racy: the other branch still uses it
  std::pmr::synchronized_pool_resource pool;
  int* const some = static_cast<int*>(pool.allocate(400));
  some[7] = 1;
  int n = 0;
  fj::fork_join([&] { n = some[7]; },                  // race: a
                [&] { pool.deallocate(some, 400); });  // race: b
  use(n);
}

CASE(pool_without_lock) {  // racy
  std::pmr::unsynchronized_pool_resource pool;
  fj::fork_join([&] { static_cast<void>(pool.allocate(40)); },   // race: a
                [&] { static_cast<void>(pool.allocate(40)); });  // race: b
}

CASE(formatted) {  // racy
  char line[50] = "";
  char c = 0;
  fj::fork_join([&] { std::snprintf(line, sizeof line, "row %d", unknown(4)); },  // race: a
                [&] { c = line[2]; });                                            // race: b
  use(c);
}

}  // namespace
