"""The tables of forkjoin/guide/moving.md and their programs.

moving.py rows PAGE        each row of a table names in its last cell a namespace of the program that the section links, and each
                           namespace there has a row. A namespace has the functions ours() and, in all programs but those whose other
                           side has a program of its own, theirs(); the compiler refuses one that main leaves out. (Tried with a row
                           without a namespace, a namespace without a row, and one without ours().)
moving.py same OURS THEIRS...       the command THEIRS prints the same as our program (Tried with another number there)
moving.py cargo OURS FOLDER TARGET  so does the program in Rust, which cargo builds into the folder TARGET
moving.py without PACKAGE           says what is missing
"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CRATES = pathlib.Path("/usr/share/cargo/registry")  # Debian's librust-...-dev
OURS_ALONE = {"go", "rayon", "taskflow"}

mode, *rest = sys.argv[1:]
if mode == "without":
    print(f"{rest[0]} is not installed: not checked")
    sys.exit(77)

if mode == "cargo":
    program, folder, target = rest
    if not shutil.which("cargo") or not any(CRATES.glob("rayon-core-*")):
        print("cargo and librust-rayon-dev are not installed: not checked")
        sys.exit(77)
    source = pathlib.Path(target) / "source"  # cargo writes its lock file beside the manifest
    shutil.copytree(folder, source, dirs_exist_ok=True)
    subprocess.run(["cargo", "build", "--quiet", "--offline", "--target-dir", target,
                    "--config", 'source.crates-io.replace-with="distribution"',
                    "--config", f'source.distribution.directory="{CRATES}"'], cwd=source, check=True)
    mode, rest = "same", [program, f"{target}/debug/moving"]

failures = []
if mode == "same":
    program, *command = rest
    if not shutil.which(command[0]):
        print(f"{command[0]} is not installed: not checked")
        sys.exit(77)
    ours = subprocess.run([program], text=True, stdout=subprocess.PIPE).stdout
    theirs = subprocess.run(command, text=True, stdout=subprocess.PIPE).stdout
    if ours != theirs or not ours:
        failures.append(f"ours:\n{ours}theirs:\n{theirs}")
else:
    page = (ROOT / rest[0]).read_text()
    shown = set()
    for section in re.split(r"(?m)^## ", page)[1:]:
        title = section.split("\n")[0]
        program = re.search(r"\(\.\./\.\./examples/moving/(\w+)\.cpp\)", section)
        if not program:
            failures.append(f"{title}: links no program")
            continue
        shown.add(program[1])
        source = (ROOT / f"examples/moving/{program[1]}.cpp").read_text()
        named = re.findall(r"(?ms)^namespace (\w+) \{\n(.*?)^\}  // namespace", source)
        rows = [line.rstrip(" |").split("|")[-1].strip() for line in section.split("\n")
                if line.startswith("|") and not line.startswith("|---") and not line.endswith("| row |")]
        for row in sorted(set(rows) - {f"`{name}`" for name, _ in named}):
            failures.append(f"{title}: the program has no namespace {row}")
        for name, text in named:
            if rows.count(f"`{name}`") != 1:
                failures.append(f"{title}: {rows.count(f'`{name}`')} rows for namespace {name}")
            for function in {"ours()"} if program[1] in OURS_ALONE else {"ours()", "theirs()"}:
                if f"long {function} {{" not in text:
                    failures.append(f"{program[1]}.cpp: {name} has no {function}")
    for file in sorted((ROOT / "examples/moving").glob("*.cpp")):
        if file.stem not in shown:
            failures.append(f"{file.name}: in no section")
for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
