"""The headers of the library, as paths below the root, and what they declare."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Headers that a compiler can take only if it has those of another project.
NEEDS = {"forkjoin/asio.hpp": "boost/asio/async_result.hpp", "forkjoin/execution.hpp": "stdexec/execution.hpp",
         "forkjoin/mpi.hpp": "mpi.h", "forkjoin/parallel_scheduler.hpp": "stdexec/execution.hpp"}


def for_programs():
    """Those that programs include by name."""
    return sorted(str(name.relative_to(ROOT)) for name in [*ROOT.glob("forkjoin/*.hpp"), *ROOT.glob("forkjoin/go/*.hpp")])


def public():
    """All that are installed."""
    return sorted(str(name.relative_to(ROOT)) for name in ROOT.glob("forkjoin/**/*.hpp"))


def every():
    """All, also those of the library itself, which are not installed."""
    runtime = [str(name.relative_to(ROOT)) for name in ROOT.glob("runtime/**/*.hpp")]
    return sorted(name for name in runtime if not name.startswith("runtime/precompiled/")) + public()


def without_detail_alone(text):
    """Without the blocks that open fj and detail at once."""
    return re.sub(r"(?ms)^namespace fj \{ inline namespace \w+ \{ namespace detail \{.*?^\}\}\}+  // namespace fj::\w+::detail[\w:]*$", "", text)


def declared(header):
    """The names that a header declares in fj itself, each with its kind: class, template of a class, alias, or function."""
    text = without_detail_alone((ROOT / header).read_text())
    text = re.sub(r"(?m)^namespace detail \{\n(?:struct \w+;.*\n)*\}$", "", text)
    text = re.sub(r"(?ms)^namespace detail \{.*?^\}  // namespace detail$", "", text)
    text = re.sub(r"(?s)\[\[.*?\]\] ?|\"(\\.|[^\"\\\n])*\"", "", text)
    names = {}
    for template, name in re.findall(r"(?m)^(template <.*>\n)?(?:class|struct|enum class) (\w+)(?= (?:final )?[:{])", text):
        names[name] = "template" if template else "class"
    names |= dict.fromkeys(re.findall(r"(?m)^using (\w+) =", text), "alias")
    for line in re.findall(r"(?m)^[A-Za-z].*$", text):
        if not re.match(r"(class|struct|enum|template|namespace|using)\b", line):
            if name := re.search(r"(?<![:\w])(?<!operator )(?!requires|noexcept|explicit)([a-z]\w*)\(", line):
                names[name[1]] = "function"
    return names


def within(header):
    """What a header's names bear between fj:: and themselves: `mpi::` in mpi.hpp, mostly nothing."""
    inner = re.search(r"(?m)^namespace (?!detail\b)(\w+) \{$", (ROOT / header).read_text())
    return f"{inner[1]}::" if inner else ""


def that_compile(headers, compiler):
    """Those of these headers that this compiler can take here."""
    def has(header):
        question = f"#if !__has_include(<{header}>)\n#error\n#endif\n"
        return subprocess.run([*compiler, "-E", "-x", "c++", "-"], input=question, capture_output=True, text=True).returncode == 0

    return [header for header in headers if header not in NEEDS or has(NEEDS[header])]
