"""Builds the peers that have a compiler of their own: Go's programs, and rayon's by cargo."""

import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = 600  # seconds that a build may take
CRATES = pathlib.Path(os.environ.get("FORKJOIN_CRATES", "/usr/share/cargo/registry"))  # Debian's librust-...-dev


class LeftOut(Exception):
    """Why a peer takes no part, in words."""


def output(command, **where):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, **where)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LeftOut(f"{command[0]} does not run: {error}") from None
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["without a word"]
        first = next((line for line in lines if line.startswith("error")), lines[0])
        raise LeftOut(f"{' '.join(command[:2])} failed: {first}")
    return done.stdout.strip()


def need(program):
    if not shutil.which(program):
        raise LeftOut(f"{program} is not installed")


def build_go(into):
    need("go")
    source = HERE / "go"
    kernels = sorted(main.parent.name for main in source.glob("*/main.go"))
    output(["go", "build", "-o", f"{into}/", *(f"./{kernel}" for kernel in kernels)], cwd=source)
    return output(["go", "version"])


def crate_options():
    """Takes crates from the distribution's folder if rayon is there, else from cargo's registry."""
    if not any(CRATES.glob("rayon-core-*")):
        return []
    return ["--offline", "--config", 'source.crates-io.replace-with="distribution"',
            "--config", f'source.distribution.directory="{CRATES}"']


def build_rayon(into):
    need("cargo")
    target = into / "target"
    # Cargo writes the lock file, which says what versions were taken, beside the manifest: so into a copy.
    source = into / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(HERE / "rayon", source)
    output(["cargo", "build", "--release", "--target-dir", str(target), *crate_options()], cwd=source)
    for program in source.glob("src/bin/*.rs"):
        shutil.copy2(target / "release" / program.stem, into / program.stem)
    packages = (source / "Cargo.lock").read_text().split("[[package]]")
    versions = [line.split('"')[1] for p in packages if 'name = "rayon"' in p for line in p.splitlines() if "version" in line]
    return f"rayon {versions[0]}, {output(['rustc', '--version'])}"


def build(folder, say):
    """Builds each peer into a folder of its own, with its version in the file `version`. Returns why others are left out."""
    left_out = {}
    for name, make in {"go": build_go, "rayon": build_rayon}.items():
        into = folder / name
        try:
            into.mkdir(parents=True, exist_ok=True)
            (into / "version").unlink(missing_ok=True)
            (into / "version").write_text(make(into) + "\n")
        except (LeftOut, OSError, IndexError) as why:
            left_out[name] = str(why)
            shutil.rmtree(into, ignore_errors=True)
        say(f"{name}: {left_out.get(name, 'built')}")
    return left_out
