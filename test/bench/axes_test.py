"""The sentences of the report that follow by rule: the first lines, and what is said about order and join. Skipped (status 77)
without matplotlib and jinja2."""

import contextlib
import io
import random
import re
import unittest

from report_test import Data, Made, command, made_up, swapped

from report import axes
from report.answer import answer
from report.pages import value, words


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

    def told(self, data):
        [(where, found)] = axes.sentences(data)
        self.assertEqual(where, "P = 1, the cost of a fork")
        return [re.sub("<.*?>", "", str(text)) for text in found]

    def test_nothing_is_claimed_for_joins_that_the_order_explains(self):
        order, joins, corners = self.told(with_ways(self.ORDER, 0.01))
        self.assertRegex(order, r"more time in fib \(1\.50?\)")
        self.assertEqual(joins.count("takes as much time, within 5%, in fib"), 2)
        self.assertRegex(corners, r"the order alone explains fib \(1\.(49|5)")

    def test_a_join_has_to_show_at_either_order(self):
        both = self.told(with_ways(self.ORDER | {"first_top": 1.3, "last_top": 1.9}, 0.01))
        self.assertRegex(both[1], r"to run others on top takes more time in fib \(1\.2")
        self.assertIn("order and join both explain fib", both[2])
        self.assertEqual(str(words([value(1), "<b>", "c"])), '<data value="1">1</data>, &lt;b&gt; and c')
        one = self.told(with_ways(self.ORDER | {"first_top": 1.3}, 0.01))
        self.assertIn("to run others on top takes neither", one[1])

    def test_noise_claims_nothing(self):
        self.assertIn("neither", self.told(with_ways(self.ORDER | dict.fromkeys(("last_leave", "last_top", "last_leap"), 1.05),
                                                     0.2))[0])

    def test_four_rounds_tell_nothing(self):
        order, joins = self.told(with_ways(self.ORDER, 0.01, count=4))
        self.assertIn("neither", order)
        self.assertEqual(joins.count("neither clearly more nor clearly less"), 2)

    def test_noise_is_not_called_equal(self):
        # The medians are 1 within 5 %, but their intervals are not.
        joins = self.told(with_ways(dict.fromkeys(self.ORDER, 1), 0.2))[1]
        self.assertNotIn("as much time", joins)

    def test_what_copies_of_a_program_differ_by_is_not_told(self):
        small = self.ORDER | dict.fromkeys(("last_leave", "last_top", "last_leap"), 1.1)
        self.assertRegex(self.told(with_ways(small, 0.002))[0], r"more time in fib \(1\.1")
        # Tried without the floor: it is told.
        copied = self.told(with_ways(small | {"continuations": 1, "again": 1.01, "padded": 0.85}, 0.002))
        self.assertIn("neither", copied[0])
        self.assertRegex(copied[-1], r"differ from themselves by factors of up to fib \(1\.1[78]")
        self.assertRegex(self.told(with_ways(small | {"continuations": 1, "again": 1.01, "padded": 0.99}, 0.002))[0], r"fib \(1\.1")

    def test_one_join_for_all_children(self):
        told = self.told(with_ways(self.ORDER | {"continuations": 0.5}, 0.01))
        self.assertRegex(told[-1], r"takes 0\.[45]\d* of the time in fib \(n = 9\)")
        self.assertRegex(told[2], r"the order alone explains fib \(1\.(49|5)")  # over first_leave, not the other form of a fork
        self.assertEqual(len(self.told(with_ways(self.ORDER, 0.01))), 3)

    def test_two_corners_alone_say_nothing_about_either_axis(self):
        data = with_ways({"continuations": 1, "tasks": 1.5}, 0.01)
        self.assertFalse(axes.complete(data))
        self.assertEqual(self.told(data), ["of the time of tasks over continuations, the measurement does not tell what explains "
                                           "fib (1.50)."])
        made = Made(made_up())
        self.assertIn("no difference between them", made.text(command.COMPARISON, "axes"))

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
        verdicts = made.text(command.COMPARISON, "time")
        self.assertIn("g++, P = 1: continuations are faster in", verdicts)
        self.assertIn("clang, P = 1", verdicts)


class AnswerTest(unittest.TestCase):
    def test_five_lines_with_their_figures(self):
        report = made_up()
        report["means"] += [{"name": name, "what": "", "procs": 2, "value": value, "over": ["fib"], "few": {"uts": 1}}
                            for name, value in (("times_tbb", 20.5), ("speedup", 1.75))]
        found = [str(text) for _, _, text in answer(Data(report))]
        self.assertEqual(len(found), 5)
        for text, said in zip(found, ("1.49", "20.5</data> on 2 P (uts: n = 1)", "1.75", "continuations are faster in 4 of 5, tasks",
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
