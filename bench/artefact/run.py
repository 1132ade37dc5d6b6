#!/usr/bin/env python3
"""Measures and simulates again, on this machine, what the pages of this project say, and writes a folder to send or to publish.

    bench/artefact/run.py [--quick] [--to FOLDER] [--only NAME,...] [--from FOLDER] [--peers FOLDER] [--list]

In the folder: index.md, with the machine, the compilers, the commit, each step with its command, and what disturbed it; claims.md, each marked
number of the pages beside this machine's, with its command; tables.md, every table of the pages from this machine's figures; pictures, as SVG
and PDF; raw/, the JSON of each step; logs/, what it printed. bench/STATISTICS.md says what the figures mean.

--quick takes fewer kernels and rounds: a quarter of an hour. A figure of few rounds has a wide interval, or none.
"""

import argparse
import dataclasses
import datetime
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT / "bench")

from harness import environment, measure, tables  # noqa: E402
from report import blocks, marks, readme  # noqa: E402
from report.data import Data  # noqa: E402


@dataclasses.dataclass
class Step:
    name: str                     # of its file
    command: list                 # after ./dev, or a program; FILE is the JSON
    minutes: float
    quick: list | None = None     # None: it is left out
    quick_minutes: float = 0
    simulated: bool = False       # or counted: then a busy machine does not matter


KERNELS = ["fib", "nqueens", "integrate", "cilksort", "quicksort"]
STEPS = [
    Step("kernels", ["bench", "--compilers", "both"], 30, ["bench", *KERNELS, "--quick", "--budget", "120", "--compilers", "both"], 4),
    Step("policies", ["bench", "--policies", "--compilers", "both"], 16, ["bench", "fib", "nqueens", "uts", "--policies", "--quick", "--budget", "90"], 2),
    Step("scale", ["bench", "--scale"], 5, ["bench", "fib", "nqueens", "--scale", "--quick", "--budget", "30"], 1),
    Step("virtual", ["bench", "--virtual", "--check"], 10, ["bench", "--virtual", "--rounds", "3", "--procs", "2,8"], 2),
    Step("space", ["bench", "--space"], 10, ["bench", "--space", "--procs", "1,8", "--runs", "1", "--leaf-us", "20"], 1),
    Step("trees", ["bench", "--trees"], 15, ["bench", "--trees", "--trees", "25", "--seeds", "3", "--no-shapes"], 2, simulated=True),
    Step("adaptive", ["bench", "--trees", "--adaptive"], 10, ["bench", "--trees", "--adaptive", "--trees", "10", "--seeds", "1"], 1, simulated=True),
    Step("flat", ["bench", "--trees", "--flat"], 10, simulated=True),
    Step("locality", ["bench", "locality"], 1, ["bench", "locality", "--rounds", "5"], 1),
    Step("peers", ["bench", "--peers", "PEERS", "--compilers", "both"], 9),
    Step("league", ["bench", "--peers", "PEERS", "--league"], 5),
    *(Step(name, ["bench", name, "--peers"], 2) for name in ("talk", "echo", "handover")),
    Step("instructions", ["python3", "bench/instructions.py", "--build", "build"], 1, ["python3", "bench/instructions.py", "--build", "build"], 1, simulated=True),
    Step("instructions-bench", ["python3", "bench/instructions.py", "--build", "build-bench"], 1, None, 0, simulated=True),
]


class Here:
    """This machine's figures, as report.recorded.Figures has those of the checkout; those that there are. `used`: the files that were asked."""

    def __init__(self, folder):
        self.all = {file.stem: json.loads(file.read_text()) for file in folder.glob("*.json")}
        self.used = set()
        self.files = self

    def __getitem__(self, name):
        self.used.add(name)
        return self.all[name]

    @property
    def gcc(self):
        return Data(self["kernels"])

    @property
    def clang(self):
        (other,) = self.gcc.others
        return other

    @property
    def policies(self):
        return Data(self["policies"])

    def each(self):
        return [("g++", self.gcc), *(("clang", other) for other in self.gcc.others)]


# What a table or a number lacks that was not measured, or measured with other kernels.
LACKS = (KeyError, IndexError, StopIteration, TypeError, ValueError, AttributeError, ZeroDivisionError)


def command_of(step, quick, file, peers):
    words = step.quick if quick else step.command
    if not words:
        return None
    words = [word for each in words for word in ((peers,) if each == "PEERS" and peers else () if each == "PEERS" else (each,))]
    return [*(() if words[0] == "python3" else ("./dev",)), *map(str, words), "--json", str(file)]


def run_step(step, command, folder):
    """How it went, for the index."""
    conditions, began = environment.Conditions(), time.monotonic()
    with open(folder / "logs" / f"{step.name}.txt", "w") as log:
        done = subprocess.run(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
    env = conditions.before | {"others_during": conditions.load.others()}
    file = folder / "raw" / f"{step.name}.json"
    if file.exists():  # measurements know better than what their processes seem to be: they say it themselves
        env = json.loads(file.read_text()).get("environment", env)
    disturbed = [] if step.simulated else tables.disturbances(env)
    return {"name": step.name, "command": " ".join(command), "minutes": (time.monotonic() - began) / 60, "status": done.returncode,
            "disturbed": disturbed, "simulated": step.simulated}


def sentence_of(text, at):
    """The sentence, item or row around a place of a page, without marks."""
    begin = max(text.rfind("\n\n", 0, at), text.rfind("\n- ", 0, at), text.rfind("\n| ", 0, at), 0)
    ends = [end for end in (text.find("\n\n", at), text.find("\n- ", at), text.find("\n| ", at)) if end >= 0]
    whole = text[begin:min(ends, default=len(text))]
    before, after = whole[:at - begin], whole[at - begin:]
    plain = [re.sub(r"\s+", " ", re.sub(r"<!--.*?-->", "", part, flags=re.DOTALL)) for part in (before, after)]
    start = plain[0].rfind(". ") + 1
    end = plain[1].find(". ")
    return (plain[0][start:] + (plain[1] if end < 0 else plain[1][:end + 1])).replace("**", "").strip(" |-").replace("|", "\\|")


def claims(here, steps):
    """Rows: the page, the sentence, the number there and here, the commands."""
    commands = {step["name"]: step["command"].partition(" --json ")[0] for step in steps}
    busy = {step["name"] for step in steps if step["disturbed"]}
    for page in blocks.PAGES:
        text = (ROOT / page).read_text()
        for found in marks.MARK.finditer(text):
            here.used.clear()
            try:
                said = list(dict.fromkeys(marks.form(value, found["shown"]) for value in marks.values(found["of"], here)))
            except LACKS:
                said = []
            used = sorted(here.used & set(commands))
            yield {"page": page, "sentence": sentence_of(text, found.start()), "of": found["of"], "there": found["shown"],
                   "here": ", ".join(said) or "not measured", "commands": [commands[name] for name in used], "busy": bool(said and set(used) & busy)}


def write_claims(folder, here, steps):
    rows, together = list(claims(here, steps)), {}
    for row in rows:
        together.setdefault((row["page"], row["sentence"]), []).append(row)
    lines = ["# Claims", "", "Each marked number of the pages, and the same from this machine's figures. A number marked \\* was measured while the machine",
             "was busy. What was not measured has no command here: bench/FIGURES.md has them all.", "", "| page | claim | there | here | command |",
             "| --- | --- | --- | --- | --- |"]
    for (page, sentence), of in together.items():
        commands = dict.fromkeys(f"`{command}`" for row in of for command in row["commands"])
        lines.append("| " + " | ".join([page, sentence, "; ".join(row["there"] for row in of),
                                        "; ".join(row["here"] + (" \\*" if row["busy"] else "") for row in of), "; ".join(commands)]) + " |")
    (folder / "claims.md").write_text("\n".join(lines) + "\n")
    return sum(row["here"] != "not measured" for row in rows), len(rows)


def write_tables(folder, here):
    """Every table of the pages that these figures fill. Returns the names of the others."""
    parts, lacking = ["# Tables\n"], []
    for page in blocks.PAGES:
        for found in blocks.BLOCK.finditer((ROOT / page).read_text()):
            name, *arguments = found[2].split()
            try:
                parts.append(f"\n## {found[2]} ({page})\n\n{blocks.BLOCKS[name](here, *arguments)}")
            except LACKS:
                lacking.append(f"{found[2]} ({page})")
    (folder / "tables.md").write_text("".join(parts))
    return lacking


def write_pictures(folder, here):
    for make in (lambda: [readme.fib(here.gcc)],
                 *(lambda name=name: [plot for _, plot in blocks.pictures_of_waits(here, name)] for name in blocks.DRAWN)):
        try:
            plots = [plot for plot in make() if plot]
        except LACKS:
            continue
        for plot in plots:
            plot.pdf(folder / "pictures" / f"{plot.name}.pdf")  # first: the SVG takes the drawing apart
            (folder / "pictures" / f"{plot.name}.svg").write_text(plot.svg(alone=True) + "\n")


def compiler_of(command):
    try:
        return subprocess.run([command, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return "not here"


def write_index(folder, steps, left_out, lacking, counted, quick):
    env = environment.describe({}, (0, 0, 0))
    frequency = environment.read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq")
    rows = [("date", env["date"]), ("commit", env["commit"]), ("processor", env["cpu"]), ("processors", env["cores"]), ("system", platform.platform()),
            ("virtual machine", "yes" if env["hypervisor"] else "no"), ("governor", env["governor"] or "not here"),
            ("highest frequency, kHz", frequency or "not here"), ("g++", compiler_of("g++")), ("clang", compiler_of("clang++-19"))]
    lines = ["# What was measured and simulated here", "", *(["A quick run: few kernels and rounds. Its intervals are wide.", ""] if quick else []),
             "| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in rows), "",
             f"{counted[0]} of {counted[1]} marked numbers of the pages were measured here: [claims](claims.md). [Tables](tables.md), pictures/, raw/, logs/.",
             "[Statistics](STATISTICS.md) says what a figure means.", "", "| step | command | minutes | |", "| --- | --- | --- | --- |"]
    for step in steps:
        how = f"failed with status {step['status']}: logs/{step['name']}.txt" if step["status"] else "; ".join(step["disturbed"]) or (
            "does not depend on the load" if step["simulated"] else "quiet")
        lines.append(f"| {step['name']} | `{step['command']}` | {step['minutes']:.1f} | {how} |")
    busy = [step["name"] for step in steps if step["disturbed"]]
    lines += ["", f"The machine was too busy for: {', '.join(busy)}. Measure these again." if busy else "The machine was quiet enough for all of it.", ""]
    lines += [f"Left out: {', '.join(left_out)}.", ""] if left_out else []
    lines += ["Tables of the pages that these figures do not fill:", "", *(f"- {name}" for name in lacking)] if lacking else []
    (folder / "index.md").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer kernels and rounds: a quarter of an hour")
    parser.add_argument("--to", type=pathlib.Path, default=ROOT / "build/artefact", metavar="FOLDER", help="a new one; that of an earlier run is replaced")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="NAME,...", help="these steps; the files of others stay as they are")
    parser.add_argument("--from", type=pathlib.Path, metavar="FOLDER", dest="given", help="measure nothing: the pages of these JSON files, such as "
                        "raw/ of an earlier run, or bench/figures")
    parser.add_argument("--peers", type=pathlib.Path, metavar="FOLDER", help="programs of other libraries: bench/PEERS.md")
    parser.add_argument("--list", action="store_true", help="the steps with their minutes, without running them")
    args = parser.parse_args()
    folder = args.to.resolve()
    names = [step.name for step in STEPS]
    for name in args.only or []:
        if name not in names:
            raise measure.Failed(f"there is no step {name}; there are {', '.join(names)}")
    chosen = [step for step in STEPS if (step.quick or not args.quick) and (not args.only or step.name in args.only)]
    if args.given:
        given = {file.stem for file in args.given.glob("*.json")}
        if not given:
            raise measure.Failed(f"--from {args.given}: there are no JSON files")
        chosen = []
    left_out = [step.name for step in STEPS if step not in chosen]
    minutes = sum(step.quick_minutes if args.quick else step.minutes for step in chosen)
    if not args.given:
        print(f"{len(chosen)} steps, about {minutes:.0f} minutes on two quiet cores, after some building; into {folder}", flush=True)
    if args.list:
        for step in chosen:
            print(f"  {step.name:20} {step.quick_minutes if args.quick else step.minutes:4g} minutes  {' '.join(command_of(step, args.quick, 'FILE', args.peers))}")
        return 0
    if folder.exists() and not args.only:
        if not (folder / "index.md").exists() and any(folder.iterdir()):
            raise measure.Failed(f"{folder} is not empty, and no earlier run made it; choose another one by --to")
        shutil.rmtree(folder)
    for part in "raw", "logs", "pictures":
        (folder / part).mkdir(parents=True, exist_ok=True)
    steps_file = folder / "raw/steps.json"
    earlier = json.loads(steps_file.read_text())["steps"] if steps_file.exists() else []
    steps = [step for step in earlier if step["name"] not in {one.name for one in chosen}]
    for step in chosen:
        command = command_of(step, args.quick, folder / "raw" / f"{step.name}.json", args.peers)
        print(f"{datetime.datetime.now():%H:%M} {step.name}: {' '.join(command)}", flush=True)
        steps.append(run_step(step, command, folder))
        if steps[-1]["status"]:
            print(f"  failed with status {steps[-1]['status']}, and is left out: {folder / 'logs' / step.name}.txt", flush=True)
        for what in steps[-1]["disturbed"]:
            print(f"  WARNING: {what}", flush=True)
    for file in args.given.glob("*.json") if args.given else ():
        shutil.copy(file, folder / "raw")
    if args.given and not (args.given / "steps.json").exists():
        # Who measured these, and when, stands in the files.
        steps = [{"name": step.name, "command": " ".join(command_of(step, False, f"{step.name}.json", args.peers)), "minutes": 0.0, "status": 0,
                  "disturbed": [] if step.simulated else tables.disturbances(json.loads((folder / f"raw/{step.name}.json").read_text()).get("environment", {})),
                  "simulated": step.simulated} for step in STEPS if step.name in given]
    elif args.given:
        steps = json.loads((args.given / "steps.json").read_text())["steps"]
    steps.sort(key=lambda step: names.index(step["name"]))
    steps_file.write_text(json.dumps({"steps": steps}, indent=1) + "\n")
    here = Here(folder / "raw")
    counted = write_claims(folder, here, steps)
    lacking = write_tables(folder, here)
    write_pictures(folder, here)
    shutil.copy(ROOT / "bench/STATISTICS.md", folder)
    shutil.copy(ROOT / "CITATION.cff", folder)
    write_index(folder, steps, [] if args.given else left_out, lacking, counted, args.quick)
    print(folder / "index.md")
    return 1 if any(step["status"] for step in steps) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except measure.Failed as failure:
        print(f"bench/artefact/run.py: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
