"""./dev bench locality: each policy answers each kind, and a wrong question ends the program. locality_test.py BUILD"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from locality.run import KINDS, WAYS  # noqa: E402

with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "figures.json"
    subprocess.run([sys.executable, ROOT / "bench/locality/run.py", "--build", sys.argv[1], "--procs", "1,2", "--bytes", "64,4096", "--rounds", "1",
                    "--json", file], check=True, stdout=subprocess.DEVNULL, timeout=100)
    results = json.loads(file.read_text())["results"]

assert [(r["procs"], r["kind"], r["bytes"]) for r in results] == [(p, kind, n) for p in (1, 2) for kind in KINDS for n in (64, 4096)]
for r in results:
    assert list(r["ns"]) == list(r["times"]) == list(r["thefts"]) == list(WAYS), r
    assert all(times["median"] == r["ns"][way][0] / r["ns"]["continuations"][0] for way, times in r["times"].items()), r
    assert r["procs"] == 2 or not any(r["thefts"].values()), r

for question in "caller/none 64", "caller 64", "aunt/tasks 64":
    done = subprocess.run([pathlib.Path(sys.argv[1]) / "bench/locality_forkjoin", "1"], input=question, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stdout == "" and done.stderr.startswith(question), done
