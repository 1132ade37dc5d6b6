"""profile_times_test.py PROFILED SERIAL [case...]: how right the profile's times are, and what it costs. PROFILED and SERIAL are
profile_program.cpp, built as a profile and as a serial twin.

Each bound is on a ratio of times of one run, or of runs in turn; what fails is tried again, as other programs may run. The time of a step is
between the least that was measured in the same runs, and their mean: where the machine is quiet the two are the same. Strands of a hundred steps
are measured as such. Tried with bugs put in, of which each fails: without the costs of readings (strand.own_cost) brief_iterations; without the
thread's clock (taken_away) longest beside busy processes; without the least of several runs (least_of_runs) even_long; without what a window
has more than its strands explain (surprise) rare; with values of a fold one after the other folds; with a strand's position in a scope left
out (way_from) grandchildren; with what follows a join outside of forks on no path (go_on_outside) longest; with each strand timed (way::each)
the cost of fib; with light() twice in a branch the shares."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROFILED, SERIAL = (str(pathlib.Path(name).resolve()) for name in sys.argv[1:3])
del sys.argv[1:3]
SOURCE = pathlib.Path(__file__).with_name("profile_program.cpp")
LINES = {name: number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) for name in re.findall(r"// site: (\w+)", line)}
RUNS = 5
WITHIN = 0.05
TRIES = 4
LEAVES_COST, FIB_COST = 1.05, 12


def profile(case, runs):
    """The profile after so many runs, the steps of its work and of its span that are known, and the least and the most that a step takes."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "FORKJOIN_PROFILE_OUT": folder + "/out", "FORKJOIN_PROFILE_RUNS": folder + "/runs"}
        known = []
        for _ in range(runs):
            done = subprocess.run([PROFILED, case], env=environment, capture_output=True, text=True, check=True, timeout=120)
            known.append([float(number) for number in done.stdout.split()])
        work, span, least, mean = zip(*known)
        return json.loads(pathlib.Path(folder, "out").read_text()), work[0], span[0], min(least), max(mean)


def off(found, steps, least, most):
    """How far a time is from what so many steps take, as a part of it."""
    return min(0, found / (steps * least) - 1) + max(0, found / (steps * most) - 1)


class TimesTest(unittest.TestCase):
    def check(self, case, beside):
        found = []
        for attempt in range(TRIES):
            told, work, span, least, most = profile(case, RUNS + 3 * attempt)
            found.append((off(told["work_ns"], work, least, most), off(told["span_ns"], span, least, most)))
            if max(map(abs, found[-1])) <= WITHIN:
                break
        text = ", ".join(f"work {100 * work:+.1f}% span {100 * span:+.1f}%" for work, span in found)
        print(f"{case:14} {beside:22} {text}", flush=True)
        self.assertLessEqual(max(map(abs, found[-1])), WITHIN, text)

    def check_all(self, beside):
        for case in subprocess.run([PROFILED, "graphs"], capture_output=True, text=True, check=True).stdout.split():
            with self.subTest(case):
                self.check(case, beside)

    def test_known_graphs(self):
        self.check_all("")

    def test_known_graphs_beside_busy_processes(self):
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() + 1)]
        try:
            self.check_all(f"beside {len(busy)} processes")
        finally:
            for one in busy:
                one.kill()
                one.wait()

    def ratio(self, case, most):
        ratios = []
        for _ in range(TRIES):
            profiled, serial = (float(subprocess.run([program, case], env={**os.environ, "FORKJOIN_PROFILE_OUT": os.devnull}, capture_output=True,
                                                     text=True, check=True).stdout) for program in (PROFILED, SERIAL))
            ratios.append(profiled / serial)
            if ratios[-1] <= most:
                break
        print(f"{case}: {', '.join(f'{ratio:.3f}' for ratio in ratios)} times as long as the serial twin")
        self.assertLessEqual(min(ratios), most)

    def test_leaves_of_a_microsecond(self):
        self.ratio("leaves", LEAVES_COST)

    def test_fib(self):
        self.ratio("fib", FIB_COST)

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_shares_are_callgrinds(self):
        """Of what forks and what does not: the shares of the work are those of the instructions that callgrind counts in the serial twin."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", "--dump-instr=no", SERIAL, "shares"], check=True,
                           capture_output=True, timeout=300)
            listed = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", folder + "/out"], check=True,
                                    capture_output=True, text=True).stdout
        counts = {name: int(re.search(rf"(?m)^\s*([\d,]+)\b.*\b{name}\(\)", listed)[1].replace(",", "")) for name in ("light", "heavy", "alone")}
        whole = sum(counts.values())
        for _ in range(TRIES):
            with tempfile.TemporaryDirectory() as folder:
                for _ in range(RUNS):
                    subprocess.run([PROFILED, "shares"], env={**os.environ, "FORKJOIN_PROFILE_OUT": folder + "/out",
                                                             "FORKJOIN_PROFILE_RUNS": folder + "/runs"}, check=True, timeout=120)
                told = json.loads(pathlib.Path(folder, "out").read_text())
            own = {name: sum(site["own_ns"] for site in told["sites"] if site["line"] == LINES[name] and site["kind"] == "fork_join")
                   for name in ("light", "heavy")}
            own["alone"] = sum(site["own_ns"] for site in told["sites"] if site["kind"] in ("begin", "after"))
            off = {name: own[name] / told["work_ns"] - count / whole for name, count in counts.items()}
            if max(map(abs, off.values())) < 0.02:
                break
        print("; ".join(f"{name}: {100 * count / whole:.1f}% of the instructions, {100 * own[name] / told['work_ns']:.1f}% of the work"
                        for name, count in counts.items()))
        self.assertLess(max(map(abs, off.values())), 0.02)


if __name__ == "__main__":
    unittest.main()
