"""The site of ./dev docs: site.py <make_site.py>

Doxygen warns of nothing, each link leads to a file and to an anchor that are there, nothing comes from the network, the
navigation begins with the guide, the search finds each name that a header of `contents` declares, and none that users must not touch.

Tried: if the filter leaves links between pages, fj::detail, attributes, constraints or the second line of an #error as they are, and with a
header missing in `contents`, this test fails.
"""

import html.parser
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
        found.update(re.findall(r"(?m)^ *\['\w+',\['(\w+)',.*,1,'fj['&:]", text))
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
    if sections[0] != "Guide":
        breaches.append(f"the navigation begins with {sections}")
    names = {name for header in make_site.all_names() if header.endswith(".hpp") for name in library_headers.declared(header)}
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
