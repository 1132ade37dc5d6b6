"""The benchmarks' statistics, against figures computed by hand, and how rounds, pairs and single runs are taken."""

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
        self.assertEqual(figure.summary(), {"median": 2.5, "min": 1.0, "max": 3.0, "interval": [1.0, 3.0], "rounds": 3})

    def test_median_of_an_even_number(self):
        self.assertEqual(Figure([1.0, 4.0, 2.0, 100.0]).median, 3.0)
        self.assertEqual(Figure([1, 4, 2, 100]).median, 4)  # a count stays one that occurred

    def test_where_the_median_lies(self):
        # Of 25 throws of a coin, five or fewer are heads in 2 of 1000 cases, six or fewer in 7.
        self.assertEqual(Figure(range(1, 26)).median_lies_between(), (6, 20))
        self.assertEqual(Figure([3.0, 1.0, 2.0]).median_lies_between(), (1.0, 3.0))  # too few to say

    def test_how_sure_that_is(self):
        # Of n values on either side of the median with even chances, all lie on one side in 2 of 2^n cases.
        for n, sure in ((3, 0.75), (5, 0.9375), (7, 0.984375), (8, 0.9921875)):
            self.assertEqual(Figure(range(n)).certainty, sure)
        self.assertTrue(all(0.99 <= Figure(range(n)).certainty < 0.9991 for n in range(8, 60)))

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
                         {"median": 20.0, "min": 20.0, "max": 20.0, "interval": [20.0, 20.0], "rounds": 1})
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

    def test_so_is_openmp(self):
        rounds = Rounds([round_of(continuations_1=20, omp_1=30, omp_for_1=22)])
        self.assertEqual(rounds.of("fib", 35, "continuations", 1)["vs_omp"].values, [1.1])
        self.assertNotIn("vs_omp", rounds.of("fib", 35, "omp", 1))

    def test_beside_what_it_takes_alone(self):
        rounds = Rounds([round_of(serial_1=12, continuations_1=10, continuations_2=11),
                         round_of(serial_1=8, continuations_1=10, continuations_2=10)])
        self.assertEqual(rounds.of("fib", 35, "continuations", 2)["vs_alone"].values, [1.1, 1.25])
        self.assertNotIn("vs_alone", rounds.of("fib", 35, "continuations", 1))
        self.assertNotIn("vs_alone", Rounds([round_of(continuations_1=10, continuations_2=10)]).of("fib", 35, "continuations", 2))

    def test_the_best_serial_program_is_of_any_compiler(self):
        theirs = [round_of(serial_1=8), round_of(serial_1=12)]
        rounds = Rounds([round_of(serial_1=10, continuations_1=20), round_of(serial_1=10, continuations_1=20)], others=[theirs])
        figures = rounds.of("fib", 35, "continuations", 1)
        self.assertEqual(figures["vs_best_serial"].values, [2.5, 2.0])
        self.assertEqual(figures["vs_serial"].values, [2.0, 2.0])
        self.assertEqual(figures["vs_other_serial"].values, [2.5, 20 / 12])
        alone = Rounds([round_of(serial_1=10)]).of("fib", 35, "serial", 1)
        self.assertFalse({"vs_best_serial", "vs_other_serial"} & set(alone))

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
