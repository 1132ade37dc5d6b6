"""json_test.py <build folder> <kernel>: bench/run.py --json writes what bench/schema.md says, and the figures agree."""

import contextlib
import json
import math
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD, KERNEL = sys.argv[1:]
WAYS = "serial,continuations,tasks,tbb"
del sys.argv[1:]  # unittest would take them for its own


def run(*arguments, build=BUILD, **environment):
    return subprocess.run([sys.executable, ROOT / "bench" / "run.py", "--build", build, *arguments], text=True,
                          capture_output=True, timeout=100, env=os.environ | environment)


def documented():
    """Words in backquotes: every name that the schema has."""
    return set(re.findall(r"`(\w+)`", re.sub(r'[{}",]', "` `", (ROOT / "bench" / "schema.md").read_text())))


class JsonTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "report.json"
            cls.done = run(KERNEL, "--test-sizes", "--repetitions", "3", "--procs", "1,2", "--ways", WAYS, "--json",
                          str(file), "--also", BUILD)
            assert cls.done.returncode == 0, cls.done.stdout + cls.done.stderr
            cls.report = json.loads(file.read_text())
        cls.results = {(r["size"], r["way"], r["procs"]): r for r in cls.report["results"] if r["kernel"] == KERNEL}

    def test_every_key_is_in_the_schema(self):
        counters = {name for r in self.report["results"] for name in r.get("once", {}).get("counters", {})}
        ways = {way for k in self.report["kernels"] for way in k["ways"]} | {k["name"] for k in self.report["kernels"]}
        found = set()

        def collect(value):
            if isinstance(value, dict):
                found.update(value)
                for inner in value.values():
                    collect(inner)
            elif isinstance(value, list):
                for inner in value:
                    collect(inner)

        collect(self.report)
        self.assertEqual(found - documented() - counters - ways, set())

    def test_scale(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "scale.json"
            done = run(KERNEL, "--test-sizes", "--repetitions", "1", "--scale", "--procs", "1,3", "--json", str(file))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            speeds = done.stdout[done.stdout.index("speed over the serial program's"):]
            self.assertRegex(speeds, rf"(?m)^  times serial +by  P = 1  P = 3$\n  {KERNEL}\(\d+\) +forkjoin +[\d.]+ +[\d.]+$")
            report = json.loads(file.read_text())
            self.assertEqual({r["procs"] for r in report["results"] if r["way"] == "continuations"}, {1, 3})
            self.assertEqual({(v["kernel"], v["procs"]) for v in report["verdict"]}, {(KERNEL, 3)})
            self.assertRegex(done.stdout, r"(?m)^  The verdict: ")
            self.assertLessEqual({"verdict", *report["verdict"][0]}, documented())
            topology = pathlib.Path(folder) / "sys/devices/system/cpu"
            topology.mkdir(parents=True)
            done = run(KERNEL, "--test-sizes", "--repetitions", "1", "--scale", "--procs", "1,2", "--json", str(file), FORKJOIN_TOPOLOGY=folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertRegex(done.stdout, "(?m)^speed over the serial program's, medians, .*near Ps first$")
            near, = json.loads(file.read_text())["others"]
            self.assertTrue(near["environment"]["compiler"].endswith(", near Ps first"))
            self.assertEqual({r["way"] for r in near["results"]}, {"serial", "continuations"})
        sys.path.insert(0, str(ROOT / "bench"))
        from run import all_procs
        self.assertEqual([all_procs(cores) for cores in (1, 2, 3, 8, 96)],
                         [[1], [1, 2], [1, 2, 3], [1, 2, 4, 8], [1, 2, 4, 8, 16, 32, 64, 96]])

    def test_what_must_be_there(self):
        self.assertEqual(self.report["schema"], 1)
        self.assertEqual(self.report["settings"]["sizes"], "test")
        self.assertEqual(self.report["settings"]["procs"], [1, 2])
        for name in ("date", "cpu", "cores", "kernel", "compiler", "flags", "load_average", "others_during"):
            self.assertTrue(self.report["environment"][name], name)
        self.assertEqual({k["name"] for k in self.report["kernels"]}, {r["kernel"] for r in self.report["results"]})
        for size in {size for size, _, _ in self.results}:
            for way, procs in (("serial", 1), ("continuations", 1), ("continuations", 2), ("tasks", 1), ("tasks", 2)):
                self.assertIn((size, way, procs), self.results)

    def test_another_compiler_s_report_stands_within(self):
        [other] = self.report["others"]
        self.assertEqual(set(other), set(self.report) - {"others"})
        results = [r for r in other["results"] if r["kernel"] == KERNEL]
        self.assertEqual({(r["size"], r["way"], r["procs"]) for r in results}, set(self.results))
        serial = {r["size"]: r["ms"] for r in results if r["way"] == "serial"}
        for (size, way, procs), r in self.results.items():
            best = list(map(min, serial[size], self.results[size, "serial", 1]["ms"]))
            ratios = [ms / least for ms, least in zip(r["ms"], best) if ms is not None]
            self.assertTrue(math.isclose(r["vs_best_serial"]["median"], statistics.median(ratios)), (size, way, procs))

    def test_the_time_of_each_p(self):
        for (_, way, procs), r in self.results.items():
            counters = r["once"].get("counters", {})
            for name in ("busy_ns", "looking_ns") if counters else ():
                self.assertEqual([f"{name}_{i}" in counters for i in range(procs + 1)], [True] * procs + [False])
                self.assertEqual(sum(counters[f"{name}_{i}"] for i in range(procs)), counters[name], (way, procs))

    def test_figures_follow_from_the_times(self):
        for (size, way, procs), r in self.results.items():
            times = [t for t in r["ms"] if t is not None]
            self.assertEqual(r["median_ms"], statistics.median(times))
            self.assertEqual(r["best_ms"], min(times))
            tbb = [o for (s, other, p), o in self.results.items() if (s, p) == (size, procs) and other.startswith("tbb")]
            others = {"vs_serial": (self.results[size, "serial", 1], lambda own, other: own / other),
                      "vs_tbb": (min(tbb, key=lambda o: (o["median_ms"], o["way"]), default=None), lambda own, other: other / own)}
            if procs > 1:
                others["speedup"] = (self.results[size, way, 1], lambda own, other: other / own)
            for name, (other, of) in others.items():
                if name not in r:
                    self.assertTrue(name == "vs_tbb" and (other is None or way.startswith("tbb")), (name, way))
                    continue
                ratios = [of(a, b) for a, b in zip(r["ms"], other["ms"]) if a is not None and b is not None]
                self.assertEqual(r[name]["rounds"], len(ratios))
                self.assertTrue(math.isclose(r[name]["median"], statistics.median(ratios)), (name, way))
                self.assertTrue(math.isclose(r[name]["max"], max(ratios)), (name, way))

    def test_memory_and_counters_of_single_runs(self):
        for (_, way, procs), r in self.results.items():
            self.assertGreaterEqual(r["once"]["peak_resident_kib"], r["once"]["prepared_resident_kib"])
            self.assertGreater(r["once"]["seconds"], 0)
            self.assertEqual("counters" in r["once"], way in ("continuations", "tasks", "scope"))
            self.assertEqual("deepest_deque" in r["once"], "counters" in r["once"])
            if way == "continuations" and procs == 1:
                self.assertEqual(r["once"]["counters"]["steals"], 0)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor only")
    def test_the_ceiling(self):
        for c in self.report["ceilings"]:
            self.assertEqual((c["kernel"], c["procs"]), (KERNEL, 2))
            self.assertTrue(0 < c["ceiling"]["min"] <= c["ceiling"]["median"] <= c["ceiling"]["max"], c)
            self.assertIn("continuations", c["of_ceiling"])
            self.assertEqual(c["ceiling"]["rounds"], 3)
        self.assertTrue(self.report["ceilings"])

    def test_means_and_goals(self):
        for g in self.report["goals"]:
            met = g["value"] <= g["bound"] if g["sense"] == "at most" else g["value"] >= g["bound"]
            self.assertEqual(g["met"], met and not g.get("undecided", False), g)
            if "rounds" in g:
                self.assertEqual(g["rounds"], 5 if "memory" in g["what"] else 3, g)  # processes, rounds
                self.assertEqual(g.get("undecided", False), g["rounds"] < 5, g)
        mean = next(m for m in self.report["means"] if m["name"] == "vs_serial" and m["procs"] == 1)
        sizes = [r["vs_serial"]["median"] for (_, way, p), r in self.results.items() if way == "continuations" and p == 1]
        self.assertTrue(math.isclose(mean["value"], math.prod(sizes) ** (1 / len(sizes))))
        self.assertEqual((mean["over"], mean["few"]), ([KERNEL], {KERNEL: 3}))

    def test_progress_and_table(self):
        self.assertRegex(self.done.stdout, r"round  3/3 ")
        self.assertRegex(self.done.stdout, r"(?m)^  continuations  +2 ")


class BusyTest(unittest.TestCase):
    def test_the_first_and_the_last_line_say_that_the_machine_was_busy(self):
        """Tried without print_disturbances in either place."""
        with contextlib.ExitStack() as others:
            for _ in range(len(os.sched_getaffinity(0))):
                other = others.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
                others.callback(other.kill)
            lines = run(KERNEL, "--test-sizes", "--repetitions", "1", "--procs", "1").stdout.splitlines()
        busy = "WARNING: the machine looks busy: others used "
        self.assertTrue(lines[0].startswith(busy) and lines[0].endswith("before the measurement"), lines)
        self.assertTrue(any(line.startswith(busy) and line.endswith("during the measurement") for line in lines[-2:]), lines)


class FailureTest(unittest.TestCase):
    def test_no_such_kernel(self):
        done = run("no_such_kernel")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no_such_kernel is not there; build it first", done.stderr)

    def test_no_such_procs(self):
        for procs in ("0", "1,x", ""):
            done = run(KERNEL, "--procs", procs)
            self.assertEqual(done.returncode, 2, procs)
            self.assertIn("--procs", done.stderr)

    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        (self.folder / "bench").mkdir()

    def program(self, name, text):
        file = self.folder / "bench" / name
        file.write_text(text)
        file.chmod(0o755)

    def kernel(self, name, rounds=""):
        """As the real one, except in rounds."""
        real = pathlib.Path(BUILD).resolve() / "bench" / KERNEL
        self.program(name, f'#!/bin/sh\ncase "$*" in *format=json*) {rounds};; esac\nexec {real} "$@"\n')
        self.program(f"{name}_once", f'#!/bin/sh\nexec {real}_once "$@"\n')

    def measure(self, *arguments):
        return run("--test-sizes", "--repetitions", "1", "--procs", "1", "--ways", "serial,continuations", *arguments, build=self.folder)

    def test_a_wrong_result_is_not_measured(self):
        """A kernel with binaries that end as after a wrong result."""
        self.kernel(KERNEL, 'echo \'{"benchmarks": [{"name": "x", "error_occurred": true, "error_message": "got 1"}]}\'\n'
                            "exit 1\n")
        done = self.measure(KERNEL)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("got 1", done.stderr)

    def test_a_kernel_that_fails_does_not_cost_the_others_figures(self):
        for how, order in (("kill -SEGV $$", ("broken", KERNEL)), ("echo nonsense; exit 0", (KERNEL, "broken")),
                           ("echo '{}'; exit 0", ("broken", KERNEL))):
            self.kernel("broken", how)
            self.kernel(KERNEL)
            file = self.folder / "out.json"
            done = self.measure(*order, "--json", str(file))
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertNotIn("Traceback", done.stderr)
            report = json.loads(file.read_text())
            self.assertIn(KERNEL, {r["kernel"] for r in report["results"]})
            self.assertTrue(any("broken failed and is left out" in w for w in report["warnings"]))
            self.assertIn("WARNING: broken failed", done.stdout)

    def test_an_interruption_keeps_what_there_is_and_ends_the_kernel(self):
        self.kernel(KERNEL)
        pid = self.folder / "pid"
        self.kernel("slow", f"sleep 1; echo $$ >{pid}; exec sleep 100")
        file = self.folder / "out.json"
        command = [sys.executable, ROOT / "bench" / "run.py", "--build", self.folder, "--test-sizes", "--repetitions", "1",
                   "--json", str(file), KERNEL, "slow"]
        with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            while not (pid.exists() and pid.read_text().strip()):
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, errors)
        self.assertNotIn("Traceback", errors)
        report = json.loads(file.read_text())
        self.assertIn(KERNEL, {r["kernel"] for r in report["results"]})
        self.assertTrue(any("interrupted in slow" in w for w in report["warnings"]), report["warnings"])
        with self.assertRaises(ProcessLookupError):
            os.kill(int(pid.read_text()), 0)

    def test_a_file_that_cannot_be_written_is_said_at_once(self):
        self.kernel(KERNEL)
        for file in (self.folder, self.folder / "none" / "out.json"):
            done = self.measure(KERNEL, "--json", str(file))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"--json {file}", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_arguments_that_make_no_sense(self):
        for wrong in (["--budget", "0"], ["--budget", "-5"], ["--budget", "nan"], ["../bench/fib"], ["--repetitions", "0"]):
            done = self.measure(*wrong)
            self.assertEqual(done.returncode, 2, (wrong, done.stderr))
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
