"""Public headers compile in any order, each used before the next comes: header_orders.py -- <compiler and flags>

Of each header there is a program that begins with it and its use, and has all the others after it, every second program in the reverse
order: so each pair is there in both orders. The same of the headers that the race detector and the profiler have, with their flags. Templates that are instantiated early are what goes wrong, so a header without any needs no use. Tried with the friend function
with_scope that forkjoin/scope.hpp had: g++ 12 refuses every program that has scope.hpp before with_scope.hpp;
without scope_access in forkjoin/serial/scope.hpp both compilers refuse every program of the race detector and of the profiler.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import library_headers  # noqa: E402

NUMBERS = "std::vector<int> a(9), b(9);"
USES = {
    "asio.hpp": "static_cast<void>(fj::use_fiber);",
    "benign_race.hpp": "fj::benign_race([] {});",
    "combinable.hpp": "fj::combinable<int> x; x.with_local([](int& y) { y = 1; }); static_cast<void>(x.combine([](int p, int q) { return p + q; }));",
    "copy_if.hpp": NUMBERS + "fj::parallel_copy_if(a, b.begin(), [](int x) { return x > 0; });",
    "execution.hpp": "fj::runtime x; fj::wait(x.scheduler().schedule());",
    "explore.hpp": "static_cast<void>(fj::explore([] { return 1; }));",
    "find.hpp": NUMBERS + "static_cast<void>(fj::parallel_find(a, 1));",
    "fork_each.hpp": NUMBERS + "fj::fork_each(a, [](int&) {});",
    "fork_join.hpp": "fj::fork_join([] {}, [] { return 1; });",
    "fork_reduce.hpp": "static_cast<void>(fj::fork_reduce(0, 9, 0, std::plus<>(), [](int x) { return x; }));",
    "forkjoin.hpp": "fj::fork_join([] {}, [] {});",
    "go.hpp": "fj::go([] {}).get();",
    "loop_options.hpp": "fj::loop_options x{.grain = 1}; static_cast<void>(x);",
    "merge.hpp": NUMBERS + "std::vector<int> c(18); fj::parallel_merge(a, b, c.begin());",
    "parallel_for.hpp": NUMBERS + "fj::parallel_for(0, 9, [&](int i) { a[std::size_t(i)] = i; });",
    "parallel_for_2d.hpp": "fj::parallel_for_2d(0, 9, 0, 9, [](int, int) {});",
    "parallel_for_blocks.hpp": "fj::parallel_for_blocks(0, 9, [](int, int) {});",
    "parallel_for_each.hpp": NUMBERS + "fj::parallel_for_each(a, [](int&) {});",
    "parallel_scheduler.hpp": "static_cast<void>(stdexec::get_parallel_scheduler());",
    "partition.hpp": NUMBERS + "fj::parallel_partition(a, [](int x) { return x > 0; });",
    "policies.hpp": "fj::continuations* x = nullptr; static_cast<void>(x);",
    "reduce.hpp": NUMBERS + "static_cast<void>(fj::parallel_reduce(a, 0, std::plus<>()));",
    "run.hpp": "fj::run([] {}); fj::runtime x; x.run([] {});",
    "scan.hpp": NUMBERS + "fj::parallel_inclusive_scan(a, b.begin());",
    "scope.hpp": "fj::scope s; s.fork([] {}); s.join();",
    "sort.hpp": NUMBERS + "fj::parallel_sort(a);",
    "stable_partition.hpp": NUMBERS + "fj::parallel_stable_partition(a, [](int x) { return x > 0; });",
    "stable_sort.hpp": NUMBERS + "fj::parallel_stable_sort(a);",
    "stop.hpp": "fj::stop_token x; static_cast<void>(x);",
    "task_group.hpp": "fj::task_group x; x.run([] {}); x.wait();",
    "trace.hpp": "fj::trace_mark(\"x\");",
    "transform.hpp": NUMBERS + "fj::parallel_transform(a, b.begin(), [](int x) { return x; });",
    "with_scope.hpp": "fj::with_scope([](fj::scope& s) { s.fork([] {}); });",
    "go/barrier.hpp": "fj::barrier x(1); x.arrive_and_wait();",
    "go/blocking.hpp": "fj::blocking([] {});",
    "go/channel.hpp": "fj::channel<int> x(1); x.send(1);",
    "go/condition_variable.hpp": "fj::condition_variable x; x.notify_one();",
    "go/descriptor.hpp": "fj::readable(0);",
    "go/directional_channel.hpp": "fj::channel<int> x(1); fj::receive_channel<int> r = x; static_cast<void>(r);",
    "go/future.hpp": "fj::go([] { return 1; }).get(); fj::promise<int> x; x.set_value(1);",
    "go/latch.hpp": "fj::latch x(1); x.count_down();",
    "go/local.hpp": "static fj::local<int> x; static_cast<void>(x);",
    "go/mutex.hpp": "fj::mutex x; x.lock(); x.unlock();",
    "go/once.hpp": "fj::once x; static_cast<void>(x);",
    "go/lost_fibers.hpp": "fj::lost_fibers();",
    "go/print_fibers.hpp": "fj::print_fibers();",
    "go/select.hpp": "fj::channel<int> x(1); fj::select(fj::on_receive(x, [](auto&&) {}), fj::otherwise([] {}));",
    "go/semaphore.hpp": "fj::semaphore x(1); x.acquire();",
    "go/shared_mutex.hpp": "fj::shared_mutex x; x.lock_shared(); x.unlock_shared();",
    "go/sleep.hpp": "fj::sleep_for(std::chrono::seconds(0)); static_cast<void>(fj::now());",
    "go/wait_group.hpp": "fj::wait_group x; x.wait();",
    "go/wait_options.hpp": "fj::wait_options x; static_cast<void>(x);",
}
# Takes as long as all others, so it is the first of one program and the last of another.
LONG = {"asio.hpp"}
ROOT = pathlib.Path(__file__).resolve().parents[2]
# What uses need of the language. The library's own headers do not come first by that.
LANGUAGE = "#include <chrono>\n#include <cstddef>\n#include <functional>\n#include <vector>\n"


def program(order):
    parts = [LANGUAGE]
    for number, header in enumerate(order):
        parts.append(f'#include "forkjoin/{header}"\nvoid use{number}() {{ {USES.get(header, "")} }}\n')
    return "".join(parts)


def check(flags, order):
    done = subprocess.run([*compiler, *flags, "-fsyntax-only", "-x", "c++", "-"], input=program(order), capture_output=True, text=True)
    return done.returncode == 0 or print(*flags, *order, "\n" + "\n".join(done.stderr.splitlines()[:30]))


def orders(headers):
    every = []
    for number, first in enumerate(headers):
        others = [header for header in headers[number + 1 :] + headers[:number] if header not in LONG]
        every.append([first, *(others if number % 2 else reversed(others))])
    every[-1] += LONG & {*headers} - {*every[-1]}
    return every


def has_templates(header):
    return re.search(r"(?m)^template <", (ROOT / "forkjoin" / header).read_text())


def has_serial_form(header):
    return "needs_runtime.hpp" not in (ROOT / "forkjoin" / header).read_text()


compiler = sys.argv[sys.argv.index("--") + 1 :]
headers = [name.removeprefix("forkjoin/") for name in library_headers.that_compile(library_headers.for_programs(), compiler)]
if unused := [header for header in headers if has_templates(header) and header not in USES]:
    sys.exit(f"no use of {' '.join(unused)}: say one in USES")
serial = [header for header in headers if has_serial_form(header)]
builds = [([], headers), (["-DFORKJOIN_RACES", "-fsanitize=thread"], serial), (["-DFORKJOIN_PROFILE"], [header for header in serial if header != "task_group.hpp"])]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    started = [pool.submit(check, flags, order) for flags, of in builds for order in orders(of)]
    sys.exit(not all([one.result() for one in started]))
