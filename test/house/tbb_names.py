"""Each public header of an installed oneTBB 2021 is in forkjoin/tbb, too, and each name that one of them has in namespace tbb means something
there, or is refused with a sentence: tbb_names.py <compiler and flags>

A header that is here compiles, or ends in a sentence that begins "forkjoin has no". A name that <tbb/tbb.h> does not declare would be a raw
"not a member". (Tried without left_out.h's flow::limiter_node, without flow_graph_abstractions.h, and without <memory> in enumerable_thread_specific.h.)
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = ROOT / "forkjoin/tbb"
compiler = sys.argv[1:]
# Of headers that <tbb/tbb.h> of oneTBB does not include; ours end in a sentence.
OF_OTHERS = {"memory_pool", "fixed_pool", "memory_pool_allocator", "scalable_allocator", "scalable_memory_resource"}
# Named by oneTBB's headers, but in no namespace that programs use.
INNARDS = {"graph_policy_namespace"}


def compiled(text):
    command = [*compiler, "-std=c++20", "-fsyntax-only", "-DTBB_PREVIEW_CONCURRENT_LRU_CACHE", "-DTBB_PREVIEW_TASK_GROUP_EXTENSIONS", f"-I{OURS}", f"-I{ROOT}", "-x", "c++", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin:/usr/local/bin", "LC_ALL": "C"})


def names_of(header):
    """{namespace below tbb: names} that oneTBB's header gives to programs: what its `inline namespace v1` takes from `detail`."""
    found, spaces = {}, []
    text = re.sub(r"(?m)^\s*#.*$|//.*", "", header.read_text())
    for opened, closed, name in re.findall(r"((?:inline )?(?:namespace [\w:]+\s*)?\{)|(\})|using detail::([\w:]+);", text):
        if opened:
            spaces.append(re.sub(r"namespace |\s*\{", "", opened))
        elif closed:
            spaces.pop()
        elif "inline v1" in spaces:
            inner = [space for space in spaces if space not in ("tbb", "inline v1")]
            found.setdefault("::".join(inner), set()).add(name.split("::")[-1])
    return found


def main():
    version = pathlib.Path("/usr/include/oneapi/tbb/version.h")
    if not version.exists() or "TBB_VERSION_MAJOR 2021" not in version.read_text():
        print("no oneTBB 2021 in /usr/include: not checked")
        sys.exit(77)
    wrong, wanted = [], {}
    theirs = sorted(version.parent.glob("*.h"))
    for header in theirs:
        for folder in ("tbb", "oneapi/tbb"):
            if not (OURS / folder / header.name).is_file():
                wrong.append(f"forkjoin/tbb/{folder} has no {header.name}")
        for space, names in names_of(header).items():
            wanted.setdefault(space, set()).update(names - OF_OTHERS - INNARDS)
    if sum(map(len, wanted.values())) < 120:
        wrong.append(f"found only {wanted} in oneTBB's headers: this check does not know how they are written")
    uses = "".join(f"using {'::'.join(filter(None, ['tbb', space, name]))};\n" for space in sorted(wanted) for name in sorted(wanted[space]))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for header, done in zip(theirs, pool.map(lambda header: compiled(f"#include <tbb/{header.name}>\n"), theirs)):
            if done.returncode and "forkjoin has no" not in done.stderr:
                wrong.append(f"<tbb/{header.name}>: {done.stderr}")
    done = compiled("#include <tbb/tbb.h>\nnamespace program {\n" + uses + "}\n")
    raw = [line for line in done.stderr.splitlines() if "error:" in line and "forkjoin has no" not in line]
    wrong += sorted(set(raw))
    print("\n".join(wrong) or f"{len(theirs)} headers and {sum(map(len, wanted.values()))} names: all here, or refused with a sentence")
    sys.exit(1 if wrong else 0)


main()
