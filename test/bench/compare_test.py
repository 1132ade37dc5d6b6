"""bench/compare.py: what it says of two files, and what it refuses. Commits are measured by hand: each takes a build."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path[0] = str(ROOT / "bench")

import compare  # noqa: E402


def report(**ways):
    """A way's times in fib(30) on two P."""
    return {"results": [{"kernel": "fib", "size": 30, "way": way, "procs": 2, "ms": times} for way, times in ways.items()]}


class CompareTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, of):
        path = pathlib.Path(self.folder.name) / name
        path.write_text(json.dumps(of))
        return path

    def run_on(self, old, new, *more):
        return subprocess.run([sys.executable, ROOT / "bench/compare.py", self.file("old.json", old), self.file("new.json", new), *more],
                              capture_output=True, text=True)

    def test_verdicts_follow_from_the_figures(self):
        steady, twice, noisy = [10.0, 10.1] * 4, [20.0, 20.2] * 4, [5.0, 20.0] * 4
        done = self.run_on(report(serial=steady, continuations=steady, tasks=steady, scope=steady[:4]),
                           report(serial=steady, continuations=twice, tasks=noisy, scope=twice[:4]))
        self.assertEqual(done.returncode, 0, done.stderr)
        said = {line.split()[1]: line for line in done.stdout.splitlines() if line.strip().startswith("fib(30)")}
        self.assertTrue(said["serial"].endswith("no difference"), done.stdout)
        self.assertTrue(said["continuations"].endswith("slower"), done.stdout)
        self.assertIn("2.000", said["continuations"])
        self.assertTrue(said["tasks"].endswith("no difference"), done.stdout)
        self.assertTrue(said["scope"].endswith("too few rounds"), done.stdout)
        self.assertIn("1 slower, 1 no difference, 1 too few rounds; ours alone, of 3", done.stdout)

    def test_the_interval_of_two_measurements_is_the_widest(self):
        times = compare.apart([10.0, 11.0] * 4, [20.0, 22.0] * 4)
        self.assertAlmostEqual(times["interval"][0], 20 / 11)
        self.assertAlmostEqual(times["interval"][1], 2.2)

    def test_rounds_that_alternated_are_compared_one_by_one(self):
        # The machine became slower; each round says the same.
        times = compare.paired([10.0, 20.0, 40.0, 80.0, 160.0], [11.0, 22.0, 44.0, 88.0, 176.0])
        self.assertAlmostEqual(times["interval"][0], 1.1)
        self.assertAlmostEqual(times["interval"][1], 1.1)

    def test_a_round_in_which_one_took_no_part_is_left_out(self):
        (row,) = compare.compared(report(tasks=[10.0, None, 10.0]), report(tasks=[20.0, 99.0, 20.0]), compare.paired)
        self.assertEqual(row[3]["rounds"], 2)
        self.assertEqual(row[3]["median"], 2.0)

    def test_csv(self):
        file = pathlib.Path(self.folder.name) / "table.csv"
        self.assertEqual(self.run_on(report(tasks=[1.0] * 8), report(tasks=[2.0] * 8), "--csv", file).returncode, 0)
        head, line = file.read_text().splitlines()
        self.assertEqual(dict(zip(head.split(","), line.split(",")))["ratio"], "2")
        self.assertTrue(line.endswith("slower"))

    def test_refusals(self):
        self.assertIn("nothing in common", self.run_on(report(tasks=[1.0]), report(scope=[1.0])).stderr)
        self.assertIn("files have been measured", self.run_on(report(tasks=[1.0]), report(tasks=[1.0]), "--quick").stderr)
        done = subprocess.run([sys.executable, ROOT / "bench/compare.py", "no-such-commit", "HEAD"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no-such-commit", done.stderr)


if __name__ == "__main__":
    unittest.main()
