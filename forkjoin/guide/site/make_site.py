"""Makes the site of ./dev docs by Doxygen: make_site.py <output folder>; as Doxygen's filter: make_site.py --filter <file>

The file `contents` names the pages and headers in the order of the navigation. Each page is a page of the site, each header
a group. The filter turns both into what Doxygen understands: links and anchors as GitHub has them become the site's, and a
header keeps only what users name and call, without attributes, constraints and the inline namespace of the version. Below the first
declaration of each name comes a statement of an example that uses it. Each example, and each other source that a page links to, is a
page with its whole text.
"""

import functools
import html
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "test/house"))
import library_headers  # noqa: E402

MAIN = "README.md"
EXAMPLES = "examples"  # the folder, and the page that lists them
COURSE = "examples/course"  # has the solutions: not on the site

# What users read in place of names that are not for them.
PLAIN = {
    "detail::a_policy Policy": "class Policy",
    "detail::no_deadline": "std::chrono::steady_clock::time_point::max()",
    "detail::result_of<F>": "std::invoke_result_t<F&>",
    "detail::token_pointer": "const stop_token*",
    "detail::schedule_operation<Receiver>": "auto",
    "detail::scheduler_domain": "auto",
    "detail::scheduler_awaiter": "auto",
    "detail::future_awaiter<T>": "auto",
    "namespace ex = detail::ex;": "namespace ex = std::execution;",
    "detail::ex::": "std::execution::",
}

# --- Markdown ---

# Code: between fences, or indented after an empty line; and within a line.
BLOCK = (r"(?ms)^ *(?P<fence>```+|~~~+)[^\n]*\n.*?^ *(?P=fence)[ \t]*$"
         r"|(?:(?<=\n\n)|\A) {4}[^\n]*\n(?:[ \t]*\n(?= {4})| {4}[^\n]*\n)*")
SPAN = r"(?s)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
LINK = r'(?P<image>!?)\[(?P<label>(?:[^\]`]|`[^`]*`)*)\]\(<?(?P<target>[^)\s>]+)>?(?:\s+"[^"]*")?\)'


def outside(pattern, text, change):
    """The text with change(part) in place of each part that the pattern does not match."""
    done, at = "", 0
    for found in re.finditer(pattern, text):
        done += change(text[at:found.start()]) + found[0]
        at = found.end()
    return done + change(text[at:])


def change_links(text, change):
    """A page's prose with change(match of LINK) in place of each link. A link's label may have code, code has no link."""
    return re.sub(f"{SPAN}|{LINK}", lambda found: change(found) if found["target"] else found[0], text)


def links(text):
    """The links of a page: (whether it is a picture, target)."""
    found = []

    def look(prose):
        change_links(prose, lambda link: found.append((bool(link["image"]), link["target"])) or "")
        found.extend((False, target) for target in re.findall(r"(?m)^\[[^\]]+\]: +(\S+)", prose))
        return prose

    outside(BLOCK, text, look)
    return found


def slug(heading, seen):
    """GitHub's anchor of a heading; `seen` counts those of the page so far."""
    text = re.sub(LINK, r"\g<label>", heading).strip().lower()
    text = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
    seen[text] = seen.get(text, -1) + 1
    return f"{text}-{seen[text]}" if seen[text] else text


def anchors(text):
    """All anchors of a page."""
    seen, found = {}, set()

    def look(prose):
        found.update(slug(heading, seen) for heading in re.findall(r"(?m)^#+ +(.*)", prose))
        found.update(re.findall(r'<a (?:id|name)="([^"]+)"', prose))
        return prose

    outside(BLOCK, text, look)
    return found


# --- contents ---


def contents():
    """The sections of the navigation, each with those of its files that there are."""
    lines = (HERE / "contents").read_text().splitlines()
    named = {line.strip() for line in lines}
    sections = {}
    for line in lines:
        if line.startswith("  "):
            files = sorted(str(file.relative_to(ROOT)) for file in ROOT.glob(line.strip()))
            sections[section] += [name for name in files if name == line.strip() or name not in named]
        elif line and not line.startswith("#"):
            section = line
            sections[section] = []
    return sections


def all_names():
    return [MAIN] + [name for names in contents().values() for name in names]


def page_id(name):
    """`index` for README.md, `project_changelog` for CHANGELOG.md, `waits` for forkjoin/guide/waits.md, `runtime` for runtime/README.md,
    `runtime_waits` for WAITS.md there."""
    path = pathlib.PurePath(name.removeprefix("forkjoin/guide/") if "/" in name or name == MAIN else f"project/{name}")
    return "_".join(path.parts[:-1] + ((path.stem.lower(),) if path.stem != "README" else ())) or "index"


def group_id(name):
    return "header_" + pathlib.PurePath(name).stem


# --- examples and other sources ---

# By the suffix of a file: how Doxygen colors it.
LANGUAGES = {".c": ".c", ".cpp": ".cpp", ".hpp": ".cpp", ".py": ".py"}


@functools.cache
def examples():
    """The programs of examples/, in the order in which a reader looks at them: the short ones first."""
    found = [file.relative_to(ROOT) for file in (ROOT / EXAMPLES).rglob("*") if file.suffix in (".c", ".cpp", ".hpp", ".go", ".py", ".rs")]
    return [str(file) for file in sorted(found, key=lambda file: (len(file.parts), file)) if not file.is_relative_to(COURSE)]


@functools.cache
def sources():
    """The files whose text is a page of the site, each with the pages that link to it: the examples, and what else a page links to that is
    neither a page nor a picture."""
    found = {name: [] for name in examples()}
    for page in all_names():
        for is_image, target in links((ROOT / page).read_text()) if page.endswith(".md") else ():
            path = os.path.normpath(pathlib.PurePath(page).parent / target.partition("#")[0])
            if not is_image and ":" not in target and (ROOT / path).is_file() and path not in all_names():
                found.setdefault(path, [])
                found[path] += [page] if page not in found[path] else []
    return found


def source_id(name):
    return "source_" + re.sub(r"\W", "_", name)


def head_comment(name):
    """What the first comment of a source says, as one paragraph."""
    text = re.sub(r"\A#!.*\n", "", (ROOT / name).read_text()).lstrip()
    found = re.match(r"/\*(.*?)\*/|\"\"\"(.*?)\"\"\"|((?:(?://|#(?!include)).*\n)+)", text, re.DOTALL if text[:2] != "//" and text[:1] != "#" else 0)
    lines = next(filter(None, found.groups()), "").partition("\n//\n")[0] if found else ""
    return " ".join(re.sub(r"(?m)^ *(//|#|\*) ?", "", lines).split())


def source_page(name):
    """A page with the whole text of a file."""
    language = LANGUAGES.get(pathlib.PurePath(name).suffix, ".txt")
    pages = [f"[{title_of(page)}]({page_id(page)}.html)" for page in sources()[name]]
    above = "; ".join((["[all examples](examples.html)"] if name in examples() else []) + (["see " + ", ".join(pages)] if pages else []))
    return f"# {name} {{#{source_id(name)}}}\n\n{above}\n\n~~~~~{{{language}}}\n{(ROOT / name).read_text()}\n~~~~~\n"


def list_of_examples():
    """The page that lists the examples, by folder."""
    text, folder = f"# Examples {{#{EXAMPLES}}}\n\nAfter `./dev build` the programs are in `build/examples/`. The tests run all of them.\n", None
    for name in examples():
        path = pathlib.PurePath(name)
        if path.parent != folder:
            folder = path.parent
            text += f"\n## {folder} {{#{EXAMPLES}_{re.sub(chr(92) + 'W', '_', str(folder))}}}\n\n| | |\n|---|---|\n"
        first = escape(re.match(r".*?(?:[.?](?= )|$)", head_comment(name))[0]).replace("|", "\\|")
        text += f"| [{path.name}]({source_id(name)}.html) | {first} |\n"
    return text


# --- a statement that uses a name ---

LONGEST = 12  # lines


def statement_at(lines, at):
    """The statement that line `at` is in, without what is around it, and below the declaration of a variable what follows in its block; None
    if it is too long."""
    begin = at
    while begin and re.search(r"[^;{}:>\s]$|[^;]>$", lines[begin - 1]) and not lines[begin - 1].lstrip().startswith(("//", "#")):
        begin -= 1
    depth = 0
    for end in range(begin, min(begin + LONGEST, len(lines))):
        code = re.sub(r"//.*|\"(\\.|[^\"\\])*\"|'(\\.|[^'\\])'", "", lines[end])
        depth += sum(map(code.count, "([{")) - sum(map(code.count, ")]}"))
        if depth <= 0 and re.search(r"[;}]\s*$", code):
            break
    else:
        return None
    indent = len(lines[begin]) - len(lines[begin].lstrip())
    if begin == end and re.match(r" *(?:const )?fj::\w+(?:<.*>)? \w+(?:\(.*\)|\{.*\})?;", lines[begin]):
        inside = re.compile(rf" {{{indent}}}\S| {{{indent + 1}}}")
        rest = list(itertools.takewhile(inside.match, lines[begin + 1:begin + LONGEST]))
        while rest and sum(line.count(left) - line.count(right) for line in rest for left, right in ("()", "{}", "[]")) != 0:
            rest.pop()
        end += len(rest)
    return "\n".join(line[indent:] for line in lines[begin:end + 1])


@functools.cache
def uses():
    """For each name of fj and of fj::mpi that examples use: the programs, and the statement to show: of the first program that has a short one."""
    found = {}
    for name in examples():
        lines = (ROOT / name).read_text().splitlines()
        for at, line in enumerate(lines):
            for used in re.findall(r"\bfj::((?:mpi::)?\w+)", line.partition("//")[0]):
                programs, shown = found.setdefault(used, ([], None))
                if name not in programs:
                    programs.append(name)
                if shown is None and (text := statement_at(lines, at)):
                    found[used] = (programs, (name, text))
    return found


# What calls a member of such a name need not be an fj's; nor in these programs, which do everything with another library, too.
BOTH = {f"examples/moving/{name}.cpp" for name in ("boost_fiber", "onetbb", "standard")}
COMMON = {"begin", "clear", "end", "get", "join", "lock", "run", "size", "swap", "unlock", "value", "wait"}


def uses_of_member(of, name):
    """As uses, of a member function of fj::`of`: in the programs that use the class."""
    programs, shown = [], None
    for program in uses().get(of, ([], None))[0] if name not in COMMON else ():
        if program in BOTH:
            continue
        lines = (ROOT / program).read_text().splitlines()
        for at, line in enumerate(lines):
            if re.search(rf"\w(?:\.|->){name}\(", line.partition("//")[0]):
                programs += [program] if program not in programs else []
                if shown is None and (text := statement_at(lines, at)):
                    shown = (program, text)
    return programs, shown


def example_of(programs, shown):
    """Lines of a docstring: the statement that uses a name, and links to the programs that do."""
    if not programs:
        return []
    lines = ["@par Example"]
    if shown:
        lines += ["@code{.cpp}", *shown[1].splitlines(), "@endcode"]
        programs = [shown[0]] + [other for other in programs if other != shown[0]]
    listed = ", ".join(f'@ref {source_id(program)} "{program.removeprefix("examples/")}"' for program in programs[:4])
    return [*lines, f"{'From' if shown else 'In'} {listed}{' and others' if len(programs) > 4 else ''}."]


# --- the filter ---


def filter_page(name):
    here, pages, folder, seen = page_id(name), all_names(), pathlib.PurePath(name).parent, {}

    def link(found):
        if re.match(r"\w+:", found["target"]):
            return found[0]
        path, _, anchor = found["target"].partition("#")
        path = os.path.normpath(folder / path) if path else name
        if found["image"]:
            return f'<img src="{pathlib.PurePath(path).name}" alt="{html.escape(found["label"])}"/>'
        if path.endswith(".hpp") and path in pages:
            return f"[{found['label']}](@ref {group_id(path)})"
        if path in pages:
            return f"[{found['label']}]({page_id(path)}.html{'#' + page_id(path) + '_' + anchor if anchor else ''})"
        if path in sources():
            return f"[{found['label']}]({source_id(path)}.html)"
        if path.split("/")[0] == EXAMPLES and path != COURSE:
            return f"[{found['label']}]({EXAMPLES}.html)"
        return found["label"]  # the site has no such file

    def heading(found):
        marks, text = found.groups()
        anchor = f"{here}_{slug(text, seen)}"
        if marks == "#":
            return f"# {text} {{#{'mainpage' if name == MAIN else here}}}"
        # The navigation would list the first page's sections before all other pages.
        return f'{marks} <a id="{anchor}"></a>{text}' if name == MAIN else f"{marks} {text} {{#{anchor}}}"

    def span(found):  # Doxygen takes ::name for a link, also in code, and a quote for the end of the code
        if not re.search(r"(?<![\w>])::|'", found[0]):
            return found[0]
        inner = re.sub(r"[\\@#%]|::", r"\\\g<0>", found[0].strip("`"))
        return f"<code>{html.escape(inner, quote=False)}</code>"

    def prose(text):
        text = re.sub(SPAN, span, change_links(text, link))
        text = re.sub(r"(?m)^(#+) +(.*)", heading, text)
        return re.sub(r"(?m)^( *)(\d+)\. ", r"\1\2. item-number-\2 ", text)  # Doxygen forgets it, see finish

    text = re.sub(rf"{SPAN}|<!--.*?-->", lambda found: found[0] if found["ticks"] else "", (ROOT / name).read_text())
    return outside(BLOCK, text, prose)


def escape(text):
    """Of a docstring: prose means what it says. Code in backticks stays as it is."""
    return outside(SPAN, text, lambda part: re.sub(r"[\\<>*&@#%]", r"\\\g<0>", part).replace("... ", "...\\ "))


def share_docstrings(text):
    """A declaration directly below another one, without an empty line, has the docstring of that one, too."""
    lines, docstring = [], []
    for line in text.splitlines():
        indent = re.match(" *", line)[0]
        if line.startswith(indent + "///"):
            docstring = (docstring if docstring and lines[-1] == docstring[-1] else []) + [line]
        elif not line:
            docstring = []
        elif docstring and re.match(indent + r"\w", line) and re.match(indent + r"\S(.*[;}])?$", lines[-1]):
            lines += docstring if docstring[0].startswith(indent + "///") else []
        lines.append(line)
    return "\n".join(lines) + "\n"


def add_examples(text, names, within=""):
    """Adds an example to the first docstring of each of these names of fj::`within`, and of each member function of these classes."""
    done = set()

    def add(found):
        docstring, declaration = found.groups()
        lines = []
        for name in names:
            here = rf"\b(?:class|struct|using) (?:\[\[.*\]\] )?{name}\b|(?<![:\w.]){name}\("
            if name not in done and re.search(here, declaration):
                done.add(name)
                lines += example_of(*uses().get(within + name, ([], None)))
        return docstring + "".join(f"/// {line}".rstrip() + "\n" for line in ([""] if lines else []) + lines) + declaration

    def add_to_members(block):
        def add_to_member(found):
            docstring, declaration = found.groups()
            name = re.search(r"(?<![:\w.~])(\w+)\(", declaration)
            if not name or name[1] == block[1] or (block[1], name[1]) in done:
                return found[0]
            done.add((block[1], name[1]))
            lines = example_of(*uses_of_member(within + block[1], name[1]))
            return docstring + "".join(f"  /// {line}".rstrip() + "\n" for line in ([""] if lines else []) + lines) + declaration

        return re.sub(r"(?m)^((?:  ///(?!<).*\n)+)((?:  template <.*\n(?:    .*\n)*)?  [^/\s}][^;{]*[;{])", add_to_member, block[0])

    text = re.sub(r"(?m)^((?:///(?!<).*\n)+)((?:template <.*\n(?: .*\n)*)?[^/\n][^;{]*[;{])", add, text)
    return re.sub(r"(?ms)^(?:class|struct) (?:\w+ )?(\w+)(?: final)?(?: :[^{]*)? \{\n.*?^\};", add_to_members, text)


def filter_header(name):
    text = library_headers.without_detail_alone((ROOT / name).read_text())
    text, _, _ = text.rpartition("}}  // namespace fj")  # what follows is in other libraries' namespaces
    if not text:
        return ""
    text = re.sub(r"(?m)^#(.*\\\n)*.*\n", "", text)
    text = re.sub(r"(?ms)^namespace detail \{\n([^{}]*\}$|.*?^\}  // namespace detail$)", "", text)
    text = re.sub(r"(?m)^( *///<? ?)(?!    )(.*)$", lambda line: line[1] + escape(line[2]), text)
    text = re.sub(r"(?s)\[\[.*?\]\]\s*", "", text)
    text = re.sub(r"(?m)^ *(?!//|\w+:)[^\s}](?:[^;{}/]|\{\}|/(?!/))*= delete;.*\n", "", text)
    # A requires clause, by clang-format: a line that is indented by two more, and those below it that are indented further.
    text = re.sub(r"(?m)^( *)(template .*(?:\n\1 {3,}\S.*)*)\n\1  requires\b.*(?:\n\1 {3,}\S.*)*", r"\1\2", text)
    for inner, plain in PLAIN.items():
        text = text.replace(inner, plain)
    text = re.sub(r"(?m)^ *(template .*\n *)?friend (?!bool).*\n", "", text)
    text = share_docstrings(re.sub(r"(?m)^( *)friend bool", r"\n\1bool", text))
    text = add_examples(text, library_headers.declared(name), library_headers.within(name))
    begin, end = f"/// @addtogroup {group_id(name)}\n/// @{{", "/// @}"
    text = re.sub(r"(?ms)^(namespace (\w+) \{)$(.*?)^(\}  // namespace \2)$", rf"\1\n{begin}\3{end}\n\4", text)  # a group ends with it
    return re.sub(r"namespace fj \{ inline namespace \w+ \{", f"namespace fj {{\n{begin}", text) + f"{end}\n}}\n"


# --- the site ---


def title_of(name):
    return html.escape(re.search(r"(?m)^# +(.*)", (ROOT / name).read_text())[1].replace("`", ""))


def layout():
    """The navigation: the pages by their titles, then the reference."""
    tabs = '<tab type="mainpage" visible="yes" title="forkjoin"/>\n'
    for section, names in contents().items():
        if names[0].endswith(".hpp"):
            continue
        tabs += f'<tab type="usergroup" url="[none]" title="{section}">\n'
        for name in names:
            tabs += f'<tab type="user" url="@ref {page_id(name)}" title="{title_of(name)}"/>\n'
        tabs += "</tab>\n"
    tabs += f'<tab type="user" url="@ref {EXAMPLES}" title="Examples"/>\n'
    tabs += '<tab type="modules" visible="yes" title="Reference" intro=" "/>\n'
    return f'<doxygenlayout version="1.0">\n<navindex>\n{tabs}</navindex>\n</doxygenlayout>\n'


def groups():
    """A group for each section of headers, with one for each header, which its first comment describes."""
    text = ""
    for section, names in contents().items():
        if names[0].endswith(".md"):
            continue
        outer = "part_" + re.sub(r"\W+", "_", section.lower())
        text += f"/** @defgroup {outer} {section} */\n"
        for name in names:
            head = re.sub(r"(?m)^// ?", "", re.match(r"(?:// ?.*\n)+", (ROOT / name).read_text())[0]).strip()
            include = name if name.startswith("forkjoin/") else "forkjoin/forkjoin.hpp"
            text += f"/** @defgroup {group_id(name)} {pathlib.PurePath(name).stem}\n@ingroup {outer}\n"
            text += f"{escape(head)}\n\n`#include <{include}>`\n*/\n"
    return text


def places_of_names(tags):
    """Where the site has each name: {"fj::scope": "group__header__scope.html#...", ...}"""
    places = {}
    for compound in ElementTree.parse(tags).getroot():
        name, is_class = compound.findtext("name"), compound.get("kind") in ("class", "struct")
        if is_class:
            places[name] = compound.findtext("filename")
        for member in compound.iter("member"):
            inner = f"{name if is_class else 'fj'}::{member.findtext('name').removeprefix('fj::')}"
            places.setdefault(inner, f"{member.findtext('anchorfile')}#{member.findtext('anchor')}")
    return places


def finish(text, places):
    """A page as Doxygen wrote it, with links from names to the reference, and with lists that go on after other text."""
    text = re.sub(r"<ol[^>]*>(?=\s*<li>(?:\s*<p[^>]*>)?\s*item-number-(\d+) )", r'<ol start="\1">', text)
    text = re.sub(r"\bitem-number-\d+ ?", "", text)

    def link(found):
        return f'<a href="{places[found[0]]}">{found[0]}</a>' if found[0] in places else found[0]

    head, begin, body = text.partition('<div class="contents">')
    not_prose = r"(?s)<a .*?</a>|<h\d.*?</h\d>|<[^>]*>"
    return head + begin + outside(not_prose, body, lambda part: re.sub(r"\bfj::\w+(?:::\w+)?", link, part))


def add_next(output):
    """At the end of each page: the one before it and the one after it in the navigation, and of the first of a path the path's name."""
    names = [(None, MAIN)] + [(section, name) for section, names in contents().items() for name in names if name.endswith(".md")]
    for at, (section, name) in enumerate(names):
        links = []
        for other, rel, word in ((at - 1, "prev", "Previous"), (at + 1, "next", "Next")):
            if 0 <= other < len(names):
                path, neighbour = names[other]
                where = f"{path}: " if rel == "next" and path != section else ""
                links.append(f'<a rel="{rel}" href="{page_id(neighbour)}.html"><small>{word}</small> {where}{title_of(neighbour)}</a>')
        file = output / f"{page_id(name)}.html"
        text, marker = file.read_text(), "</div><!-- contents -->"
        assert marker in text, file
        file.write_text(text.replace(marker, f'<nav class="next">{"".join(links)}</nav>\n{marker}'))


def make(output):
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    images = {os.path.normpath(pathlib.PurePath(page).parent / target) for page in all_names() if page.endswith(".md")
              for is_image, target in links((ROOT / page).read_text()) if is_image and ":" not in target}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "layout.xml").write_text(layout())
        (work / "groups.dox").write_text(groups())
        made = {EXAMPLES: list_of_examples()} | {source_id(name): source_page(name) for name in sources()}
        for name, text in made.items():
            (work / f"{name}.md").write_text(text)
        (work / "filter").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" --filter "$1"\n')
        (work / "filter").chmod(0o755)
        settings = (HERE / "Doxyfile").read_text() + f"""
INPUT = {work}/groups.dox {' '.join(all_names())} {' '.join(f'{work}/{name}.md' for name in made)}
FILTER_PATTERNS = *.md={work}/filter *.hpp={work}/filter
LAYOUT_FILE = {work}/layout.xml
OUTPUT_DIRECTORY = "{output}"
HTML_EXTRA_FILES = {' '.join(sorted(images))}
GENERATE_TAGFILE = {work}/tags
"""
        version = subprocess.run(["doxygen", "--version"], text=True, stdout=subprocess.PIPE, check=True).stdout
        if [int(part) for part in re.findall(r"\d+", version)[:3]] >= [1, 9, 5]:
            settings += "HTML_COLORSTYLE = LIGHT\n"  # style.css makes it dark
        subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=ROOT, check=True)
        places = places_of_names(work / "tags")
    for page in output.glob("*.html"):
        page.write_text(finish(page.read_text(), places))
    add_next(output)


def main():
    if sys.argv[1] == "--filter":
        if not pathlib.Path(sys.argv[2]).resolve().is_relative_to(ROOT):
            return print(pathlib.Path(sys.argv[2]).read_text())  # made by `make`
        name = os.path.relpath(sys.argv[2], ROOT)
        sys.stdout.write(filter_page(name) if name.endswith(".md") else filter_header(name))
    else:
        make(pathlib.Path(sys.argv[1]).resolve())


if __name__ == "__main__":
    main()
