"""What the report says by rule: its first lines, and the effects of order and join. Skipped (status 77) without matplotlib and
jinja2."""

import contextlib
import io
import random
import re
import unittest

from report_test import Data, Made, command, made_up, swapped

from report import axes
from report.answer import answer
from report.pages import NONE, value, words


def with_ways(factors, spread=0.0, count=9):
    """Figures of fib by these ways: {way: factor of its time}, with noise."""
    dice = random.Random(9)
    rounds = [{("fib", 30, way, 1): {"ms": 10 * f * dice.uniform(1 - spread, 1 + spread)} for way, f in factors.items()}
              for _ in range(count)]
    return Data({"schema": 1, "results": [{"kernel": "fib", "size": 30, "way": way, "procs": 1, "median_ms": 10 * f,
                                           "ms": [of["fib", 30, way, 1]["ms"] for of in rounds]} for way, f in factors.items()]})


class AxesTest(unittest.TestCase):
    """Tried with effects that are claimed of one comparison alone, and of a median whose interval reaches beyond 1."""

    ORDER = {"first_leave": 1, "first_top": 1, "first_leap": 1, "last_leave": 1.5, "last_top": 1.5, "last_leap": 1.5}

    def effects(self, data):
        """The row of fib: {the order, and each join: the effect, or NONE}."""
        table = axes.effects(data)
        [row] = table.rows
        cells = [re.sub("<.*?>", "", str(cell)) for cell in row]
        self.assertEqual(table.head, ["kernel", "last child first, P = 1", "runs others on top", "runs its thief's", "noise"])
        return dict(zip(("kernel", "order", "top", "leap", "noise"), cells))

    def test_nothing_is_claimed_for_joins_that_the_order_explains(self):
        data = with_ways(self.ORDER, 0.01)
        row = self.effects(data)
        self.assertRegex(row["order"], r"1\.(49|5)")
        self.assertEqual((row["top"], row["leap"]), (NONE, NONE))
        self.assertEqual(axes.corners(data), ["order"])

    def test_a_join_has_to_show_at_either_order(self):
        both = with_ways(self.ORDER | {"first_top": 1.3, "last_top": 1.9}, 0.01)
        self.assertRegex(self.effects(both)["top"], r"P = 1: 1\.2")
        self.assertEqual(axes.corners(both), ["both"])
        self.assertEqual(str(words([value(1), "<b>", "c"])), '<data value="1">1</data>, &lt;b&gt; and c')
        one = with_ways(self.ORDER | {"first_top": 1.3}, 0.01)
        self.assertEqual(self.effects(one)["top"], NONE)
        join = with_ways(dict.fromkeys(self.ORDER, 1) | {"first_top": 1.3, "last_top": 1.3}, 0.01)
        self.assertEqual(axes.corners(join), ["join"])

    # Tried with one comparison as enough: fails.
    def test_an_order_has_to_show_with_two_joins(self):
        self.assertEqual(self.effects(with_ways({"first_leave": 1, "last_leave": 1.5}, 0.01))["order"], NONE)

    def test_noise_claims_nothing(self):
        noisy = with_ways(self.ORDER | dict.fromkeys(("last_leave", "last_top", "last_leap"), 1.05), 0.2)
        self.assertEqual(self.effects(noisy)["order"], NONE)

    def test_four_rounds_show_nothing(self):
        row = self.effects(with_ways(self.ORDER, 0.01, count=4))
        self.assertEqual((row["order"], row["top"], row["leap"]), (NONE, NONE, NONE))

    def test_what_copies_of_a_program_differ_by_is_noise(self):
        small = self.ORDER | dict.fromkeys(("last_leave", "last_top", "last_leap"), 1.1)
        self.assertRegex(self.effects(with_ways(small, 0.002))["order"], r"1\.1")
        # Tried without the floor: it is an effect.
        copied = self.effects(with_ways(small | {"continuations": 1, "again": 1.01, "padded": 0.85}, 0.002))
        self.assertEqual(copied["order"], NONE)
        self.assertRegex(copied["noise"], r"1\.1[78]")
        self.assertRegex(self.effects(with_ways(small | {"continuations": 1, "again": 1.01, "padded": 0.99}, 0.002))["order"], r"1\.1")

    def test_one_join_for_all_children(self):
        data = with_ways(self.ORDER | {"continuations": 0.5}, 0.01)
        self.assertAlmostEqual(axes.one_join(data, ("fib", 30), 1).median, 0.5, delta=0.01)
        self.assertEqual(axes.corners(data), ["order"])  # over first_leave, not the other form of a fork
        self.assertFalse(axes.one_join(with_ways(self.ORDER, 0.01), ("fib", 30), 1))

    def test_two_corners_alone_say_nothing_about_either_axis(self):
        data = with_ways({"continuations": 1, "tasks": 1.5}, 0.01)
        self.assertFalse(axes.complete(data))
        self.assertEqual(axes.effects(data).rows, [])
        self.assertEqual(axes.corners(data), ["open"])
        made = Made(made_up())
        self.assertIn("No difference between them", made.text(command.COMPARISON, "axes"))

    def test_the_table_of_two_compilers(self):
        report = made_up()
        report["others"] = [swapped(made_up())]
        report["others"][0]["environment"]["compiler"] = "clang 19"
        made = Made(report)
        table = next(t for caption, t in made.tables.items() if caption.startswith("Order and join"))
        rows = [table.where(kernel="fib (30)", P="2", compiler=compiler) for compiler in ("g++", "clang")]
        head = "last child first, runs others on top"
        self.assertGreater(rows[0][head][0][0], 1)
        self.assertLess(rows[1][head][0][0], 1)
        self.assertEqual([row["n"][0] for row in rows], [[5], [5]])
        self.assertIn("over-serial-p2-clang.svg", made.plots)
        verdicts = made.tables["Time by tasks and by continuations"]
        self.assertEqual([verdicts.where(kernel="fib (30)", P="1", compiler=compiler)["faster"][1] for compiler in ("g++", "clang")],
                         ["continuations", "tasks"])


class AnswerTest(unittest.TestCase):
    def test_five_lines_with_their_figures(self):
        report = made_up()
        report["means"] += [{"name": name, "what": "", "procs": 2, "value": value, "over": ["fib"], "few": {"uts": 1}}
                            for name, value in (("times_tbb", 20.5), ("speedup", 1.75))]
        found = [str(text) for _, _, text in answer(Data(report))]
        self.assertEqual(len(found), 5)
        for text, said in zip(found, ("1.49", "20.5</data> on 2 Ps (uts: n = 1)", "1.75", "continuations are faster in 4 of 5, tasks",
                                      "1 of 1 met")):
            self.assertIn(said, text)
        report["goals"] += [{"met": False, "undecided": True}, {"met": False}]
        self.assertIn("1 of 3 met, 1 missed, 1 undecided", [str(text) for *_, text in answer(Data(report))][4])

    def test_the_least_beside_onetbb_is_a_median(self):
        """And each mean says over which kernels it is. (Tried with the least round of all: bfs.)"""
        report = made_up()
        report["means"] = [{"name": name, "what": "", "procs": 1, "value": value, "over": over, "few": {}}
                           for name, value, over in (("times_tbb", 1.93, ["fib", "bfs", "health"]), ("times_tbb_no_cut_off", 4.28, ["fib"]))]
        report["kernels"], report["results"] = [], []
        for kernel, least, median in ("fib", 20.0, 27.0), ("bfs", 0.41, 1.61), ("health", 0.64, 0.70):
            summary = {"min": least, "median": median, "max": 2 * median}
            report["results"].append({"kernel": kernel, "size": 1, "way": "continuations", "procs": 1, "vs_tbb": summary})
        told = re.sub("<[^>]*>", "", next(str(text) for head, _, text in answer(Data(report)) if head == "Against oneTBB"))
        self.assertEqual(told, "1.93 on 1 P over all kernels (3), 4.28 on 1 P over those without a cut-off (1), "
                               "the least median in health on 1 P (0.70)")


if __name__ == "__main__":
    with contextlib.redirect_stdout(io.StringIO()):
        unittest.main()
