"""./dev bench brief: every program answers, wrong questions end it, and what a scan may take. brief_test.py BUILD"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
BENCH = pathlib.Path(sys.argv[1]) / "bench"
sys.path.insert(0, str(ROOT / "bench"))

from brief.run import compare  # noqa: E402

with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "figures.json"
    subprocess.run([sys.executable, ROOT / "bench/brief/run.py", "--build", sys.argv[1], "--scans", "1,1000", "--loops", "1000", "--rounds",
                    "1", "--json", file], check=True, stdout=subprocess.DEVNULL, timeout=100)
    results = json.loads(file.read_text())["results"]

built = {name for name in ("serial", "forkjoin", "tbb", "omp") if (BENCH / f"brief_{name}").exists()}
assert {"serial", "forkjoin"} <= built
assert {(r["kind"], r["n"], r["procs"]) for r in results} == {(kind, n, p) for kind, lengths in (
    ("exclusive", (1, 1000)), ("inclusive", (1, 1000)), ("loop", (1000,))) for n in lengths for p in (1, 2)}
for r in results:
    assert set(r["ns"]) == (built if r["kind"] == "loop" else built - {"omp"}), r
    assert all(len(rounds) == 1 and rounds[0] > 0 for rounds in r["ns"].values()), r
    assert ("met" in r) == (r["kind"] != "loop"), r

# A question that a program does not know ends it. Tried with an answer of 0 instead: the status is 0.
done = subprocess.run([BENCH / "brief_serial", "1"], input="loop 10\nsort 10\nloop 10\n", capture_output=True, text=True, timeout=60)
assert done.returncode == 1 and len(done.stdout.splitlines()) == 1 and done.stderr.startswith("sort 10:"), done


# Ours beside the better of two, by medians: 1.1 times as long, or 50 ns more. Tried with the first that is there, with the least times,
# and without either of the two bounds.
def judge(ours, serial, tbb):
    return compare("exclusive", {"serial": serial, "forkjoin": ours, "tbb": tbb})


better = judge([90, 110, 100], [190, 210, 200], [99, 101, 100])
assert better["other"] == "tbb" and better["ratio"]["median"] == 1 and better["met"]
assert judge([1] * 3, [1, 200, 200], [100] * 3)["other"] == "tbb"
assert judge([59], [10], [300])["met"] and not judge([61], [10], [300])["met"]
assert judge([1090], [1000], [3000])["met"] and not judge([1110], [1000], [3000])["met"]
assert compare("loop", {"serial": [1], "forkjoin": [1]}) == {}
assert compare("loop", {"serial": [1], "forkjoin": [3], "tbb": [1], "omp": [2]})["ratio"]["median"] == 1.5
