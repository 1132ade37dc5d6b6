// parallel_transform: in all its forms, with exceptions and cancellation.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "forkjoin/transform.hpp"
#include "test/support.hpp"

TEST_CASE("parallel_transform is std::transform") {
  test::for_each_runtime("transform", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const std::size_t n : {0u, 1u, 2u, 100u, 3000u}) {
      for (const std::size_t grain : {0u, 1u, 100u}) {
        CAPTURE(n);
        CAPTURE(grain);
        const fj::loop_options options{.grain = grain};
        std::vector<int> in(n);
        std::iota(in.begin(), in.end(), 0);
        std::vector<std::string> expected(n), out(n);
        const auto to_string = [](int x) { return std::to_string(x); };
        std::transform(in.begin(), in.end(), expected.begin(), to_string);
        rt.run([&] {
          CHECK(fj::parallel_transform(in.begin(), in.end(), out.begin(), to_string, options) == out.end());
          CHECK(out == expected);
          std::deque<std::string> others(n);
          CHECK(fj::parallel_transform(in, others.begin(), to_string, options) == others.end());
          CHECK(std::ranges::equal(others, expected));
          CHECK(fj::parallel_transform(out.begin(), out.end(), others.begin(), out.begin(), std::plus<>(), options) ==
                out.end());
          for (std::string& s : expected) s += s;
          CHECK(out == expected);
          std::vector<std::size_t> sizes(n);
          fj::parallel_transform(out, sizes.begin(), &std::string::size, options);
          CHECK(std::ranges::equal(sizes, expected, {}, {}, &std::string::size));
        });
      }
    }
  });
}

TEST_CASE("parallel_transform throws what std::transform would throw, and is cancelled") {
  test::for_each_runtime("transform exceptions", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    std::vector<int> in(500);
    std::iota(in.begin(), in.end(), 0);
    for (const std::size_t grain : {0u, 1u, 7u}) {
      int thrown = -1;
      try {
        rt.run([&] {
          std::vector<int> out(in.size());
          fj::parallel_transform(in, out.begin(), [](int x) { return x < 77 ? x : throw x; }, {.grain = grain});
        });
      } catch (int x) {
        thrown = x;
      }
      CHECK(thrown == 77);
      fj::stop_source source;
      source.request_stop();
      const fj::stop_token token = source.get_token();
      CHECK_THROWS_AS(rt.run([&] {
        return fj::parallel_transform(in, in.begin(), std::negate<>(), {.grain = grain, .stop = &token});
      }),
                      fj::cancelled);
      CHECK(in[499] == 499);
    }
  });
}
