"""schedules_test.py BUGS: schedules by a seed are the same each time, and fj::explore finds what few other runs show.

BUGS is made of schedules/bugs.cpp.  schedules_test.py --table BUGS prints in how many runs each way finds each bug, as Markdown.

Tried with bugs in the library: with a clock that is not counted in the chunks of loops (chunks.hpp: steady_clock in place of os::now_ns)
test_a_seed_is_one_schedule fails; with the usual choice everywhere (replay.cpp: choose) philosophers is not found."""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import unittest

BUGS = sys.argv.pop()
SEEDS = 100
WAYS = {
    "plain runs": {},
    "`FORKJOIN_CHAOS`": {"FORKJOIN_CHAOS": "{seed}"},
    "`FORKJOIN_STEAL_EVERY_FORK`": {"FORKJOIN_STEAL_EVERY_FORK": "1"},
}


def run(*arguments, timeout=120, **environment):
    environment = {**{k: v for k, v in os.environ.items() if not k.startswith("FORKJOIN_")}, **environment}
    return subprocess.run([BUGS, *arguments], env=environment, capture_output=True, text=True, timeout=timeout)


def names():
    return run().stdout.split()


def explored(name):
    """Of the first schedule that fails: after how many, what the report says, and the line that asks for it again."""
    done = run(name, "explore", str(SEEDS))
    found = re.search(r"(\d+) schedules, \d+ different, found", done.stdout)
    again = re.search(r"FORKJOIN_SCHEDULE=(\S+)", done.stderr)
    return int(found[1]) if found else None, done.stderr, again and again[1]


def failures(name, way):
    """In how many of as many runs the bug shows. One that hangs is over after a second: it has failed, too."""
    count = 0
    for seed in range(1, SEEDS + 1):
        try:
            environment = {k: v.format(seed=seed) for k, v in WAYS[way].items()}
            count += run(name, "run", timeout=2, **environment).returncode != 0
        except subprocess.TimeoutExpired:
            count += 1
    return count


class SchedulesTest(unittest.TestCase):
    def test_finds_bugs(self):
        every = names()
        self.assertEqual(len(every), 20)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = dict(zip(every, pool.map(explored, every)))
        for name, (after, report, again) in found.items():
            with self.subTest(name):
                self.assertIsNotNone(after)
                self.assertIn(f"explore: schedule {after} fails: ", report)
                self.assertIn(" are not the usual ones; it fails with", report)
                # Where it dies by an exception or a deadlock, as in the copy.
                self.assertNotEqual(run(name, "explore", FORKJOIN_SCHEDULE=again).returncode, 0)
                repeated = run(name, "run", FORKJOIN_SCHEDULE=again)
                self.assertNotEqual(repeated.returncode, 0)
                self.assertNotIn("could be made", repeated.stderr)

    def test_a_seed_is_one_schedule(self):
        for seed, processes, each in ((1, 3, 30), (2, 3, 30), (3, 10, 100), (4, 3, 30)):
            hashes = set()
            for number in range(processes):
                # Another environment is another stack, and so are other addresses.
                done = run("hash", str(seed), str(each), PADDING="x" * 997 * number)
                self.assertEqual(done.returncode, 0, done.stderr)
                got = done.stdout.split()
                self.assertEqual(len(got), each)
                hashes.update(got)
            self.assertEqual(len(hashes), 1, seed)

    def test_seeds_differ(self):
        hashes = [run("hash", str(seed), "1").stdout for seed in range(1, 21)]
        self.assertEqual(len(set(hashes)), 20)

    def test_counts_are_printed(self):
        done = run("lost_update", "run", FORKJOIN_SCHEDULE="2", FORKJOIN_STATS="1")
        self.assertRegex(done.stderr, r"threads took turns, as asked for: \d+ choices, hash [0-9a-f]{16}")

    def test_a_schedule_of_another_program(self):
        for schedule, is_strange in (("2:", False), ("2:1000000=1", True), ("2:5=200", True)):
            done = run("lost_update", "run", FORKJOIN_SCHEDULE=schedule)
            self.assertEqual("not all changes that the schedule lists could be made" in done.stderr, is_strange, schedule)

    def test_copies_write_no_traces(self):
        with tempfile.TemporaryDirectory() as folder:
            run("depends_on_clock", "explore", "10", FORKJOIN_TRACE=f"{folder}/%p.trace", FORKJOIN_FLIGHT_RECORDER=f"{folder}/%p.flight")
            self.assertEqual(os.listdir(folder), [])

    def test_schedules_that_make_no_sense(self):
        for text in ("x", "-1", "17x", "17:x", "17:5", "17:5=", "17:0=1", "17:5=3,4=1", "17:5=99999", "17:5=1 "):
            done = run("lost_update", "run", FORKJOIN_SCHEDULE=text)
            self.assertEqual(done.returncode, 1, text)
            self.assertIn('forkjoin: the schedule is "', done.stdout)
        self.assertEqual(run("lost_update", "run", FORKJOIN_SCHEDULE="17:").returncode, 0)

    def test_a_program_that_does_not_repeat(self):
        done = run("depends_on_clock", "explore", "10")
        self.assertIn("the same seed gave another course", done.stderr)

    def test_a_loop_without_operations(self):
        done = run("no_end", "explore", "3")
        self.assertIn("the schedule has no end: 1000000 choices were made", done.stderr)


def print_table():
    print("| bug | " + " | ".join(WAYS) + " | `fj::explore`: found after |")
    print("|---|" + "---|" * (len(WAYS) + 1))
    for name in names():
        cells = [f"{failures(name, way)} %" for way in WAYS]
        after = explored(name)[0]
        print(f"| `{name}` | " + " | ".join(cells) + f" | {'not' if after is None else after} |", flush=True)


if __name__ == "__main__":
    if "--table" in sys.argv:
        print_table()
    else:
        unittest.main()
