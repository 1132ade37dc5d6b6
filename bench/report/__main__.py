"""Makes the report of what bench/run.py measured: pages that need nothing else, and their pictures as files.

    bench/report [--json FILE] [--out DIR] [--build DIR] [--simulate-for SECONDS]
    bench/report --readme

Without --json it takes the newest of <build>/bench/report*.json, which bench/run.py writes, or else policies.json. --readme writes the tables
and marked numbers in README and the other pages of the checkout, and their pictures, from the files of bench/figures.
"""

import argparse
import json
import pathlib
import subprocess
import sys

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from report.blocks import pictures_of_waits, write_pages  # noqa: E402
from report.comparison import comparison_page  # noqa: E402
from report.data import Data  # noqa: E402
from report.marks import Wrong  # noqa: E402
from report.overview import overview_page  # noqa: E402
from report.peers import PEERS, TITLE, peers_page, read_peers  # noqa: E402
from report.plots import all_plots  # noqa: E402
from report.readme import fib  # noqa: E402
from report.recorded import Figures  # noqa: E402
from report.simulation import BUDGET, Simulator  # noqa: E402
from report.waits import Space, Trees, Waits  # noqa: E402

SCHEMA = 1
OVERVIEW, COMPARISON = "index.html", "tasks-against-continuations.html"
ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURES, PICTURE = "bench/figures", "bench/report/fib.svg"  # in the checkout


class Failed(Exception):
    pass


def newest(build):
    found = sorted((build / "bench").glob("report*.json"), key=lambda file: file.stat().st_mtime)
    if not found:
        found = list((build / "bench").glob("policies.json"))  # these alone make pages, too
    if not found:
        raise Failed(f"{build}/bench has no figures yet; measure first: ./dev bench")
    return found[-1]


def read(file):
    try:
        report = json.loads(file.read_text())
    except OSError as error:
        raise Failed(f"cannot read {file}: {error.strerror}") from None
    except ValueError as error:
        raise Failed(f"{file} is not JSON: {error}") from None
    if not isinstance(report, dict) or report.get("schema") != SCHEMA:
        raise Failed(f"{file} is not of schema {SCHEMA} (bench/schema.md); write it anew: ./dev bench")
    return report


def simulate(program, folder, report, budget):
    if not program.exists():
        print(f"no simulator {program}: its parts are left out")
        return []
    print("simulating what was measured:", flush=True)
    try:
        return Simulator(program, folder, budget).run_all(Data(report), lambda line: print(line, flush=True))
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        print(f"the simulator does not run ({error}): its parts are left out")
        return []


def misses_of(build):
    """What bench/misses.py counted; nothing if it did not run."""
    try:
        return json.loads((build / "bench" / "misses.json").read_text())
    except (OSError, ValueError):
        return []


def policies_of(build):
    """What ./dev bench --policies measured; None if it did not run."""
    file = build / "bench" / "policies.json"
    return Data(read(file)) if file.exists() else None


def waits_of(build):
    """The Waits, Space and Trees of ./dev bench --virtual, --space and --trees; those of the checkout where these did not run."""
    def newest_of(name):
        own = build / "bench" / f"{name}.json"
        return read(own if own.exists() else ROOT / FIGURES / f"{name}.json")

    return Waits(newest_of("virtual")), Space(newest_of("space")), Trees(newest_of("trees"))


def write(data, out, peers=None, policies=None, waits=None):
    """Writes pages and pictures, and deletes those of an earlier report. peers: what bench/peers/run.py measured; policies: the Data
    of ./dev bench --policies; waits: Waits, Space and Trees."""
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.svg"):
        old.unlink()
    made = all_plots(data)
    for plot in (p for of in made.values() for p in of):
        (out / f"{plot.name}.svg").write_text(plot.svg(alone=True) + "\n")
    beside = [(PEERS, TITLE)] if peers else []
    (out / PEERS).unlink(missing_ok=True)
    if peers:
        (out / PEERS).write_text(peers_page(peers, [(OVERVIEW, "All benchmarks")]))
    (out / OVERVIEW).write_text(overview_page(data, made, [(COMPARISON, "Tasks against continuations"), *beside]))
    (out / COMPARISON).write_text(comparison_page(data, made, [(OVERVIEW, "All benchmarks")], policies, waits))


def write_readme(root):
    """Writes the pictures, and the tables and the marked numbers of the pages."""
    try:
        figures = Figures(root / FIGURES)
    except OSError as error:
        raise Failed(f"cannot read {error.filename}: {error.strerror}; measure first: ./dev bench --record") from None
    except ValueError as error:
        raise Failed(f"{root / FIGURES}: {error}; measure again: ./dev bench --record") from None
    try:
        changed = write_pages(root, figures)
    except Wrong as error:
        raise Failed(f"no page was written:\n{error}") from None
    (root / PICTURE).write_text(fib(figures.gcc).svg(alone=True) + "\n")
    for name, plot in pictures_of_waits(figures):
        (root / name).write_text(plot.svg(alone=True) + "\n")
    print(f"{PICTURE}, and the figures in {', '.join(changed)}" if changed else f"{PICTURE}; the figures in the pages were right")


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="bench/report", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="of the figures in FILE (bench/schema.md)")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="default: <build>/report")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), metavar="DIR")
    parser.add_argument("--simulator", type=pathlib.Path, metavar="PROGRAM", help="default: <build>/bench/simulate")
    parser.add_argument("--simulate-for", type=float, default=BUDGET, metavar="SECONDS",
                        help=f"begins no simulation after that; finished ones are kept for the next report (default: {BUDGET})")
    parser.add_argument("--no-simulation", action="store_true", help="leaves the simulated parts out")
    parser.add_argument("--readme", type=pathlib.Path, nargs="?", const=ROOT, metavar="DIR",
                        help="instead: the figures in README and the other pages (of the checkout in DIR)")
    args = parser.parse_args(arguments)
    if args.readme:
        write_readme(args.readme)
        return
    file = args.json or newest(args.build)
    out = args.out or args.build / "report"
    report = read(file)
    try:
        found = [] if args.no_simulation else simulate((args.simulator or args.build / "bench" / "simulate").resolve(),
                                                       out / "simulated", report, args.simulate_for)
        write(Data(report, found, misses_of(args.build)), out, read_peers(args.build),
              policies_of(args.build), waits_of(args.build))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise Failed(f"{file} is not as bench/schema.md says ({error!r}); write it anew: ./dev bench") from error
    except OSError as error:
        raise Failed(f"cannot write {error.filename}: {error.strerror}") from None
    print(f"{out / OVERVIEW} and {COMPARISON}, with their pictures as SVG, from {file}")


def run(arguments=None):
    """Returns the exit status."""
    try:
        main(arguments)
        return 0
    except Failed as failure:
        print(f"bench/report: {failure}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(run())
