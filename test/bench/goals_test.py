"""The goals, against figures computed by hand. Each rule is tried with a case in which a rule that looks at medians, at an interval's
better end, at one process or at one compiler alone says otherwise."""

import contextlib
import io
import re
import unittest

from figures_test import Figure, Rounds, goals, measure, round_of, tables, with_ceiling  # which puts bench/ on the path


class GoalsTest(unittest.TestCase):
    KERNELS = {name: {"name": name, "folder": name, "cut_off": cut_off, "parallel": True}
               for name, cut_off in (("fib", False), ("uts", False), ("matmul", True))}

    def test_both_senses(self):
        self.assertTrue(goals.goal("", 2.2, -2.2)["met"])
        self.assertFalse(goals.goal("", 2.21, -2.2)["met"])
        self.assertTrue(goals.goal("", 1.95, +1.95)["met"])
        self.assertFalse(goals.goal("", 1.94, +1.95)["met"])
        self.assertEqual(goals.goal("", 1.0, -2.2)["sense"], "at most")

    def test_fewer_than_five_rounds_meet_nothing(self):
        few = goals.goal("", 1.0, -2.2, rounds=4)
        self.assertEqual((few["met"], few["undecided"], tables.verdict(few)), (False, True, "undecided"))
        enough = goals.goal("", 1.0, -2.2, rounds=5)
        self.assertEqual((enough["met"], tables.verdict(enough)), (True, "met"))
        self.assertNotIn("undecided", enough)
        self.assertEqual(tables.verdict(goals.goal("", 2.3, -2.2, rounds=5)), "missed")

    # Tried with the value compared alone: met, whatever a fork costs.
    def test_a_negative_ratio_of_differences_meets_nothing(self):
        judged = goals.goal("", -0.82, -3.0, rounds=21)
        self.assertEqual((judged["met"], judged["undecided"], tables.verdict(judged)), (False, True, "undecided"))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            tables.print_goals([judged])
        self.assertIn("undecided  no ratio: the serial program took longer", re.sub("  +", "  ", out.getvalue()))
        results = {("flat", 1, "continuations", 1): {"flat_over_nested": Figure([-0.9, -0.8, 0.1, -0.8, -0.7])}}
        [flat] = [g for g in goals.judge(results, self.KERNELS, {}) if "flat" in g["what"]]
        self.assertEqual((flat["value"], flat["met"]), (-0.8, False))

    # Tried with oneTBB's ratio for the serial program, too: it takes less time, and the line says more.
    def test_in_short(self):
        def lines(env, **times):
            rounds = Rounds([round_of(**times)] * 5)
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                tables.print_short("fib", {key: rounds.of(*key) for key in rounds.keys()}, {("fib", 35): 14_930_351}, env)
            return out.getvalue().splitlines()[1:]

        env = {"compiler": "g++ 12", "oneTBB": "2021.8.0"}
        self.assertEqual(lines(env, serial_1=10, continuations_1=19, continuations_2=10, tbb_1=800, tbb_context_1=760, tbb_2=400), [
            "In short: fib(35), 14,930,351 forks; medians of the rounds and of their ratios; g++ 12, oneTBB 2021.8.0",
            "  serial    1 P      10.0 ms  without forks",
            "  forkjoin  1 P      19.0 ms  1.9 times as long as without forks",
            "  forkjoin  2 P      10.0 ms  1.9 times as fast as on one P",
            "  oneTBB    1 P       760 ms  40 times as long as forkjoin (tbb_context)",
            "  oneTBB    2 P       400 ms  40 times as long as forkjoin (tbb)"])
        without = lines(env | {"oneTBB": None}, serial_1=10, continuations_1=10, continuations_2=20)
        self.assertEqual(len(without), 4)
        self.assertIn("without oneTBB", without[0])
        self.assertTrue(without[2].endswith("as long as without forks") and without[3].endswith("2.0 times as long as on one P"))
        self.assertEqual(lines(env, serial_1=10, tbb_1=800), [])
        busy = lines(env | {"others_during": [0.9, 0.0]}, serial_1=10, continuations_1=10, continuations_2=20)
        self.assertTrue(busy[-1].strip().startswith("The best times, which a busy machine changes least,") and "10.0, 10.0, 20.0" in busy[-1])

    def results(self, *second):
        rounds = Rounds([round_of(serial_1=10, continuations_1=20, continuations_2=16, tbb_1=800, tbb_2=480),
                         round_of(serial_1=10, continuations_1=24, continuations_2=12, tbb_1=800, tbb_2=480)] * 3,
                        [{("fib", 35, 2): [with_ceiling(1.0)]}, {("fib", 35, 2): [with_ceiling(1.9), *second]}] * 3)
        results = {key: rounds.of(*key) for key in rounds.keys()}
        ceiling = rounds.ceilings_of()["fib", 35, 2]
        results["fib", 35, "continuations", 2]["ceiling"] = ceiling
        return results

    def test_speedup_with_the_ceiling_beside_it(self):
        found = goals.judge(self.results(), self.KERNELS, {})
        speedup = next(g for g in found if g["what"] == "fib: continuations, two P over one")
        self.assertAlmostEqual(speedup["value"], (20 / 16 + 24 / 12) / 2)
        self.assertAlmostEqual(speedup["best"], 20 / 12)
        self.assertAlmostEqual(speedup["ceiling"], (1.0 + 1.9) / 2)
        self.assertAlmostEqual(speedup["of_ceiling"], (20 / 16 / 1.0 + 24 / 12 / 1.9) / 2)
        self.assertFalse(speedup["met"])
        self.assertNotIn("always", speedup)

    def test_speedup_is_judged_by_quiet_moments(self):
        found = goals.judge(self.results(with_ceiling(1.98, parallel=5.0)), self.KERNELS, {})
        speedup = next(g for g in found if g["what"] == "fib: continuations, two P over one")
        # Three rounds had quiet moments: too few.
        self.assertEqual((speedup["value"], speedup["met"], speedup["rounds"]), (2.0, False, 3))
        self.assertAlmostEqual(speedup["always"], (20 / 16 + 24 / 12) / 2)

    def test_the_mean_speedup_too(self):
        def judged(results):
            found = goals.judge(results, self.KERNELS, {})
            return next(g for g in found if g["what"].startswith("mean speed-up"))

        results = {("fib", 35, "continuations", 2): {"ms": Figure([1.0]), "speedup": Figure([1.5])},
                   ("uts", 1, "continuations", 2): {"ms": Figure([1.0]), "speedup": Figure([1.5])}}
        self.assertAlmostEqual(judged(results)["value"], 1.5)
        results["uts", 1, "continuations", 2]["quiet_speedup"] = Figure([None, 1.9])
        mean = judged(results)
        self.assertEqual((mean["value"], mean["kernels"], mean["met"]), (1.9, 1, True))
        self.assertAlmostEqual(mean["always"], 1.5)

    def test_best_times_of_as_many_rounds(self):
        # The machine gets faster; oneTBB takes part in the first two rounds only.
        rounds = Rounds([round_of(continuations_1=30, tbb_invoke_1=900), round_of(continuations_1=20, tbb_invoke_1=600),
                         round_of(continuations_1=10)])
        results = {key: rounds.of(*key) for key in rounds.keys()}
        found = goals.judge(results, self.KERNELS, {})
        times = next(g for g in found if g["what"] == "fib: times as fast as tbb_invoke, one P")
        self.assertEqual((times["value"], times["best"], times["rounds"]), (30.0, 30.0, 2))

    def test_each_compiler_is_judged_by_its_own_serial_program(self):
        results = {("uts", 1, "continuations", 1): {"ms": Figure([1.0] * 5), "vs_serial": Figure([1.13] * 5)}}
        judged = goals.judge(results, self.KERNELS, {})  # which does not know the compiler
        self.assertEqual([(g["what"], g["met"]) for g in judged if "serial" in g["what"]],
                         [("uts: continuations / serial, one P", False)])

    def test_gcc_is_also_judged_by_clang_s_serial_program(self):
        results = {("uts", 1, "continuations", 1): {"ms": Figure([1.0] * 5), "vs_serial": Figure([1.0] * 5),
                                                    "vs_other_serial": Figure([1.06] * 5)}}

        def judged(compiler):
            return [g["met"] for g in goals.judge(results, self.KERNELS, {}, compiler) if "clang" in g["what"]]

        self.assertEqual((judged("g++ 12.2.0"), judged("clang 19.1.7"), judged("")), ([False], [], []))
        results["uts", 1, "continuations", 1]["vs_other_serial"] = Figure([1.04] * 5)
        self.assertEqual(judged("g++ 12.2.0"), [True])

    def test_a_goal_for_one_size(self):
        figures = {"ms": Figure([1.0]), "vs_serial": Figure([2.0])}
        results = {("skynet", n, "continuations", 1): figures for n in (1_000_000, 10_000_000)}
        kernels = {"skynet": {"name": "skynet", "folder": "skynet", "cut_off": False, "parallel": True}}
        judged = [g["what"] for g in goals.judge(results, kernels, {}) if "serial" in g["what"]]
        self.assertEqual(judged, ["skynet: continuations / serial, one P (1,000,000)"])

    def test_means_weigh_kernels_alike(self):
        # uts has two sizes: together they weigh as much as fib. matmul has a cut-off.
        results = {(kernel, size, "continuations", 1): {"ms": Figure([1.0]), "vs_tbb": Figure([times])}
                   for kernel, size, times in (("fib", 35, 4.0), ("uts", 1, 2.0), ("uts", 2, 8.0), ("matmul", 1, 1.5))}
        found = {m["name"]: m for m in goals.means(results, self.KERNELS)}
        self.assertAlmostEqual(found["times_tbb_no_cut_off"]["value"], 4.0)
        self.assertEqual(found["times_tbb_no_cut_off"]["over"], ["fib", "uts"])
        self.assertAlmostEqual(found["times_tbb"]["value"], (4 * 4 * 1.5) ** (1 / 3))
        self.assertEqual(found["times_tbb"]["few"], {"fib": 1, "uts": 1, "matmul": 1})
        results["fib", 35, "continuations", 1]["vs_tbb"] = Figure([4.0] * 5)
        results["uts", 1, "continuations", 1]["vs_tbb"] = Figure([2.0] * 7)
        found = {m["name"]: m for m in goals.means(results, self.KERNELS)}
        self.assertEqual(found["times_tbb_no_cut_off"]["few"], {"uts": 1})  # its other size has one round
        self.assertEqual(tables.few_told({"uts": 1}), "uts: n = 1")

    def slowest(self, rounds, pairs=None):
        results = {("fib", 35, "continuations", 1): {"vs_tbb": Figure([40.0] * 5)},
                   ("uts", 1, "continuations", 2): {"vs_tbb": Figure(rounds)}}
        if pairs:
            results["uts", 1, "continuations", 2]["vs_tbb_pairs"] = Figure(pairs)
        return goals.slowest(results, self.KERNELS)[0]

    def test_not_slower_is_the_lower_end_of_the_interval(self):
        judged = self.slowest([1.5, 1.1, 0.98, 1.2, 1.4])
        self.assertEqual((judged["value"], judged["met"], judged["median"]), (0.98, True, 1.2))
        judged = self.slowest([1.5, 1.1, 0.96, 1.2, 1.4])
        self.assertEqual((judged["value"], judged["met"], judged["what"][-14:]), (0.96, False, "(uts 1, P = 2)"))
        judged = self.slowest([1.5, 1.4])
        self.assertEqual((judged["met"], judged["rounds"], judged["undecided"]), (False, 2, True))

    def test_noise_does_not_pass_for_speed(self):
        # As heat on two P was: a median of 0.958, whose interval reaches beyond 1.
        noisy = [0.92] * 9 + [0.958] + [1.01] * 8
        self.assertGreater(Figure(noisy).median_lies_between()[1], 1)
        judged = self.slowest([0.96] * 5, noisy + [0.958] * 7)
        self.assertEqual((judged["median"], judged["value"], judged["met"], judged["pairs"]), (0.958, 0.92, False, 25))
        # A steady per cent within the margin is not inferior; a margin of nothing would never be met.
        judged = self.slowest([0.9] * 5, [0.99] * 20 + [1.01] * 5)
        self.assertEqual((judged["value"], judged["met"]), (0.99, True))
        # A few pairs are no excuse.
        judged = self.slowest([0.9] * 5, [0.98, 0.99, 1.01])
        self.assertEqual((judged["met"], judged["undecided"], judged["pairs"]), (False, True, 3))

    def test_loops_may_not_be_slower_on_two(self):
        def of(size, *values):
            return {("cg", size, "continuations", 2): {"vs_alone": Figure(values)}}

        [judged] = goals.slowed(of(10, *[1.2] * 5) | of(100, *[0.9] * 5))
        self.assertEqual((judged["value"], judged["met"]), (1.2, False))
        self.assertIn("cg 10", judged["what"])
        self.assertTrue(goals.slowed(of(10, *[1.09] * 5))[0]["met"])
        self.assertTrue(goals.slowed(of(10, 1.0, 1.0))[0]["undecided"])

    @staticmethod
    def once(before, peak, processes=5, **counters):
        """Some of its processes had other peaks, but not the median one."""
        grown = [peak - before + more for more in (0, 0, 0, -100, 5_000)][:processes]
        return {"prepared_resident_kib": before, "peak_resident_kib": peak + 70, "grown_kib": grown, "counters": counters}

    def test_memory_is_what_a_run_adds(self):
        # By peaks ours would take less, because oneTBB's process is larger before the run begins.
        once = {("fib", 35, "continuations", 1): self.once(10_000, 16_000), ("fib", 35, "tbb_invoke", 1): self.once(30_000, 33_000),
                ("fib", 35, "tbb_group", 1): self.once(30_000, 34_000)}
        [judged] = goals.hungriest(once)
        self.assertEqual((judged["value"], judged["met"], judged["rounds"]), (2.0, False, 5))
        once["fib", 35, "tbb_invoke", 1] = {"peak_resident_kib": 33_000}  # unknown
        self.assertEqual(goals.hungriest(once)[0]["value"], 1.5)

    # Tried with less than 1 MiB counted as 1 MiB on both sides: 1, whatever comes.
    def test_memory_of_small_runs_is_shown_and_can_be_too_much(self):
        once = {("fib", 35, "serial", 1): self.once(4_000, 4_000), ("fib", 35, "tbb_invoke", 1): self.once(30_000, 30_100)}

        def judged(grown):
            both = once | {("fib", 35, "continuations", 1): self.once(4_000, 4_000 + grown, stacks_peak=1)}
            return [(g["value"], g["met"]) for g in goals.spacious(both) + goals.hungriest(both)]

        self.assertEqual(judged(256), [(0.25, True)] * 2)
        self.assertEqual(judged(0), [(0.0, True)] * 2)
        self.assertEqual(judged(2048), [(2.0, False)] * 2)

    def test_memory_beside_the_serial_program_s(self):
        serial = {("uts", 1, "serial", 1): self.once(4_000, 9_000)}

        def judged(grown, processes=5):
            return goals.spacious(serial | {("uts", 1, "continuations", 2): self.once(5_000, 5_000 + grown, processes,
                                                                                      stacks_peak=10)})[0]

        self.assertEqual((judged(10_640)["value"], judged(10_640)["met"]), (1.0, True))
        self.assertFalse(judged(10_700)["met"])
        self.assertEqual((judged(10_640, 1)["met"], judged(10_640, 1)["undecided"]), (False, True))  # one process decides nothing
        # What one P of ours takes is no measure: it may be more than the serial program's.
        self.assertFalse(goals.spacious(serial | {("uts", 1, "continuations", 1): self.once(0, 8_000, stacks_peak=1)})[0]["met"])

    def test_processes_behind_a_figure_of_memory(self):
        class Kernel:
            name, keys = "fib", [("fib", 35, way, 1) for way in ("serial", "continuations", "tbb", "omp")]
            seen = []

            def once(self, size, way, procs):
                return {"prepared_resident_kib": 0, "peak_resident_kib": self.adds}

            def grown(self, size, way, procs):
                self.seen.append(way)
                return 7 if way == "serial" else self.adds

        for Kernel.adds, ways in ((goals.LITTLE, {"serial": 4, "continuations": 4}),
                                  (goals.LITTLE + 1, {"serial": 4, "continuations": 4, "tbb": 4})):
            Kernel.seen = []
            got = measure.run_once(Kernel(), say=lambda line: None)
            self.assertEqual({way: Kernel.seen.count(way) for way in Kernel.seen}, ways)
            self.assertEqual(goals.growth(got["fib", 35, "serial", 1]), 7)
            self.assertEqual(goals.growth(got["fib", 35, "omp", 1]), Kernel.adds)

    def test_where_the_time_of_all_p_went(self):
        once = {"seconds": 2e-9, "counters": {"busy_ns": 2, "looking_ns": 1}}
        self.assertEqual(tables.shares(once, 2), {"work": 0.5, "looking": 0.25, "idle": 0.25})
        self.assertEqual(tables.shares({"seconds": 1.0}, 2), {})


if __name__ == "__main__":
    unittest.main()
