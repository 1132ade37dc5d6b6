"""The benchmarks' statistics, against figures computed by hand. Each rule of a goal is tried with a case in which a rule that
looks at medians, at an interval's better end or at one compiler alone says otherwise."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from harness import goals, measure  # noqa: E402
from harness import tables  # noqa: E402
from harness.figures import Figure, Moment, Rounds, is_ours, ratio  # noqa: E402
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

    def test_tbb_is_its_best_way(self):
        # By medians: the best way of a single round may be another.
        rounds = Rounds([round_of(continuations_1=20, tbb_invoke_1=800, tbb_group_1=600)] * 2
                        + [round_of(continuations_1=20, tbb_invoke_1=400, tbb_group_1=600)])
        figures = rounds.of("fib", 35, "continuations", 1)
        self.assertEqual((figures["vs_tbb"].values, figures["vs_tbb_invoke"].median), ([30.0] * 3, 40.0))
        self.assertEqual(figures["vs_tbb_group"].median, 30.0)
        self.assertNotIn("vs_tbb", rounds.of("fib", 35, "tbb_group", 1))

    def test_the_best_serial_program_is_of_any_compiler(self):
        theirs = [round_of(serial_1=8), round_of(serial_1=12)]
        rounds = Rounds([round_of(serial_1=10, continuations_1=20), round_of(serial_1=10, continuations_1=20)], others=[theirs])
        figures = rounds.of("fib", 35, "continuations", 1)
        self.assertEqual(figures["vs_best_serial"].values, [2.5, 2.0])
        self.assertEqual(figures["vs_serial"].values, [2.0, 2.0])
        self.assertNotIn("vs_best_serial", Rounds([round_of(serial_1=10)]).of("fib", 35, "serial", 1))

    def test_own_ways_by_order_and_join(self):
        self.assertTrue(all(map(is_ours, ("continuations", "scope", "first_leave", "last_top"))))
        self.assertFalse(any(map(is_ours, ("serial", "tbb", "tbb_group", "omp", "lace"))))

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
    def run_rounds(self, rounds, budget, sure=measure.ENOUGH, **seconds):
        clock = Clock(seconds)
        real, measure.time = measure.time, clock
        try:
            [(got, _)] = measure.run_rounds([clock], rounds, budget, with_moments=False, say=lambda line: None,
                                                 sure=sure)
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
        with_slow = self.run_rounds(20, 2.5, sure=1, serial_1=0.02, continuations_1=0.04, tbb_1=2)
        self.assertEqual(with_slow[0], True)
        self.assertNotIn(True, with_slow[1:])
        self.assertTrue(5 <= len(with_slow) <= 8, with_slow)

    def test_five_rounds_are_always_run(self):
        self.assertEqual(self.run_rounds(20, 0, sure=1, serial_1=0.02, tbb_1=2), [True] + 4 * [False])
        self.assertEqual(self.run_rounds(20, 0, serial_1=0.6, tbb_1=0.7), [True] * 5)
        self.assertEqual(self.run_rounds(3, 0, serial_1=0.6, tbb_1=0.7), [True] * 3)  # as asked for

    def test_slow_ways_take_part_in_five_rounds_whatever_they_take(self):
        self.assertEqual(self.run_rounds(20, 0, serial_1=0.02, tbb_1=2), [True] * 5)
        self.assertEqual(self.run_rounds(7, 9, serial_1=0.02, tbb_1=2).count(True), 5)
        self.assertEqual(self.run_rounds(3, 0, serial_1=0.02, tbb_1=2), [True] * 3)  # as asked for

    def test_two_compilers_take_turns(self):
        builds = [Clock({"serial_1": 0.1, "tbb_1": slow}) for slow in (0.1, 2.0)]
        builds[1].monotonic, real = builds[0].monotonic, measure.time
        measure.time = builds[0]
        try:
            (one, _), (other, _) = measure.run_rounds(builds, 6, 1000, with_moments=False, say=lambda line: None)
        finally:
            measure.time = real
        self.assertEqual((len(one), len(other)), (6, 6))
        self.assertEqual((one.others, other.others), ([other.results], [one.results]))
        self.assertEqual([sum("tbb" in ways for ways in of.took_part) for of in builds], [6, 5])


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

    def test_where_noise_leaves_it_open(self):
        # A median of 1.2 with a round of 0.9 in it does not show that ours is not slower.
        self.assertTrue(measure.is_close(Figure([1.2, 1.2, 0.9, 1.2, 1.2])))
        self.assertFalse(measure.is_close(Figure([1.2, 1.2, 0.98, 1.2, 1.2])))

    def test_they_end_when_the_time_is_up(self):
        _, found = self.run_pairs(continuations_1=2.0, tbb_invoke_1=2.0)
        self.assertEqual(len(found["fib", 35, "continuations", 1].values), measure.ENOUGH)  # though they take 40 s


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

    @staticmethod
    def once(before, peak, **counters):
        return {"prepared_resident_kib": before, "peak_resident_kib": peak, "counters": counters}

    def test_memory_is_what_a_run_adds(self):
        # By peaks ours would take less, because oneTBB's process is larger before the run begins.
        once = {("fib", 35, "continuations", 1): self.once(10_000, 16_000), ("fib", 35, "tbb_invoke", 1): self.once(30_000, 33_000),
                ("fib", 35, "tbb_group", 1): self.once(30_000, 34_000)}
        [judged] = goals.hungriest(once)
        self.assertEqual((judged["value"], judged["met"]), (2.0, False))
        once["fib", 35, "tbb_invoke", 1] = {"peak_resident_kib": 33_000}  # unknown
        self.assertEqual(goals.hungriest(once)[0]["value"], 1.5)

    def test_memory_beside_the_serial_program_s(self):
        serial = {("uts", 1, "serial", 1): self.once(4_000, 9_000)}

        def judged(grown):
            return goals.spacious(serial | {("uts", 1, "continuations", 2): self.once(5_000, 5_000 + grown, stacks_peak=10)})[0]

        self.assertEqual((judged(10_640)["value"], judged(10_640)["met"]), (1.0, True))
        self.assertFalse(judged(10_700)["met"])
        # What one P of ours takes is no measure: it may be more than the serial program's.
        self.assertFalse(goals.spacious(serial | {("uts", 1, "continuations", 1): self.once(0, 8_000, stacks_peak=1)})[0]["met"])

    def test_where_the_time_of_all_p_went(self):
        once = {"seconds": 2e-9, "counters": {"busy_ns": 2, "looking_ns": 1}}
        self.assertEqual(tables.shares(once, 2), {"work": 0.5, "looking": 0.25, "idle": 0.25})
        self.assertEqual(tables.shares({"seconds": 1.0}, 2), {})


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
