"""The verdict of ./dev bench --scale, on made-up runs whose cause is known."""

import contextlib
import io
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from harness import verdict  # noqa: E402
from harness.figures import Figure  # noqa: E402

SECOND = 1e9


def run(procs=64, seconds=0.01, busy=0.9, looking=0.1, **counters):
    total = procs * seconds * SECOND
    return {"seconds": seconds, "counters": {"busy_ns": busy * total, "looking_ns": looking * total} | counters}


def words(**made_up):
    one = run(**made_up)
    return {name: verdict.word(part) for name, part in verdict.causes(made_up.get("procs", 64), one["counters"], one["seconds"]).items()}


class VerdictTest(unittest.TestCase):
    def only(self, cause, found):
        self.assertEqual(found, {name: "yes" if name == cause else "no" for name in verdict.CAUSES})

    def test_one_cause_at_a_time(self):
        self.assertEqual(set(words().values()), {"no"})
        # 100 wake-ups, one each 24.5 us, of 10 ms: a quarter of it, in which half of the Ps were idle
        self.only("wake-ups", words(wakeups=100, busy=0.4))
        # 10 ms of 2 Ps: 20, of which thefts take 2.0, and suspensions 2.6
        self.only("thefts", words(procs=2, steals=5_000, suspensions=8_000))
        # 10 ms of 8 Ps: 80, of which 1,700 parks of 10.0 us take 17
        self.only("parks", words(procs=8, parks=1_700))
        self.only("mutex", words(steals=10_000))
        self.only("stacks", words(suspensions=10_000))

    def test_wake_ups_count_as_far_as_ps_were_idle(self):
        self.only(None, words(wakeups=100))
        self.assertEqual(words(wakeups=100, busy=0.8)["wake-ups"], "some")

    def test_lines_come_from_farther_where_there_are_more_ps(self):
        near, far = (verdict.causes(p, run(procs=p, steals=1000)["counters"], 0.01)["mutex"] for p in (8, 9))
        self.assertAlmostEqual(near, 2 * 1000 * 23 / 1e7)
        self.assertAlmostEqual(far, 2 * 1000 * 107 / 1e7)

    def test_what_the_simulator_knows(self):
        # simulate fib --procs 64, from asleep: 0.72 ms with all awake, 1.51 so
        found = words(seconds=1.51e-3, busy=0.35, looking=0.01, wakeups=62, steals=668, suspensions=438)
        self.assertEqual({name for name, of in found.items() if of == "yes"}, {"wake-ups"})
        # simulate heat --procs 64, where lines cost something
        found = words(seconds=39.2e-3, busy=0.29, looking=0.21, wakeups=572, steals=75_800, suspensions=59_200, parks=18_500, exposures=1_700)
        self.assertEqual({name for name, of in found.items() if of == "yes"}, {"wake-ups", "mutex", "stacks"})
        self.assertEqual(found["parks"], "some")

    def test_the_most_p_are_judged(self):
        key = ("heat", 512, "continuations")
        results = {(*key, p): {"vs_serial": Figure([1 / p])} for p in (1, 4, 64)} | {("heat", 512, "tbb", 128): {}}
        once = {(*key, p): run(procs=p, suspensions=10_000) for p in (1, 4, 64)}
        found = verdict.verdict(results, once)
        self.assertEqual([(f["kernel"], f["size"], f["procs"]) for f in found], [("heat", 512, 64)])
        self.assertAlmostEqual(found[0]["speed"], 64)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            verdict.print_verdict(found)
        self.assertRegex(out.getvalue(), r"(?m)^  heat\(512\) +64 +64\.0 +no 0% +no \d% +no 0% +no 0% +yes 21%$")
        self.assertIn("The verdict: stacks.", out.getvalue())
        self.assertEqual(verdict.verdict({(*key, 1): {}}, once), [])  # one P alone
        self.assertEqual(verdict.verdict({(*key, 4): {}}, {}), [])  # no counters


if __name__ == "__main__":
    unittest.main()
