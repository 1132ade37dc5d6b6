"""The site of ./dev docs: site.py <make_site.py>

Doxygen warns of nothing, each link leads to a file and to an anchor that are there, nothing comes from the network, the
navigation begins with the first path of `contents`, each page leads to the next one, the search finds each name that a header of `contents`
declares, and none that users must not touch. The site has the whole text of each example, no name of one stands unlinked in a page, and
each function has an example in the reference.

Tried: if the filter leaves links between pages, fj::detail, attributes, constraints or the second line of an #error as they are, and with a
header missing in `contents`, this test fails. So it does if add_next leaves out the last page, if the page of a source has its first lines alone,
without the links from pages to sources, and without examples/withdrawals.cpp, the only example of fj::explore.
"""

import html
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

sys.dont_write_bytecode = True
import library_headers  # noqa: E402

sys.path.insert(0, str(pathlib.Path(sys.argv[1]).parent))
import make_site  # noqa: E402


class page(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.loaded = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        link = given.get("href") or given.get("src")
        if link and re.match(r"\w+:", link):
            self.loaded += [link] if tag != "a" and not link.startswith("javascript:") else []
        elif link:
            self.links.append(link)


if not shutil.which("doxygen"):
    print("Doxygen is not installed: not checked")
    sys.exit(77)
breaches = []
with tempfile.TemporaryDirectory() as folder:
    site = pathlib.Path(folder) / "site"
    done = subprocess.run([sys.executable, sys.argv[1], site], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0 or done.stdout:
        breaches.append(f"Doxygen ends with {done.returncode} and warns:\n{done.stdout}")
    pages = {file.name: page(file.read_text()) for file in site.glob("*.html")}
    found = set()
    for name, text in ((file.name, file.read_text()) for file in site.glob("search/all_*.js")):
        for link in re.findall(r"'\.\./([^']+)'", text):
            pages.setdefault(f"search/{name}", page("")).links.append(f"../{link}")
        for name, its in re.findall(r"(?m)^ *\['\w+',\['(\w+)',(.*)\]\]", text):
            found.update(f"{inner}{name}" for inner in ("", "mpi::") if re.search(rf",1,'fj(?:::|(?=['&])){inner.removesuffix('::')}", its))
    for name, of in pages.items():
        breaches += [f"{name}: {link} comes from the network" for link in of.loaded]
        for link in set(of.links):
            path, _, anchor = urllib.parse.unquote(link).partition("#")
            other = (site / name).parent / path if path else site / name
            if not other.resolve().exists():
                breaches.append(f"{name}: {link}: no such file")
            elif anchor and anchor not in pages[other.resolve().relative_to(site.resolve()).as_posix()].anchors:
                breaches.append(f"{name}: {link}: no such anchor")
    for name in re.findall(r'(?m)^ *\[ "[^"]*", "([^"#]+)', (site / "navtreedata.js").read_text()):
        if name not in pages:
            breaches.append(f"the navigation has {name}")
    sections = re.findall(r'(?m)^    \[ "([^"]*)"', (site / "navtreedata.js").read_text())
    if sections[0] != next(iter(make_site.contents())):
        breaches.append(f"the navigation begins with {sections}")
    ordered = [name for name in make_site.all_names() if name.endswith(".md")]
    for name, after in zip(ordered, ordered[1:]):
        if f'rel="next" href="{make_site.page_id(after)}.html"' not in (site / f"{make_site.page_id(name)}.html").read_text():
            breaches.append(f"{name} does not lead to {after}")
    for name in make_site.sources():
        shown = {line.strip() for line in html.unescape(re.sub("<[^>]*>", "", (site / f"{make_site.source_id(name)}.html").read_text())).splitlines()}
        lacks = [line for line in (make_site.ROOT / name).read_text().splitlines() if line.strip() not in shown]
        breaches += [f"the page of {name} lacks {line}" for line in lacks]
    for name in ordered:
        for is_image, target in make_site.links((make_site.ROOT / name).read_text()):
            path = os.path.normpath(pathlib.PurePath(name).parent / target.partition("#")[0])
            if path in make_site.sources() and f"{make_site.source_id(path)}.html" not in pages[f"{make_site.page_id(name)}.html"].links:
                breaches.append(f"{name} does not link {path}")
    reference = "".join(file.read_text() for file in site.glob("*.html") if re.match("(group|class|struct)_", file.name))
    functions = {library_headers.within(header) + name for header in make_site.all_names() if header.endswith(".hpp")
                 for name, kind in library_headers.declared(header).items() if kind == "function"}
    breaches += [f"no example uses fj::{name}" for name in sorted(functions - set(make_site.uses()))]
    if (there := reference.count("<dt>Example</dt>")) < len(functions):
        breaches.append(f"the reference has {there} examples, for {len(functions)} functions")
    names = {library_headers.within(header) + name for header in make_site.all_names() if header.endswith(".hpp")
             for name in library_headers.declared(header)}
    if len(names) < 100:
        breaches.append(f"only {len(names)} names: are they declared in another way now?")
    breaches += [f"the search does not find {name}" for name in sorted(names - found)]
    for file in site.glob("*.html"):
        if re.match("(group|class|struct)_", file.name):
            hidden = re.findall(r"detail::\w+|gnu::\w+|\bv\d_\d\b|= delete", re.sub("<[^>]*>", "", file.read_text()))
            breaches += [f"{file.name} shows {what}" for what in set(hidden)]
print("\n".join(breaches))
print(f"{len(pages)} pages, {sum(len(of.links) for of in pages.values())} links, {len(found)} names")
sys.exit(1 if breaches else 0)
