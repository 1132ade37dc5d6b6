"""Names for addresses of code, from the symbol tables of the files that a process was made of (ELF, 64 bits)."""

import bisect
import os
import re
import stat
import struct
import subprocess

SYMBOL = struct.Struct("<IBBHQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMTAB, DYNSYM = 2, 11
FUNCTION, OBJECT = 2, 1


def symbols_of(path):
    """[(address, size, name)] of the functions and objects that a file defines, in order. Empty if it cannot be read: a trace may name any."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return []
        with open(path, "rb") as file:
            return symbols_in(file.read()) if file.read(5) == b"\x7fELF\x02" and file.seek(0) == 0 else []
    except (OSError, ValueError, IndexError, OverflowError, MemoryError, struct.error):  # all but the first: sections that are not where the file says
        return []


def symbols_in(data):
    sections_at, = struct.unpack_from("<Q", data, 0x28)
    entry, count = struct.unpack_from("<HH", data, 0x3a)
    sections = [SECTION.unpack_from(data, sections_at + i * entry) for i in range(count)]
    found = {}
    for of in (DYNSYM, SYMTAB):  # what the second has counts
        for section in [section for section in sections if section[1] == of][:1]:
            names_at = sections[section[6]][4]
            for name, info, _, index, value, size in SYMBOL.iter_unpack(data[section[4]:section[4] + section[5]]):
                if index and info & 0xf in (FUNCTION, OBJECT) and value:
                    begin = names_at + name
                    found[value] = (size, data[begin:data.index(b"\0", begin)].decode(errors="replace"))
    return [(value, *rest) for value, rest in sorted(found.items())]


def demangled(names):
    names = list(names)
    try:
        done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
        plain = done.stdout.split("\n")
    except (OSError, subprocess.CalledProcessError):
        plain = names
    return {name: without_arguments(told) for name, told in zip(names, plain)}


def without_arguments(name):
    """Of a name that c++filt leaves as it is, as that of binutils 2.40 does if a type has an expression with a template of a variable: the
    function's own name."""
    begin, parts = re.match(r"_ZN?[KVRO]*|", name).end(), []
    while begin and (length := re.compile(r"\d+").match(name, begin)):
        begin = length.end() + int(length[0])
        parts.append(name[length.end():begin])
    return "::".join(parts) or name


def without_brackets(name):
    """Without template arguments and parameters."""
    kept, depth = [], 0
    for c in name:
        if c in "<(":
            depth += 1
        elif c in ">)" and depth > 0:
            depth -= 1
        elif depth == 0:
            kept.append(c)
    return "".join(kept)


def plain_name(name):
    """What a reader calls a function: without its type, parameters and template arguments. Closures have the form λ2 already, and operators
    have their stand-ins. In the profile and the race detector os::name_of does the same: test/process/symbol_names.txt is the test of both."""
    if re.match("_GLOBAL__sub_I_|__static_initialization_and_destruction_|__cxx_global_var_init", name):
        return "a static initialiser"
    conversion = re.search(r"\boperator (?:[^()<]|<[^<>]*>)+(?=\()", name)  # its type has spaces
    kept = conversion[0] if conversion else ""
    plain = without_brackets(name.replace(kept, "\x01") if kept else name)
    plain = re.sub(r" (?:(?:const|volatile|noexcept)\b|&+(?=$|:))", "", plain).rstrip().rpartition(" ")[2].replace("\x01", kept)
    return re.sub(r"(λ\d+)::operator" + OPERATORS["()"], r"\1", plain) or name


def scope_of(name, at):
    """Where the scope begins that a closure at `at` is in."""
    depth = 0
    while at > 0:
        c = name[at - 1]
        depth += c in ")>}]"
        depth -= c in "(<{["
        if depth < 0 or depth == 0 and c in ", ":
            return at
        at -= 1
    return at


# Operators whose names have brackets, and what stands for them until the brackets are gone.
OPERATORS = {name: chr(0xe000 + i) for i, name in enumerate(("()", "<=>", "<<=", ">>=", "->*", "<<", ">>", "->", "<=", ">=", "<", ">"))}
OPERATOR = re.compile(r"\boperator(" + "|".join(map(re.escape, OPERATORS)) + ")")
# The library's frames around a callable of the user's: what stands before it in the name. In brackets: of what does not have it first.
AROUND = re.compile(r"fj::task_group::go<|fj::detail::(?:(?:job_call|go_call|closure_child|task|branch|kept_children<[^<>]*>::closure_of)<"
                    r"|(?:basic_loop_of_iterations|one_per_iteration|some_per_iteration)<(?P<first>))")


def parts_of(arguments):
    """Those of "a, b<c, d>>::f" up to the bracket that closes them: ["a", "b<c, d>"]."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(arguments):
        if c in "<([{":
            depth += 1
        elif c in ">)]}":
            depth -= 1
        if depth < 0 or depth == 0 and c == ",":
            parts.append(arguments[begin:i].strip())
            begin = i + 1
        if depth < 0:
            break
    return parts


def callable_of(name):
    """Without the library's frames around it."""
    while found := AROUND.match(name):
        parts = parts_of(name[found.end():])
        at = 0 if found["first"] is None else 1
        if at >= len(parts):
            break
        name = re.sub(r"( const)?&*$", "", parts[at])
    return name


def short(name):
    """What a person calls the code, as in fib::λ2, the second closure in fib; of an algorithm of the library's, whose callable it uses, too."""
    name = user_name(OPERATOR.sub(lambda m: "operator" + OPERATORS[m[1]], name))
    for operator, stand_in in OPERATORS.items():
        name = name.replace(stand_in, operator)
    return name if len(name) <= 120 else "…" + name[-119:]


def branches(name):
    """Of a fork of more than two branches those that thieves take: the second to the last one."""
    first, last = (user_name(part) for part in (parts_of(name)[-1 if len(parts_of(name)) < 2 else 1], parts_of(name)[-1]))
    scope, _, own = last.rpartition("::")
    return first if first == last else f"{first}…{own}" if first.startswith(scope + "::") else f"{first}…{last}"


def user_name(name):
    name = re.sub(r"\bfj::v\d+_\d+(_\w+)?::", "fj::", name)
    name = re.sub(r" (?:\[clone [^]]*\]|\(\.[^()]*\))$|^vtable for |\(anonymous namespace\)::", "", name)
    name = re.sub(r"\) (const|noexcept|volatile)\b", ")", name)
    name = re.sub(r"\{lambda\([^{}]*\)#(\d+)\}", r"λ\1", name)  # as g++'s names are told
    name = re.sub(r"'lambda(\d*)'\([^()]*\)", lambda m: f"λ{int(m[1] or -1) + 2}", name)  # and clang's
    name = re.sub(r"\$_(\d+)", lambda m: f"λ{int(m[1]) + 1}", name)
    name = re.sub(r"\{unnamed type#\d+\}", "unnamed", name)
    name = callable_of(name)
    if re.match(r"[^()<]*\(\*\)", name):  # a pointer to a function: its type is all that is known
        return name
    closures = [name[scope_of(name, found.start()):found.end()] for found in re.finditer(r"λ\d+", name)]
    users = [plain_name(closure) for closure in closures if not closure.startswith("fj::")]
    if name.startswith("fj::detail::fork_of_many<"):
        return branches(name.partition("<")[2])
    if not name.startswith("fj::"):
        name = users[-1] if users and re.search(r"(?:^| )std::", name) else plain_name(name)
    else:
        name = without_brackets(name).replace("fj::detail::", "fj::")
        name = re.sub(r"^fj::(block_tree|forked_sections|split_loop)::.*", "a part of a loop", name) + (f" with {users[-1]}" if users else "")
    return name


SAMPLE_EVERY, MOST_SAMPLES = 16, 64  # bytes of a function's code; the library's frame around a callable comes before it
TOOL_SECONDS = 20
OF_LLVM = "--output-style=GNU", "--functions=none"
OF_NO_USER = re.compile(r"(^|/)(forkjoin/(\w+/)*\w+\.hpp|runtime/(base|fork|os|sched|stacks|strand|wait)/(\w+/)*\w+\.[ch]pp):|/include/c\+\+/|/c\+\+/v1/|^\?\?|:(0|\?)($| )")


def chains_at(path, offsets):
    """{offset: [file:line]}: of the functions that are inlined there, the innermost first. Empty without a tool."""
    for tool in (["llvm-symbolizer", *OF_LLVM], ["llvm-symbolizer-19", *OF_LLVM], ["addr2line"]):
        try:
            done = subprocess.run([*tool, "-ai", "-e", path], input="".join(f"{offset:#x}\n" for offset in offsets), capture_output=True, text=True,
                                  errors="replace", timeout=TOOL_SECONDS)
        except FileNotFoundError:
            continue
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return {}
        if done.returncode == 0:
            chains, of = {}, []
            for line in done.stdout.splitlines():
                if re.fullmatch("0x[0-9a-f]+", line):
                    of = chains.setdefault(int(line, 16), [])
                elif line:
                    of.append(os.path.normpath(line))
            return chains
    return {}


class Symbols:
    def __init__(self, modules):
        self._modules = modules
        self._tables = {}
        self._known = {}
        self._ranges = {}  # address: the file, and where in it the code begins that has the address, and its size

    def _raw(self, address):
        for bias, path in self._modules:
            if bias > address:
                continue
            if path not in self._tables:
                table = symbols_of(path)
                self._tables[path] = [value for value, *_ in table], table
            values, table = self._tables[path]
            at = bisect.bisect_right(values, address - bias) - 1
            if at >= 0 and address - bias < table[at][0] + max(table[at][1], 1):
                self._ranges[address] = path, *table[at][:2]
                return table[at][2]
        return None

    def name_all(self, addresses):
        raw = {address: self._raw(address) for address in set(addresses) - self._known.keys()}
        plain = demangled({name for name in raw.values() if name})
        for address, name in raw.items():
            self._known[address] = (short(plain[name]), plain[name]) if name else (hex(address), hex(address))

    def places(self, addresses):
        """{address: "file.cpp:63"}, where the code of the user's begins that a function at these addresses runs; not of those without one."""
        of_file, found = {}, {}
        for address in set(addresses) & self._ranges.keys():
            path, begin, size = self._ranges[address]
            offsets = range(begin, begin + max(size, 1), SAMPLE_EVERY)[:MOST_SAMPLES]
            of_file.setdefault(path, []).append((address, offsets))
        for path, wanted in of_file.items():
            chains = chains_at(path, sorted({offset for _, offsets in wanted for offset in offsets}))
            for address, offsets in wanted:
                users = [line for offset in offsets for line in reversed(chains.get(offset, ())) if not OF_NO_USER.search(line)]
                if users:
                    found[address] = users[0].rpartition("/")[2].partition(" ")[0]
        return found

    def short(self, address):
        return self._known[address][0]

    def whole(self, address):
        return self._known[address][1]
