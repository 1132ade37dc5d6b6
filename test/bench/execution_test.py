"""./dev bench execution: every program answers each kind, and a wrong question ends it. execution_test.py BUILD"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
BENCH = pathlib.Path(sys.argv[1]) / "bench"
KINDS = "schedule:1,bulk:1000,bulk_unchunked:1000,bulk_chunked:1000,skewed:1000"

with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "figures.json"
    subprocess.run([sys.executable, ROOT / "bench/execution/run.py", "--build", sys.argv[1], "--kinds", KINDS, "--procs", "1,2", "--rounds", "1",
                    "--json", file], check=True, stdout=subprocess.DEVNULL, timeout=100)
    results = json.loads(file.read_text())["results"]

assert [f"{r['kind']}:{r['n']}" for r in results] == KINDS.split(",") * 2
for r in results:
    assert set(r["ns"]) == {"forkjoin", "stdexec"} | ({"serial"} if r["kind"] != "schedule" else set()), r
    assert r["over_stdexec"]["median"] == r["ns"]["forkjoin"][0] / r["ns"]["stdexec"][0], r

for program in "serial", "forkjoin", "stdexec":
    done = subprocess.run([BENCH / f"execution_{program}", "1"], input="bulk 10\nsort 10\nbulk 10\n", capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and len(done.stdout.splitlines()) == 1 and done.stderr.startswith("sort 10:"), done
