"""The benchmarks' statistics, against figures computed by hand."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from harness import goals, measure  # noqa: E402
from harness.figures import Figure, Moment, Rounds, ratio  # noqa: E402
from harness.goals import geometric_mean  # noqa: E402


def round_of(**ms):
    """Of fib(35): way_procs=ms"""
    return {("fib", 35, *split(name)): {"ms": float(t), "steals": 3} for name, t in ms.items()}


def split(name):
    way, _, procs = name.rpartition("_")
    return way, int(procs)


def with_ceiling(ceiling, parallel=6.0, alone=10.0, alone_again=10.0):
    """A moment on two P."""
    return Moment(alone, parallel, (alone + alone_again) / ceiling, alone_again)


class MomentTest(unittest.TestCase):
    def test_what_follows_from_the_times(self):
        moment = Moment(alone=9, parallel=5, apart=12.5, alone_again=11)
        self.assertEqual((moment.speedup, moment.ceiling(2)), (2.0, 1.6))

    def test_quiet(self):
        self.assertTrue(with_ceiling(2.0).quiet)
        self.assertTrue(with_ceiling(1.96).quiet and with_ceiling(2.04).quiet)
        self.assertFalse(with_ceiling(1.9).quiet)  # something shared the cores
        self.assertFalse(with_ceiling(2.1).quiet)  # or did while it ran alone
        self.assertFalse(with_ceiling(2.0, alone_again=10.5).quiet)  # the clock changed

    def test_quiet_has_nothing_to_do_with_the_speed_up(self):
        self.assertTrue(with_ceiling(2.0, parallel=50.0).quiet)


class FigureTest(unittest.TestCase):
    def test_rounds_in_which_it_was_not_taken_do_not_count(self):
        figure = Figure([3.0, None, 1.0, 2.5, None])
        self.assertEqual(figure.summary(), {"median": 2.5, "min": 1.0, "max": 3.0, "rounds": 3})

    def test_median_of_an_even_number(self):
        self.assertEqual(Figure([1.0, 4.0, 2.0, 100.0]).median, 3.0)
        self.assertEqual(Figure([1, 4, 2, 100]).median, 4)  # a count stays one that occurred

    def test_where_the_median_lies(self):
        # Of 25 throws of a coin, five or fewer are heads in 2 of 1000 cases, six or fewer in 7.
        self.assertEqual(Figure(range(1, 26)).median_lies_between(), (6, 20))
        self.assertEqual(Figure([3.0, 1.0, 2.0]).median_lies_between(), (1.0, 3.0))  # too few to say

    def test_none_taken(self):
        self.assertFalse(Figure([None, None]))
        self.assertTrue(Figure([0.0]))

    def test_ratio_of_what_is_missing(self):
        self.assertEqual(ratio(6.0, 4.0), 1.5)
        self.assertIsNone(ratio(None, 4.0))
        self.assertIsNone(ratio(6.0, None))

    def test_geometric_mean(self):
        self.assertAlmostEqual(geometric_mean([2.0, 8.0]), 4.0)
        self.assertAlmostEqual(geometric_mean([0.5, 2.0, 1.0]), 1.0)


class RoundsTest(unittest.TestCase):
    def test_ratios_are_taken_within_rounds(self):
        # The machine is three times as slow in the second round: medians of the times would give 25 / 15.
        rounds = Rounds([round_of(serial_1=10, continuations_1=20), round_of(serial_1=30, continuations_1=60),
                         round_of(serial_1=15, continuations_1=25)])
        figures = rounds.of("fib", 35, "continuations", 1)
        self.assertEqual(figures["ms"].median, 25.0)
        self.assertEqual(figures["vs_serial"].median, 2.0)
        self.assertAlmostEqual(figures["vs_serial"].summary()["min"], 5 / 3)

    def test_slow_ways_count_in_their_own_rounds(self):
        rounds = Rounds([round_of(serial_1=10, continuations_1=20, tbb_1=400), round_of(serial_1=10, continuations_1=40)])
        self.assertEqual(rounds.of("fib", 35, "continuations", 1)["vs_tbb"].summary(),
                         {"median": 20.0, "min": 20.0, "max": 20.0, "rounds": 1})
        self.assertEqual(rounds.of("fib", 35, "tbb", 1)["vs_serial"].values, [40.0])
        self.assertNotIn("vs_tbb", rounds.of("fib", 35, "tbb", 1))  # no ratio to itself

    def test_others_are_compared_with_on_as_many_processors(self):
        rounds = Rounds([round_of(continuations_1=20, continuations_2=10, tbb_1=400, tbb_2=300)])
        self.assertEqual(rounds.of("fib", 35, "continuations", 2)["vs_tbb"].median, 30.0)

    def test_tbb_is_parallel_invoke_where_there_are_two(self):
        rounds = Rounds([round_of(continuations_1=20, tbb_invoke_1=800, tbb_group_1=600)])
        figures = rounds.of("fib", 35, "continuations", 1)
        self.assertEqual((figures["vs_tbb"].median, figures["vs_tbb_group"].median), (40.0, 30.0))

    def test_speedup_and_the_ceiling(self):
        rounds = Rounds([round_of(continuations_1=30, continuations_2=20)] * 2,
                        [{("fib", 35, 2): [with_ceiling(c) for c in (1.0, 1.6, 1.7)]}, {}])
        figures = rounds.of("fib", 35, "continuations", 2)
        self.assertEqual(figures["speedup"].values, [1.5, 1.5])
        self.assertAlmostEqual(figures["of_ceiling"].values[0], 1.5 / 1.6)
        self.assertEqual(len(figures["of_ceiling"].values), 1)
        self.assertNotIn("speedup", rounds.of("fib", 35, "continuations", 1))
        self.assertNotIn("quiet_speedup", figures)  # the machine was never quiet

    def test_speedup_in_quiet_moments(self):
        moments = [with_ceiling(2.0, parallel=5.0), with_ceiling(1.5, parallel=50.0), with_ceiling(2.0, parallel=10.0)]
        rounds = Rounds([round_of(continuations_1=30, continuations_2=20, tasks_1=30, tasks_2=20)] * 3,
                        [{("fib", 35, 2): moments}, {}, {("fib", 35, 2): [with_ceiling(1.5)]}])
        self.assertEqual(rounds.of("fib", 35, "continuations", 2)["quiet_speedup"].by_round, [1.5, None, None])
        self.assertNotIn("quiet_speedup", rounds.of("fib", 35, "tasks", 2))  # moments are of continuations

    def test_nanoseconds_per_fork(self):
        got = round_of(serial_1=10, continuations_1=30, continuations_2=15)
        got |= {("flat", 1000, "serial", 1): {"ms": 1.0, "steals": None},
                ("flat", 1000, "continuations", 1): {"ms": 1.006, "steals": 0}}
        rounds = Rounds([got], forks={("fib", 35): 10_000_000, ("flat", 1000): 1000})
        self.assertAlmostEqual(rounds.of("fib", 35, "continuations", 1)["ns_per_fork"].median, 2.0)
        flat = rounds.of("flat", 1000, "continuations", 1)
        self.assertAlmostEqual(flat["ns_per_fork"].median, 6.0)
        self.assertAlmostEqual(flat["flat_over_nested"].median, 3.0)
        self.assertNotIn("ns_per_fork", rounds.of("fib", 35, "continuations", 2))
        self.assertNotIn("ns_per_fork", rounds.of("fib", 35, "serial", 1))


class Clock:
    """Stands in for a kernel: a round takes the seconds of its ways together."""

    name = "fib"
    forks = {}

    def __init__(self, seconds):
        self.seconds = {("fib", 35, *split(name)): s for name, s in seconds.items()}
        self.keys = list(self.seconds)
        self.now = 0.0
        self.took_part = []

    def monotonic(self):
        return self.now

    def round(self, keys, turn):
        self.took_part.append({way for _, _, way, _ in keys})
        self.now += sum(self.seconds[k] for k in keys)
        return {}, {k: {"ms": 1000 * self.seconds[k], "steals": 0} for k in keys}


class RunRoundsTest(unittest.TestCase):
    def run_rounds(self, rounds, budget, **seconds):
        clock = Clock(seconds)
        real, measure.time = measure.time, clock
        try:
            got, _ = measure.run_rounds(clock, rounds, budget, with_moments=False, say=lambda line: None)
        finally:
            measure.time = real
        self.assertEqual(len(got), len(clock.took_part))
        return ["tbb" in ways for ways in clock.took_part]

    def test_slow_ways_are_spread_over_the_rounds(self):
        with_slow = self.run_rounds(20, 1000, serial_1=0.02, continuations_1=0.04, tbb_1=2)
        self.assertEqual([i for i, slow in enumerate(with_slow) if slow], [0, 4, 8, 12, 16])
        self.assertEqual(len(with_slow), 20)

    def test_ways_that_are_not_slow_take_part_always(self):
        self.assertEqual(self.run_rounds(7, 1000, serial_1=0.02, tbb_1=0.09), [True] * 7)
        self.assertEqual(self.run_rounds(7, 1000, serial_1=0.0002, tbb_1=0.02), [True] * 7)  # many times, but no time

    def test_the_budget_ends_it(self):
        # The first takes 2.06 s. The others take 0.06 s, and another slow one does not fit.
        with_slow = self.run_rounds(20, 2.5, serial_1=0.02, continuations_1=0.04, tbb_1=2)
        self.assertEqual(with_slow[0], True)
        self.assertNotIn(True, with_slow[1:])
        self.assertTrue(5 <= len(with_slow) <= 8, with_slow)

    def test_the_first_round_is_always_run(self):
        self.assertEqual(self.run_rounds(20, 0, serial_1=0.02, tbb_1=2), [True])


class Pairing(Clock):
    """As Clock, for pairs."""

    def pair(self, size, ways, procs):
        seconds = [self.seconds["fib", size, way, procs] for way in ways]
        self.now += sum(seconds)
        self.took_part.append(ways[0])
        return seconds[1] / seconds[0]


class RunPairsTest(unittest.TestCase):
    def run_pairs(self, **seconds):
        kernel = Pairing(seconds)
        rounds = Rounds([{k: {"ms": 1000 * s, "steals": 0} for k, s in kernel.seconds.items()}])
        real, measure.time = measure.time, kernel
        try:
            results = {key: rounds.of(*key) for key in rounds.keys()}
            return kernel, measure.run_pairs(kernel, results, say=lambda line: None)
        finally:
            measure.time = real

    def test_where_it_is_close(self):
        kernel, found = self.run_pairs(continuations_1=0.1, tbb_1=0.09, tasks_1=0.1, continuations_2=0.05, tbb_2=0.06)
        self.assertEqual(list(found), [("fib", 35, "continuations", 1)])
        pairs = found["fib", 35, "continuations", 1]
        self.assertEqual(len(pairs.values), measure.PAIRS)
        self.assertTrue(all(abs(one - 0.9) < 1e-9 for one in pairs.values))  # whichever way was first
        self.assertEqual(kernel.took_part[:3], ["continuations", "tbb", "continuations"])

    def test_they_end_when_the_time_is_up(self):
        _, found = self.run_pairs(continuations_1=2.0, tbb_invoke_1=2.0)
        self.assertEqual(len(found["fib", 35, "continuations", 1].values), 4)


class GoalsTest(unittest.TestCase):
    KERNELS = {name: {"name": name, "folder": name, "cut_off": cut_off, "parallel": True}
               for name, cut_off in (("fib", False), ("uts", False), ("matmul", True))}

    def test_both_senses(self):
        self.assertTrue(goals.goal("", 2.2, -2.2)["met"])
        self.assertFalse(goals.goal("", 2.21, -2.2)["met"])
        self.assertTrue(goals.goal("", 1.95, +1.95)["met"])
        self.assertFalse(goals.goal("", 1.94, +1.95)["met"])
        self.assertEqual(goals.goal("", 1.0, -2.2)["sense"], "at most")

    def results(self, *second):
        rounds = Rounds([round_of(serial_1=10, continuations_1=20, continuations_2=16, tbb_1=800, tbb_2=480),
                         round_of(serial_1=10, continuations_1=24, continuations_2=12, tbb_1=800, tbb_2=480)],
                        [{("fib", 35, 2): [with_ceiling(1.0)]}, {("fib", 35, 2): [with_ceiling(1.9), *second]}])
        results = {key: rounds.of(*key) for key in rounds.keys()}
        ceiling = rounds.ceilings_of()["fib", 35, 2]
        results["fib", 35, "continuations", 2]["ceiling"] = ceiling
        return results

    def test_speedup_with_the_ceiling_beside_it(self):
        found = goals.judge(self.results(), self.KERNELS, {}, "clang 19")
        speedup = next(g for g in found if g["what"] == "fib: continuations, two P over one")
        self.assertAlmostEqual(speedup["value"], (20 / 16 + 24 / 12) / 2)
        self.assertAlmostEqual(speedup["best"], 20 / 12)
        self.assertAlmostEqual(speedup["ceiling"], (1.0 + 1.9) / 2)
        self.assertAlmostEqual(speedup["of_ceiling"], (20 / 16 / 1.0 + 24 / 12 / 1.9) / 2)
        self.assertFalse(speedup["met"])
        self.assertNotIn("always", speedup)

    def test_speedup_is_judged_by_quiet_moments(self):
        found = goals.judge(self.results(with_ceiling(1.98, parallel=5.0)), self.KERNELS, {}, "clang 19")
        speedup = next(g for g in found if g["what"] == "fib: continuations, two P over one")
        self.assertEqual((speedup["value"], speedup["met"], speedup["rounds"]), (2.0, True, 1))
        self.assertAlmostEqual(speedup["always"], (20 / 16 + 24 / 12) / 2)

    def test_the_mean_speedup_too(self):
        def judged(results):
            found = goals.judge(results, self.KERNELS, {}, "clang 19")
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
        found = goals.judge(results, self.KERNELS, {}, "g++ 12")
        times = next(g for g in found if g["what"] == "fib: times as fast as tbb_invoke, one P")
        self.assertEqual((times["value"], times["best"], times["rounds"]), (30.0, 30.0, 2))

    def test_a_goal_for_one_size(self):
        figures = {"ms": Figure([1.0]), "vs_serial": Figure([2.0])}
        results = {("skynet", n, "continuations", 1): figures for n in (1_000_000, 10_000_000)}
        kernels = {"skynet": {"name": "skynet", "folder": "skynet", "cut_off": False, "parallel": True}}
        judged = [g["what"] for g in goals.judge(results, kernels, {}, "clang 19") if "serial" in g["what"]]
        self.assertEqual(judged, ["skynet: continuations / serial, one P (1,000,000)"])

    def test_means_weigh_kernels_alike(self):
        # uts has two sizes: together they weigh as much as fib. matmul has a cut-off.
        results = {(kernel, size, "continuations", 1): {"ms": Figure([1.0]), "vs_tbb": Figure([times])}
                   for kernel, size, times in (("fib", 35, 4.0), ("uts", 1, 2.0), ("uts", 2, 8.0), ("matmul", 1, 1.5))}
        found = {m["name"]: m for m in goals.means(results, self.KERNELS)}
        self.assertAlmostEqual(found["times_tbb_no_cut_off"]["value"], 4.0)
        self.assertEqual(found["times_tbb_no_cut_off"]["over"], ["fib", "uts"])
        self.assertAlmostEqual(found["times_tbb"]["value"], (4 * 4 * 1.5) ** (1 / 3))
        slowest = goals.slowest(results, self.KERNELS)[0]
        self.assertEqual((slowest["value"], slowest["met"]), (1.5, True))
        results["fib", 35, "continuations", 1]["vs_tbb"] = Figure([1.1, 0.8, 0.9])
        slowest = goals.slowest(results, self.KERNELS)[0]
        self.assertEqual((slowest["value"], slowest["met"], slowest["rounds"]), (0.9, False, 3))

    def test_pairs_judge_where_it_is_close(self):
        def judged(*pairs):
            results = {("fib", 35, "continuations", 1): {"vs_tbb": Figure([1.2])},
                       ("uts", 1, "continuations", 1): {"vs_tbb": Figure([0.9]), "vs_tbb_pairs": Figure(pairs)}}
            return goals.slowest(results, self.KERNELS)[0]

        near = judged(*[0.98] * 12, 0.999, *[1.01] * 12)
        self.assertEqual((near["value"], near["met"], near["interval"], near["pairs"]), (0.999, True, [0.98, 1.01], 25))
        # A tenth of a per cent, but nearly always: that is slower.
        slower = judged(*[0.999] * 20, *[1.01] * 5)
        self.assertEqual((slower["value"], slower["met"], slower["what"][-14:]), (0.999, False, "(uts 1, P = 1)"))
        # A few pairs are no excuse.
        few = judged(0.98, 0.99, 1.01)
        self.assertEqual((few["value"], few["met"], few["rounds"]), (0.99, False, 3))

    def test_memory(self):
        once = {("fib", 35, way, 1): {"peak_resident_kib": kib}
                for way, kib in (("serial", 100), ("continuations", 500), ("tbb_invoke", 400))}
        self.assertEqual([g["value"] for g in goals.hungriest(once)], [1.25])
        self.assertFalse(goals.hungriest(once)[0]["met"])


class ParsingTest(unittest.TestCase):
    def test_names(self):
        key = measure.key_of("fib/tbb_invoke/35/procs:2")
        self.assertEqual(key, ("fib", 35, "tbb_invoke", 2))
        self.assertEqual(measure.name_of(*key), "fib/tbb_invoke/35/procs:2")

    def test_once(self):
        got = measure.parse_once("result 5\nseconds 0.25\nsteals 7\nprepared_resident_kib 90\npeak_resident_kib 100\n",
                                 ["fib_once"])
        self.assertEqual(got, {"seconds": 0.25, "peak_resident_kib": 100, "prepared_resident_kib": 90,
                               "counters": {"steals": 7}})
        self.assertEqual(measure.parse_once("result 5\nseconds 0.25\npeak_resident_kib unknown\n", []), {"seconds": 0.25})

    def test_nonsense_names_its_program(self):
        for nonsense in ("", "result 5\n", "seconds soon\nresult 5\n", "a b c\n"):
            with self.assertRaisesRegex(measure.Failed, "fib_once tasks"):
                measure.parse_once(nonsense, ["fib_once", "tasks"])

    def test_moments(self):
        self.assertEqual(measure.parse_moments("moment 1 2 3 4\nmoment 5 6 7 8\n"), [Moment(1, 2, 3, 4), Moment(5, 6, 7, 8)])
        for nonsense in ("", "moment 1 2 3\n", "moment 1 2 3 x\n", "moment 1 2 3 0\n"):
            with self.assertRaises((ValueError, TypeError)):
                measure.parse_moments(nonsense)

    def test_why_a_benchmark_was_skipped(self):
        report = '{"benchmarks": [{"name": "a", "error_occurred": true, "error_message": "got 1, not 2"}, {"name": "b"}]}'
        self.assertEqual(measure.first_error(report), "a: got 1, not 2\n")
        self.assertEqual(measure.first_error("no JSON"), "")


if __name__ == "__main__":
    unittest.main()
