"""profile_test.py PROGRAM: what the profile tells that does not hang on times: counts, lines, sums, and what it says of misuse.

PROGRAM is profile_program.cpp, built as a profile. Tried with strands that are timed not counted (strands.cpp: add_up_strands), with sites by the
innermost call, without the least of several runs (least_of_runs), and without thefts between the iterations of a loop: each fails."""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "runtime/profile/tool"))
import measure
import model
import table

PROGRAM = str(pathlib.Path(sys.argv.pop()).resolve())
SOURCE = pathlib.Path(__file__).with_name("profile_program.cpp")
LINES = {name: number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) for name in re.findall(r"// site: (\w+)", line)}


def run(case, folder=None, **environment):
    with tempfile.TemporaryDirectory() as own:
        out = pathlib.Path(folder or own) / "out.json"
        done = subprocess.run([PROGRAM, case], env={**os.environ, "FORKJOIN_PROFILE_OUT": str(out), **environment}, capture_output=True,
                              text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(out.read_text())


def forks(told):
    """By line: of its blocks, branches and forks."""
    return {site["line"]: (site["blocks"], site["branches"], site["forks"]) for site in told["sites"]
            if site["kind"] not in OUTSIDE and site["file"].endswith(SOURCE.name)}


OUTSIDE = ("begin", "after", "beside")


class ProfileTest(unittest.TestCase):
    def expect(self, found, **sites):
        for name, numbers in sites.items():
            self.assertEqual(found.get(LINES[name]), numbers, name)

    def test_counts(self):
        told = run("counts")
        self.expect(forks(told), two=(10945, 21890, 10945), three=(7, 21, 14), iterations=(1, 100, 99), grain=(1, 100, 99), fold=(1, 10, 9),
                    scope=(0, 5, 5), outside=(1, 2, 1))
        self.assertEqual(len(forks(told)), 7)
        kinds = {site["line"]: site["kind"] for site in told["sites"] if site["kind"] not in OUTSIDE}
        self.assertEqual([kinds[LINES[name]] for name in ("two", "iterations", "fold", "scope")], ["fork_join", "loop", "fork_reduce", "scope"])
        functions = {site["line"]: site["function"] for site in told["sites"]}
        self.assertIn("fib", functions[LINES["two"]])
        self.assertIn("counts", functions[LINES["outside"]])

    def test_through(self):
        """Files that are looked through have no lines. (Tried without asking: the sites of the program's file stay.)"""
        self.assertEqual(forks(run("counts", FORKJOIN_PROFILE_THROUGH="another/folder/")), forks(run("counts")))
        self.assertEqual(forks(run("counts", FORKJOIN_PROFILE_THROUGH=SOURCE.name)), {})

    def test_exceptions(self):
        found = forks(run("throws"))
        self.expect(found, first=(10, 10, 0), last=(20, 40, 20), iteration=(10, 50, 40), two=(20 + 88, 216, 108))

    def test_empty_loops(self):
        """A loop over nothing does not fork. (Tried with one that counts as a block: no forks were left.)"""
        found = forks(run("trees"))
        self.assertEqual([found[LINES[name]][0] for name in ("nodes", "visit")], [31, 31])

    def test_locales(self):
        """The numbers have a point, whatever the program's locale. (Tried with printf: no profile could be read.)"""
        locale = next((name for name in subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.split()
                       if subprocess.run(["locale", "decimal_point"], env={**os.environ, "LC_ALL": name}, capture_output=True, text=True).stdout == ",\n"), None)
        if not locale:
            self.skipTest("this system has no locale with a comma")
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out.json"
            subprocess.run([PROGRAM, "comma", locale], env={**os.environ, "FORKJOIN_PROFILE_OUT": str(out), "FORKJOIN_PROFILE_THEFT_NS": "540.5"}, check=True)
            self.assertAlmostEqual(json.loads(out.read_text())["theft_ns"], 540.5, delta=1)

    def test_a_scope_has_no_parallelism_of_its_own(self):
        """The profile adds up its children one by one, and they run beside one another."""
        def site(kind):
            zeros = dict.fromkeys([field.name for field in dataclasses.fields(model.Site)], 0)
            return model.Site(**{**zeros, "kind": kind, "work_in": 8.0, "span_in": 2.0})
        self.assertEqual([site(kind).parallelism for kind in ("fork_join", "scope")], [4.0, None])

    def test_own_number_of_ps(self):
        """(Tried without the look: a cause was named of what such a program has in common.)"""
        said = "forkjoin: the runtime lived for 2 s and had jobs for 53,2 ms, on 4 P"
        self.assertEqual(measure.nanoseconds_of_jobs(said, 4), 53.2e6)
        with self.assertRaisesRegex(measure.OwnProcs, "has made a runtime of 4 by its own options"):
            measure.nanoseconds_of_jobs(said, 2)

    def test_scopes_of_ancestors(self):
        told = run("ancestors")
        self.assertEqual(sum(site["forks"] for site in told["sites"] if site["kind"] == "scope"), 4)
        self.assertEqual(forks(told)[LINES["two"]], (2, 4, 2))

    def test_outside(self):
        """What no branch is around has the label of what it follows: a scope's parent runs beside its children, and after their join. (Tried with
        a parent that stays "before the first fork", as it was.)"""
        with tempfile.TemporaryDirectory() as folder:  # each strand counts as its shortest
            told = [run("outside", folder, FORKJOIN_PROFILE_RUNS=folder + "/runs") for _ in range(4)][-1]
        unit = next(site["own_ns"] for site in told["sites"] if site["kind"] == "begin")
        found = {(site["kind"], site["line"]): site["own_ns"] / unit for site in told["sites"] if site["kind"] in OUTSIDE}
        beside, after = (found[kind, LINES["child"]] for kind in ("beside", "after"))
        for ratio in beside, after / beside:  # nine, on a machine that changes its pace
            self.assertGreater(ratio, 3)
            self.assertLess(ratio, 27)
        self.assertLess(found["after", LINES["last_fork"]], 0.5)

    def test_short_loops(self):
        """Loops that one strand runs alone are loops, though they do not fork. (Tried without the count.)"""
        with tempfile.TemporaryDirectory() as folder:
            told = [run("short loops", folder, FORKJOIN_PROFILE_RUNS=folder + "/runs") for _ in range(2)][-1]
            profile = model.Profile(folder + "/out.json")
        short, long = ({site["line"]: site for site in told["sites"] if site["kind"] == "loop"}[LINES[name]] for name in ("short", "long"))
        self.assertEqual((short["forks"], short["lone_loops"], short["lone_numbers"]), (0, 2000, 2000 * 400))
        self.assertAlmostEqual(short["lone_ns"] / short["own_ns"], 1, delta=0.2)
        self.assertEqual((long["forks"], long["lone_loops"]), (7, 0))
        text = "\n".join(table.lines(profile, None, 8, True, False))
        self.assertIn("; 2,000 loops too short to share\n", text)
        self.assertRegex(text, rf"profile_program.cpp:{LINES['short']}: 2,000 loops too short to share, 400 elements in \S+ \ws on average\n"
                               r" +if shared: parallelism 400, with thefts \d")

    def test_growing_loops(self):
        """Loops that are brief at first are not brief for ever: their work is what they took. (Tried with one kind of strands for all lengths: one
        in six programs had a tenth of its work.)"""
        for _ in range(8):
            with tempfile.TemporaryDirectory() as folder:
                for _ in range(3):
                    file = pathlib.Path(folder) / "out.json"
                    done = subprocess.run([PROGRAM, "growing loops"],
                                          env={**os.environ, "FORKJOIN_PROFILE_OUT": str(file), "FORKJOIN_PROFILE_RUNS": folder + "/runs"},
                                          capture_output=True, text=True, check=True, timeout=120)
                    # The profile takes time, too.
                    self.assertGreater(json.loads(file.read_text())["work_ns"], 0.3 * float(done.stdout))

    def test_parallelism_of_short_loops(self):
        """In halves as often as pays."""
        def site(loops, numbers, time):
            zeros = dict.fromkeys([field.name for field in dataclasses.fields(model.Site)], 0)
            return model.Site(**{**zeros, "lone_loops": loops, "lone_numbers": loops * numbers, "lone": loops * time})
        self.assertEqual(site(10, 400, 800).lone_parallelism(1000), (400, 800 / 1400))
        self.assertEqual(site(10, 400, 8000).lone_parallelism(1000), (400, 8000 / 4000))
        self.assertEqual(site(10, 2, 8000).lone_parallelism(1000), (2, 8000 / 5000))
        self.assertEqual(site(1, 100, 6400).lone_parallelism(0)[1], 100)

    def test_unseen(self):
        """What the profile cannot see is named by what was measured beside it. (Tried with the quotient of memory upside
        down: it is what the strands share.)"""
        class Times:
            work, span = 1e9, 0.0
            time = staticmethod(lambda procs: 1e9 / procs)
        def said(on_one=1e9, on_two=0.5e9, computing=2.0, copies=2.0):
            measured = types.SimpleNamespace(on_one=on_one, on_two=on_two, of_processors=computing, ceiling=copies)
            lines = list(table.unseen(Times, measured))
            self.assertLessEqual(max(map(len, lines), default=0), 120)
            return " ".join(lines)
        self.assertEqual(said(), "")
        self.assertEqual(said(on_two=0.59e9), "")
        self.assertIn("took 1.80 times as long as predicted", said(on_two=0.9e9))
        self.assertIn("a cache line that both Ps write", said(on_two=0.9e9))
        self.assertIn("a cache line that both Ps write", said(on_two=0.9e9, computing=1.8, copies=1.7))
        self.assertIn("programs that run on it: two that only compute get 1.20 times", said(on_two=0.85e9, computing=1.2, copies=1.2))
        self.assertIn("memory: two copies of the program get 1.10 times what one gets, two that only compute 1.95",
                      said(on_two=0.95e9, computing=1.95, copies=1.1))
        self.assertIn("on one P it does, too", said(on_one=1.5e9, on_two=0.75e9))

    def test_sums(self):
        for case in ("counts", "throws", "ancestors", "outside", "short loops", "skewed", "scopes", "folds", "grandchildren"):
            with self.subTest(case):
                told = run(case)
                work, span, burdened = told["work_ns"], told["span_ns"], told["burdened_ns"]
                self.assertGreater(span, 0)
                self.assertLessEqual(span, work * 1.000001)
                self.assertGreaterEqual(burdened, span)
                self.assertAlmostEqual(sum(site["own_ns"] for site in told["sites"]) / work, 1, places=4)
                self.assertAlmostEqual(sum(site["on_span_ns"] for site in told["sites"]) / span, 1, places=4)
                for site in told["sites"]:
                    self.assertLessEqual(site["on_span_ns"], site["own_ns"] + 1)
                    for saved in site["saved_twice_ns"], site["saved_free_ns"]:
                        self.assertGreaterEqual(saved, -1)
                        self.assertLessEqual(saved, burdened)

    def test_thefts(self):
        """A theft is on each edge that a thief could take: each second branch of fib's longest path; a theft that costs nothing is none."""
        free, dear = (run("counts", FORKJOIN_PROFILE_THEFT_NS=theft) for theft in ("0", "1000000"))
        self.assertAlmostEqual(free["burdened_ns"] / free["span_ns"], 1, places=6)
        two = next(site for site in dear["sites"] if site["line"] == LINES["two"] and site["kind"] == "fork_join")
        # fib(20) by second branches alone: 10 forks, each with one theft; the first branch of a second branch may have more. 19 levels, at most one each.
        self.assertAlmostEqual(two["saved_free_ns"] / 1e6, 10, delta=0.2)
        iterations = next(site for site in dear["sites"] if site["line"] == LINES["iterations"] and site["kind"] == "loop")
        self.assertAlmostEqual(iterations["saved_free_ns"] / 1e6, 99, delta=0.2)  # one after the other
        grain = next(site for site in dear["sites"] if site["line"] == LINES["grain"] and site["kind"] == "loop")
        self.assertAlmostEqual(grain["saved_free_ns"] / 1e6, 6, delta=0.2)  # in halves: 63 of 0 to 99 has the most bits

    def test_later_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            runs = [run("varied", folder, FORKJOIN_PROFILE_RUNS=folder + "/runs") for _ in range(4)]
        self.assertEqual([told["run"] for told in runs], [0, 1, 2, 3])
        self.assertTrue(all(told["repeats"] for told in runs))
        # The first learns, so its lengths are others; from then on each strand counts as the shortest.
        for before, told in zip(runs[1:], runs[2:]):
            self.assertLessEqual(told["work_ns"], 1.01 * before["work_ns"])
            self.assertLessEqual(told["span_ns"], 1.01 * before["span_ns"])
        with tempfile.TemporaryDirectory() as folder:
            runs = [run(case, folder, FORKJOIN_PROFILE_RUNS=folder + "/runs") for case in ("larger", "larger", "larger", "smaller")]
        self.assertEqual([told["repeats"] for told in runs], [True, True, True, False])

    def test_text(self):
        done = subprocess.run([PROGRAM, "counts"], env={k: v for k, v in os.environ.items() if k != "FORKJOIN_PROFILE_OUT"}, capture_output=True,
                              text=True, check=True)
        self.assertRegex(done.stderr, r"forkjoin-profile: work \S+ \ws, span \S+ \ws, burdened span \S+ \ws, parallelism \S+")
        self.assertRegex(done.stderr, rf"% of the work, 10945 forks: fib at \S*{SOURCE.name}:{LINES['two']}")

    def test_messages(self):
        for variable in "FORKJOIN_PROFILE_OUT", "FORKJOIN_PROFILE_RUNS":
            done = subprocess.run([PROGRAM, "throws"], env={**os.environ, variable: "/no/such/folder/file"}, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0)
            self.assertIn(f"forkjoin-profile: {variable}: cannot write /no/such/folder/file", done.stderr)

        done = subprocess.run([PROGRAM, "exit"], capture_output=True, text=True, check=True)
        self.assertIn("the program ends inside of fj::run: its work and span lack that call", done.stderr)
        self.assertIn(", 7 forks: ", done.stderr)
        done = subprocess.run([PROGRAM, "threads"], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("two threads call fj::run at the same time", done.stderr)

    def test_a_file_of_something_else(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"no profile" * 100)
            file.flush()
            self.expect(forks(run("counts", FORKJOIN_PROFILE_RUNS=file.name)), two=(10945, 21890, 10945))

    def test_a_damaged_file_of_earlier_runs(self):
        """Tried with a list that is made as long as the file says: the process has no memory."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "runs"
            run("counts", folder, FORKJOIN_PROFILE_RUNS=str(file))
            whole = file.read_bytes()
            for data in whole[:len(whole) // 2], whole[:24] + ((1 << 26) - 1).to_bytes(8, "little") + whole[32:]:
                file.write_bytes(data)
                limited = f'ulimit -v 1500000; exec "{PROGRAM}" counts'
                done = subprocess.run(["sh", "-c", limited], env={**os.environ, "FORKJOIN_PROFILE_OUT": folder + "/out", "FORKJOIN_PROFILE_RUNS": str(file)},
                                      capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
