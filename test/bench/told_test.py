"""The figures in README and the other pages are those of bench/figures, all of one commit, and the conclusions follow from them.

Tried with another figure in README, with a conclusion of the other sign, with a file of another commit: each fails.
"""

import json
import pathlib
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

try:
    import report.__main__ as command
    from report import readme, told
except ImportError as error:
    print(f"left out: {error}")
    sys.exit(77)

FIGURES = ROOT / command.FIGURES


class PagesTest(unittest.TestCase):
    def test_figures_are_those_of_the_files(self):
        figures = told.Figures(FIGURES)
        seen = []
        for name in told.PAGES:
            text = (ROOT / name).read_text()
            seen += told.BLOCK.findall(text)
            self.assertEqual(told.told(text, figures), text, f"{name}: ./dev report --readme writes its figures")
        self.assertEqual(sorted(name for _, name, _ in seen), sorted(told.BLOCKS))

    # Tried with 28 times and with another mean: fails.
    def test_readme_leads_with_the_figures(self):
        """What stands by hand above the block in README."""
        figures = told.Figures(FIGURES)
        lead = (ROOT / "README.md").read_text().split("<!-- figures: readme -->")[0]
        for data, words in ((figures.gcc, "times as fast as oneTBB"), (figures.clang, "times with clang")):
            for procs in told.PROCS:
                times = told.deciding(data.result(told.fib_of(data), "continuations", procs))["median"]
                self.assertIn(f"{times:.0f} {words}", lead)
        means = [told.mean(data, "times_tbb", procs) for _, data in figures.each() for procs in told.PROCS]
        values = [each["value"] for each in means]
        self.assertIn(f"**{min(values):.1f} to {max(values):.1f} times as fast as oneTBB** over {len(means[0]['over'])} kernels", lead)
        without = [told.mean(data, "times_tbb_no_cut_off", procs) for _, data in figures.each() for procs in told.PROCS]
        self.assertEqual({f"about {each['value']:.0f} times over the {len(each['over'])} of them" in lead for each in without}, {True})
        by_gcc, by_clang = told.forked_over_plain(figures)
        self.assertIn(f"**{by_gcc} instructions**", lead)
        self.assertIn(f"{by_clang} with clang)", lead)

    def test_picture(self):
        drawn = ElementTree.parse(ROOT / command.PICTURE).getroot()
        about = next(element.text for element in drawn.iter() if element.tag.endswith("}desc"))
        self.assertEqual(about, readme.fib(told.Figures(FIGURES).gcc).about)


class RulesTest(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.root = pathlib.Path(kept.name)
        shutil.copytree(FIGURES, self.root / command.FIGURES)
        self.figures = told.Figures(FIGURES)

    def change(self, name, change):
        """Of a file. Returns what Figures reads then."""
        file = self.root / command.FIGURES / f"{name}.json"
        report = json.loads(file.read_text())
        change(report)
        file.write_text(json.dumps(report))
        return told.Figures(file.parent)

    def test_one_commit(self):
        for commit in ("0123456789ab", None, self.figures.files["talk"]["environment"]["commit"] + " with changes"):
            with self.assertRaisesRegex(ValueError, "more than one commit"):
                self.change("talk", lambda report: report["environment"].update(commit=commit))

    def test_a_kernel_that_is_behind_is_named(self):
        def slow(interval):
            def change(report):
                for r in report["results"]:
                    if (r["kernel"], r["way"], r["procs"]) == ("fft", "continuations", 1):
                        r.pop("vs_tbb_pairs", None)
                        r["vs_tbb"] |= {"median": 0.875, "interval": interval}
            return change

        behind = self.change("kernels", slow([0.85, 0.9]))
        self.assertIn(f"| `fft` | g++ | 1 | {told.number(0.875)} (0.85–0.90) |", told.losses(behind))
        for block in (told.kernels, told.performance):
            self.assertIn(f"`fft` by g++ on one P ({told.number(0.875)}; 0.85–0.90)", " ".join(block(behind).split()))
        noisy = self.change("kernels", slow([0.85, 1.01]))
        self.assertNotIn("`fft`", told.losses(noisy))

    def test_who_waits_follows_from_the_figures(self):
        def change(report):
            for r in report["results"]:
                if (r["shape"], r["way"], r["procs"]) == ("even", "tasks", 4):
                    r["vs_continuations"] |= {"median": 0.5, "interval": [0.45, 0.55]}
                if (r["shape"], r["way"]) == ("mergesort", "tasks"):
                    r["vs_continuations"] |= {"median": 1.5, "interval": [0.9, 1.6]}
                if r["way"] == "continuations":
                    r["mean_late_ms"]["median"] = 7.0

        block = " ".join(told.waiting(self.change("virtual", change)).split())
        third = block.split("3. **")[1].split("With 256 leaves")[0]
        self.assertIn("less time than continuations in even on 4 P (0.50; 0.45–0.55)", third)
        self.assertNotIn("mergesort", third)
        self.assertIn("a strand that waited goes on after 7.0 ms on average", block)

    def test_a_bound_that_is_not_kept_is_named(self):
        def change(report):
            for r in report["results"]:
                if (r["shape"], r["n"], r["way"], r["procs"]) == ("wide", 20, "continuations", 8):
                    r["kib"]["median"] = 5 * 1024
                    r["bound_kib"] = 2 * 1024

        self.assertIn("They keep it", " ".join(told.waiting(self.figures).split()))
        block = " ".join(told.waiting(self.change("space", change)).split())
        self.assertIn("They take more in wide of 20 on 8 P, 5.0 MiB where 2.0 are promised", block)

    def test_beside_go(self):
        def change(report):
            for r in report["results"]:
                if (r["case"], r["procs"]) == ("sieve", 1):
                    r["seconds"]["go"] = [2 * s for s in r["seconds"]["build"]]

        block = told.talk(self.change("talk", change))
        ahead = next(line for line in block.split("- **") if line.startswith("Ours is faster"))
        self.assertIn("`sieve` on one P (2.00)", " ".join(ahead.split()))

    def test_pages_are_written(self):
        for name in told.PAGES:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            text = (ROOT / name).read_text()
            (self.root / name).write_text(told.BLOCK.sub(r"\1out of date\n\3", text) + "the end\n")
        (self.root / command.PICTURE).parent.mkdir(parents=True)
        self.assertEqual(command.run(["--readme", str(self.root)]), 0)
        for name in told.PAGES:
            self.assertEqual((self.root / name).read_text(), (ROOT / name).read_text() + "the end\n")
        self.assertIn("<svg", (self.root / command.PICTURE).read_text())
        (self.root / command.FIGURES / "talk.json").unlink()
        self.assertEqual(command.run(["--readme", str(self.root)]), 1)


if __name__ == "__main__":
    unittest.main()
