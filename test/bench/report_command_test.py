"""bench/report as a command: the arguments that it takes and refuses, the files that it keeps, and README's picture.
Skipped (status 77) without matplotlib and jinja2."""

import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree

from report_test import ROOT, SVG, Data, command, draw, made_up, made_up_simulation, parsed
from harness.tables import told_times  # report_test has put bench/ on the path
from report import readme, simulation


class ReadmeTest(unittest.TestCase):
    """The picture of fib; tried with one P's ratio in place of two's, best times in place of medians, and with
    matplotlib's own names and metadata left in."""

    def fib(self, procs=(1, 2)):
        report = made_up(procs)
        for r in report["results"]:
            r["way"] = {"tbb": "tbb_invoke", "omp": "tbb_group"}.get(r["way"], r["way"])
            if r["kernel"] == "fib":
                r["forks"] = 1_346_268
                if "vs_tbb" in r:
                    r["vs_tbb_invoke"] = r["vs_tbb"] | {"median": r["vs_tbb"]["median"] * r["procs"]}
        return report

    def test_it_shows_the_medians_and_says_what_was_measured(self):
        report = self.fib()
        text = command.fib(Data(report)).svg(alone=True)
        svg = ElementTree.fromstring(text)
        shown = [t.text for t in svg.iter(f"{SVG}text")]
        for r in report["results"]:
            if r["kernel"] == "fib":
                ms = r["median_ms"]
                self.assertTrue(any(t.startswith(f"{ms:,.0f} ms" if ms >= 100 else f"{ms:.3g} ms") for t in shown), (ms, shown))
        ours = {r["procs"]: r for r in report["results"] if (r["kernel"], r["way"]) == ("fib", "continuations")}
        for procs in (1, 2):
            self.assertTrue(any(f", {ours[procs]['vs_tbb_invoke']['median']:.0f} times" in t for t in shown), shown)
        [serial] = [r["median_ms"] for r in report["results"] if (r["kernel"], r["way"]) == ("fib", "serial")]
        self.assertIn(f"{serial:.3g} ms, {ours[1]['vs_serial']['median']:.1f} times as fast as fj::fork_join", shown)
        self.assertEqual(svg.findtext(f"{SVG}title"), "Recursive fib(30): 1,346,268 forks around almost no work")
        about = svg.findtext(f"{SVG}desc")
        for said in ("n = 30", "median of 5", "2025-01-01", "0123456789ab", "g++ 12", "-O3", "A <fast> one & more"):
            self.assertIn(said, about)
        self.assertLess(len(text), 40_000)
        self.assertEqual(text, command.fib(Data(self.fib())).svg(alone=True))
        self.assertIsNone(re.search(r"https?:|url\(|matplotlib", text.replace(draw.SVG, "")))

    # Tried with the serial program's ratio as oneTBB's, and with "as long" for all: fails.
    def test_the_words_follow_from_the_figures(self):
        """Each way slower, faster and as quick as fj::fork_join."""
        def words(way, own, other):
            ratio = own / other if way == "serial" else other / own
            results = {("fib", 30, w, 1): {"median_ms": ms} for w, ms in (("continuations", own), (way, other))}
            results["fib", 30, "continuations", 1][f"vs_{way}"] = {"median": ratio}
            return readme.beside(unittest.mock.Mock(result=lambda problem, *of: results[*problem, *of]), ("fib", 30), way, 1)

        for way in ("serial", "tbb_invoke", "tbb_group", "tbb_context"):
            self.assertEqual(words(way, 63.1, 33.9), "33.9 ms, 1.9 times as fast as fj::fork_join")
            self.assertEqual(words(way, 33.9, 63.1), "63.1 ms, 1.9 times as long as fj::fork_join")
            self.assertEqual(words(way, 60, 1380), "1,380 ms, 23 times as long as fj::fork_join")
            self.assertEqual(words(way, 1380, 60), "60 ms, 23 times as fast as fj::fork_join")
            self.assertEqual(words(way, 50, 51), "51 ms, as long as fj::fork_join")
            self.assertEqual(words(way, 51, 50), "50 ms, as long as fj::fork_join")

    def test_what_is_missing_is_left_out(self):
        self.assertIsNotNone(command.fib(Data(self.fib(procs=(1,)))))
        report = self.fib()
        del report["environment"]
        self.assertNotIn("None", command.fib(Data(report)).svg(alone=True))
        self.assertIsNone(command.fib(Data({"schema": 1, "results": []})))

    def test_the_one_in_the_repository_is_such_a_picture(self):
        picture = ROOT / command.PICTURE
        svg = parsed(picture)
        self.assertIn("commit", svg.findtext(f"{SVG}desc"))
        times = [t.text for t in svg.iter(f"{SVG}text") if " ms" in t.text]
        serial, ours = (float(re.match(r"[\d.]+", text)[0]) for text in times[:2])  # on one P
        self.assertEqual(times[0], f"{serial:.3g} ms, {told_times(serial / ours, 'fj::fork_join')}")
        self.assertLess(picture.stat().st_size, 40_000)
        self.assertIn(f"({command.PICTURE})", (ROOT / "README.md").read_text())


class CommandTest(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        (self.folder / "bench").mkdir()

    def run_it(self, *arguments):
        """As the command, but in this process, so that drawn plots are kept."""
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = command.run(["--build", str(self.folder), *map(str, arguments)])
        return subprocess.CompletedProcess(arguments, status, out.getvalue(), errors.getvalue())

    def test_no_figures(self):
        done = subprocess.run([sys.executable, ROOT / "bench" / "report", "--build", self.folder], text=True,
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("./dev bench", done.stderr)

    def test_other_schema_or_no_json(self):
        for text in ('{"schema": 99}', "[]", "nonsense"):
            (self.folder / "bench" / "report.json").write_text(text)
            done = self.run_it()
            self.assertEqual(done.returncode, 1)
            self.assertIn("report.json", done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_figures_that_are_not_as_they_should_be(self):
        for spoil in (lambda report: report.update(results=None), lambda report: report["results"][0].pop("procs"),
                      lambda report: report["environment"].update(others_before=[])):
            report = made_up()
            spoil(report)
            (self.folder / "bench" / "report.json").write_text(json.dumps(report))
            done = self.run_it()
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("report.json is not as bench/schema.md says", done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_policies_alone_make_pages(self):
        (self.folder / "bench" / "policies.json").write_text(json.dumps(made_up()))
        done = self.run_it()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("policies.json", done.stdout)

    def test_the_newest_is_taken(self):
        for age, name in enumerate(("report-fib.json", "report.json")):
            file = self.folder / "bench" / name
            file.write_text(json.dumps(made_up()))
            os.utime(file, (1000 - age, 1000 - age))
        done = self.run_it()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("report-fib.json", done.stdout)
        self.assertTrue((self.folder / "report" / command.COMPARISON).exists())

    def test_orders_and_joins_come_from_a_measurement_of_their_own(self):
        (self.folder / "bench" / "report.json").write_text(json.dumps(made_up()))
        crossed = made_up(ways=("continuations", "tasks"))
        for r in crossed["results"]:
            r["way"] = {"tasks": "last_leave"}.get(r["way"], r["way"])
        crossed["environment"]["commit"] = "ba9876543210"
        (self.folder / "bench" / "policies.json").write_text(json.dumps(crossed))
        done = self.run_it()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("report.json", done.stdout)  # though it is the older one
        page = (self.folder / "report" / command.COMPARISON).read_text()
        axes = page[page.index('id="axes"'):page.index('id="time"')]
        self.assertIn("commit ba9876543210", axes)
        self.assertIn("last child first, leaves its stack", axes)
        self.assertNotIn("ba9876543210", page[page.index('id="time"'):])

    def test_simulated_runs_are_kept_until_something_changes(self):
        program, log = self.folder / "bench" / "simulate", self.folder / "log"
        run = made_up_simulation()[0]
        program.write_text(f"""#!{sys.executable}
import sys, json
if sys.argv[1] == "--list":
    print("kernels:\\n  fib  35  numbers\\n  uts_t3  0  a tree\\ncosts:\\n  steal  1  ns")
else:
    open({str(log)!r}, "a").write(" ".join(sys.argv[1:-2]) + "\\n")
    json.dump(json.loads({json.dumps(run)!r}), open(sys.argv[-1], "w"))
""")
        program.chmod(0o755)
        report = made_up()
        file = self.folder / "bench" / "report.json"
        for _ in range(2):
            file.write_text(json.dumps(report))
            self.assertEqual(self.run_it().returncode, 0)
        ran = sorted(log.read_text().splitlines())
        self.assertEqual([line.split()[0] for line in ran], ["fib", "fib", "uts_t3", "uts_t3"])  # up to 64 P, then to 4,096
        serial = next(r for r in report["results"] if (r["kernel"], r["way"]) == ("fib", "serial"))
        for procs, line in zip(("1,2,4,16,64", "1,2,4,16,64,256,1024,4096"), ran):
            self.assertIn(f"fib --size 30 --procs {procs} --start both --seeds 3 --serial-ms {serial['median_ms']:.6g} --fork ", line)
        self.assertTrue((self.folder / "report" / "simulated-fib-30.svg").exists())
        serial["median_ms"] *= 2
        file.write_text(json.dumps(report))
        self.run_it("--simulate-for", "0")
        self.assertEqual(len(log.read_text().splitlines()), 4)
        self.run_it()
        self.assertEqual(len(log.read_text().splitlines()), 6)

        # A run depends on the costs, which are calibrated once for each build.
        calibrate = program.with_name("simulate_calibrate")
        for runs, cost, age in ((10, 250, 100), (10, 250, 100), (14, 9000, -100)):
            if not calibrate.exists() or str(cost) not in calibrate.read_text():
                calibrate.write_text(f"#!/bin/sh\necho '{{\"steal\": {cost}}}'\n")
                calibrate.chmod(0o755)
                os.utime(calibrate, (time.time() - age, time.time() - age))
            self.assertEqual(self.run_it().returncode, 0)
            self.assertEqual(len(log.read_text().splitlines()), runs)

    def test_costs_that_others_disturbed_are_not_used(self):
        """Tried without the comparison."""
        program, said = self.folder / "bench" / "simulate", []
        for name, prints in ((program, "kernels:"), (program.with_name("simulate_calibrate"), '{"steal": 250}')):
            name.write_text(f"#!/bin/sh\necho '{prints}'\n")
            name.chmod(0o755)
        of = simulation.Simulator(program, self.folder)
        for most, kept in ((10**9, True), (-1, False), (10**9, True)):
            os.utime(program.with_name("simulate_calibrate"), (time.time() + 10, time.time() + 10))  # built anew
            with unittest.mock.patch.object(simulation, "DISTURBED", most):
                of.calibrate(said.append)
            self.assertEqual(of.costs.exists(), kept)
        self.assertEqual(len(said), 1)
        self.assertIn("the simulator's own costs are used", said[0])

    def test_a_simulator_that_fails_is_left_out(self):
        program = self.folder / "bench" / "simulate"
        program.write_text("#!/bin/sh\nexit 3\n")
        program.chmod(0o755)
        (self.folder / "bench" / "report.json").write_text(json.dumps(made_up()))
        done = self.run_it()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("left out", done.stdout)


if __name__ == "__main__":
    unittest.main()
