"""bench/peers/run.py with made-up programs: which take part, which are left out and with what word, what the rounds come to,
and the report's page of it. No library is built, and neither Go nor cargo is in the path."""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

RIGHT = 6765


def once(ways):
    """A kernel's program: each way takes the milliseconds that are named."""
    about = json.dumps([{"name": "fib", "stack_size": 0, "ways": list(ways), "test": [{"size": 20}], "quick": [{"size": 20}]}])
    cases = "".join(f"{way}) s={ms / 1000} ;;\n" for way, ms in ways.items())
    return (f"[ $1 = --list ] && echo '{about}' && exit\ncase $1 in\n{cases}*) exit 2 ;; esac\necho result {RIGHT}\n"
            "i=0; while [ $i -lt ${4:-1} ]; do echo seconds $s; i=$((i + 1)); done\n")


def own(seconds="0.3", result=RIGHT):
    return f"echo result {result}\ni=0; while [ $i -lt $4 ]; do echo seconds {seconds}; i=$((i + 1)); done\n"


class PeersTest(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.build, self.folder = pathlib.Path(kept.name) / "build", pathlib.Path(kept.name) / "peers"
        self.program(self.build / "bench" / "fib_once", once({"serial": 100, "continuations": 150, "tasks": 1, "tbb_invoke": 900}))
        self.program(self.build / "bench" / "peers" / "fib_peers", once({"serial": 100, "tbb_context": 600}))
        (self.build / "bench" / "peers" / "versions.json").write_text('{"compiler": "gcc 12"}')
        self.folder.mkdir()

    def program(self, file, text):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\n" + text)
        file.chmod(0o755)

    def bring(self, peer, text, version="1.2, gcc 12"):
        self.program(self.folder / peer / "fib", text)
        (self.folder / peer / "version").write_text(version + "\n")

    def measure(self, *arguments):
        file = self.folder / "out.json"
        done = subprocess.run([sys.executable, ROOT / "bench" / "peers" / "run.py", "--build", self.build, "--test-sizes",
                               "--repetitions", "3", "--json", file, *arguments],
                              capture_output=True, text=True, timeout=60, env={**os.environ, "PATH": "/nonexistent"})
        self.assertNotIn("Traceback", done.stderr)
        return done, json.loads(file.read_text()) if file.exists() else None

    def rows(self, report, procs=1):
        return {row["way"]: row for row in report["results"] if row["procs"] == procs}

    def test_an_absent_peer_is_left_out_with_a_word(self):
        done, report = self.measure()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        said = {peer["name"]: peer for peer in report["peers"]}
        self.assertTrue(said["oneTBB"]["found"])
        self.assertEqual(said["go"]["what"], "left out: go is not installed")
        self.assertEqual(said["rayon"]["what"], "left out: cargo is not installed")
        for name in ("OpenMP", "lace", "fibril", "libfork", "taskflow", "toomanycooks", "dispenso", "citor", "chili"):
            self.assertFalse(said[name]["found"])
            self.assertEqual(said[name]["what"], "left out: --peers names no folder with its programs")
            self.assertRegex(done.stdout, rf"(?m)^  {name} +left out: ")

    def test_a_program_in_the_folder_takes_part_with_its_version(self):
        self.bring("lace", own())
        self.bring("new_library", own("0.2"))
        (self.folder / "fibril").mkdir()
        done, report = self.measure("--folder", str(self.folder))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        said = {peer["name"]: peer for peer in report["peers"]}
        self.assertEqual(said["lace"], {"name": "lace", "found": True, "what": "1.2, gcc 12"})
        self.assertTrue(said["new_library"]["found"])
        self.assertIn("fibril has no programs", said["fibril"]["what"])
        for procs in (1, 2):
            self.assertEqual(self.rows(report, procs)["lace"]["vs_serial"], {"median": 3, "min": 3, "max": 3, "interval": [3, 3], "rounds": 3})

    def test_other_lines_are_ignored(self):
        """Tried with empty lines split as others are: all measurements ended."""
        self.bring("lace", own() + "echo workers 2\necho\n")
        done, report = self.measure("--folder", str(self.folder))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("lace", self.rows(report))

    def test_only_what_is_asked_for(self):
        self.bring("lace", own())
        done, report = self.measure("--folder", str(self.folder), "--only", "context")
        self.assertEqual(set(self.rows(report)), {"serial", "continuations", "tbb_context"})
        self.assertRegex(done.stdout, r"(?m)^  lace +left out: not asked for$")

    def test_figures_follow_from_the_times(self):
        self.bring("lace", own())
        done, report = self.measure("--folder", str(self.folder))
        rows = self.rows(report)
        self.assertNotIn("tasks", rows)
        self.assertEqual(set(rows), {"serial", "continuations", "tbb_invoke", "tbb_context", "lace"})
        self.assertNotIn("serial", self.rows(report, 2))
        for row in rows.values():
            self.assertEqual(row["median_ms"], statistics.median(row["ms"]))
        self.assertAlmostEqual(rows["tbb_context"]["behind"]["median"], 0.25)
        self.assertIn("ours is first; next is lace (lace): 2.00 times our time", done.stdout)

    def test_a_quicker_peer_is_said_to_be_ahead(self):
        self.bring("lace", own("0.1"))
        done, _ = self.measure("--folder", str(self.folder))
        self.assertIn("ours is behind lace (lace): 1.50 times its time", done.stdout)

    def test_a_program_that_fails_is_left_out_with_a_warning(self):
        """Tried without the comparison of results: the wrong program then led the table. Tried with IndexError let through: a line that
        lacks its number ended all measurements."""
        for text, why in ((own(result=1), f"wrong result 1 instead of {RIGHT}"), ("exit 3\n", "status 3"),
                          ("echo nonsense\n", "cannot make sense"), ("echo seconds\n", "cannot make sense")):
            self.bring("lace", text)
            done, report = self.measure("--folder", str(self.folder))
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertNotIn("lace", self.rows(report))
            self.assertIn("continuations", self.rows(report, 2))
            self.assertTrue(any(why in warning for warning in report["warnings"]), report["warnings"])

    def test_the_league(self):
        self.bring("lace", own("0.075"))
        done, report = self.measure("--folder", str(self.folder), "--league", "--procs", "2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        table = done.stdout[done.stdout.index("mean ratio to best"):]
        self.assertRegex(table, r"lace +1\.00 +75\.0 .*\n +forkjoin +2\.00 +150\.0 .*\n +oneTBB +8\.00 +600\.0")  # the faster way of two
        if os.access("/usr/bin/time", os.X_OK):
            self.assertTrue(all(500 < row["peak_kib"] < 100_000 for row in report["results"]), report["results"])  # of a shell
        self.assertEqual(self.measure("fib", "--league")[0].returncode, 2)

    def test_clang_has_the_serial_program(self):
        other = self.build.with_name("other")
        self.program(other / "bench" / "fib_once", once({"serial": 50, "continuations": 200}))
        (other / "bench" / "peers").mkdir()
        (other / "bench" / "peers" / "versions.json").write_text('{"compiler": "clang 19"}')
        _, report = self.measure("--build", str(other))
        ratios = {(row["way"], row["built_by"]): row["vs_serial"]["median"] for row in report["results"] if row["procs"] == 1}
        self.assertAlmostEqual(ratios["continuations", "gcc 12"], 3)
        self.assertAlmostEqual(ratios["continuations", "clang 19"], 4)

    def test_arguments_that_make_no_sense(self):
        for wrong in (["--procs", "0"], ["--procs", "x"], ["--repetitions", "0"], ["--budget", "-1"],
                      ["--folder", str(self.folder / "none")]):
            self.assertEqual(self.measure(*wrong)[0].returncode, 2, wrong)
        done, _ = self.measure("no_such_kernel")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no peers' ways of no_such_kernel", done.stderr)

    def test_every_key_is_in_the_schema(self):
        self.bring("lace", own())
        _, report = self.measure("--folder", str(self.folder))
        documented = set(re.findall(r"[`\"](\w+)[`\"]", (ROOT / "bench" / "schema.md").read_text()))
        for part in (report, report["results"][0], report["peers"][0], report["settings"]):
            self.assertEqual(set(part) - documented, set())

    def test_the_page(self):
        try:
            from report.peers import peers_page, read_peers
        except ImportError as missing:
            self.skipTest(str(missing))
        self.bring("lace", own(), version="1 < 2 & more")
        _, report = self.measure("--folder", str(self.folder))
        page = peers_page(report, [("index.html", "All benchmarks")])
        for said in ("lace", "tbb_context", "1 &lt; 2 &amp; more", "left out: go is not installed", "ours is first"):
            self.assertIn(said, page)
        self.assertIsNone(read_peers(self.build))


if __name__ == "__main__":
    unittest.main()
