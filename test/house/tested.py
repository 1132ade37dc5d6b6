"""The table of what is tested, by which command, and when last: tested.py [--write [FOLDER...]].

test/tested.json has the last run of each row, and the page the table that is made of it. Without --write this checks that they agree; with it,
takes the records that ./dev test left in build-tested/ and in these folders, and writes both.

Tried with another date in the page: it fails.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE, KEPT = ROOT / "forkjoin/guide/compatibility.md", ROOT / "test/tested.json"

# What is tested, by which command, and which record of ./dev test shows it.
ROWS = [
    ("Debian 12", "./dev test --part main", {"part": "main", "system": "Debian 12", "compiler": "g++ 12"}),
    ("Debian 13", "./dev test --part main", {"part": "main", "system": "Debian 13", "compiler": "g++ 14"}),
    *((f"g++ {version}", f"CXX=g++-{version} ./dev test --part main", {"part": "main", "compiler": f"g++ {version}"}) for version in (12, 13, 14)),
    *((f"clang {version}", f"CXX=clang++-{version} ./dev test --part main", {"part": "main", "compiler": f"clang {version}"})
      for version in (16, 17, 18)),
    ("clang 19", "./dev test --part second", {"part": "second", "compiler": "clang 19"}),
    ("libc++", "./dev test --part libcxx", {"part": "libcxx"}),
    ("the machine `posix`", "./dev test --part posix", {"part": "posix"}),
    ("aarch64, in an emulator", "./dev test --part aarch64", {"part": "aarch64"}),
    ("aarch64", "./dev test --part main", {"part": "main", "machine": "aarch64"}),
    ("riscv64, in an emulator", "./dev test --part riscv64", {"part": "riscv64"}),
    ("riscv64", "./dev test --part main", {"part": "main", "machine": "riscv"}),
]


def result(record):
    if record["failed"]:
        return f"{record['failed']} failed, {record['passed']} passed"
    return f"{record['passed']} passed" + (f", {record['skipped']} skipped" if record["skipped"] else "")


def table(kept):
    lines = ["| what | by | last | commit | result |", "|---|---|---|---|---|"]
    for what, command, _ in ROWS:
        record = kept.get(what)
        told = (record["date"][:10], f"`{record['commit'][:10]}`", result(record)) if record else ("not yet", "", "")
        lines.append(f"| {what} | `{command}` | {' | '.join(told)} |")
    return "\n".join(lines) + "\n"


def with_newer(kept, records):
    """The last run of each row. Dates are UTC, in one form."""
    for record in records:
        for what, _, shown_by in ROWS:
            matches = all(record[field] == value for field, value in shown_by.items())
            if matches and record["commit"] and (what not in kept or record["date"] > kept[what]["date"]):
                kept[what] = record
    return {what: kept[what] for what, *_ in ROWS if what in kept}


kept = json.loads(KEPT.read_text())
text = PAGE.read_text()
head, old, foot = re.fullmatch(r"(?s)(.*<!-- tested -->\n)(.*)(<!-- /tested -->\n.*)", text).groups()
if sys.argv[1:2] == ["--write"]:
    folders = [ROOT / "build-tested", *map(pathlib.Path, sys.argv[2:])]
    for folder in folders[1:]:
        if not folder.is_dir():
            sys.exit(f"tested.py: there is no folder {folder}")
    kept = with_newer(kept, [json.loads(file.read_text()) for folder in folders for file in sorted(folder.rglob("*.json"))])
    KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    PAGE.write_text(head + table(kept) + foot)
elif old != table(kept):
    sys.exit("the table of forkjoin/guide/compatibility.md is not what test/tested.json says: run ./dev tested")
