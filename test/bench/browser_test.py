"""The report's pages in a real browser: they render without errors, nothing is wider than a narrow screen, and in
pictures no text lies over another. Each check was tried with a page that breaks it. Skipped (status 77) without a browser,
or without the packages that make the pages."""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from report_test import SECTIONS, Data, command, made_up, made_up_simulation

BROWSER = next(filter(None,
                      map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"))),
               None)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--enable-logging=stderr"]

# The page within a frame of some width, and a script that writes what the test needs as JSON.
FRAME = """<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,"><pre id="found">nothing</pre>
<iframe id="frame" style="width:{width}px;height:800px;border:0" srcdoc="{page}"></iframe><script>
addEventListener("load", () => {{
  const page = document.getElementById("frame").contentDocument, root = page.documentElement;
  for (const details of page.querySelectorAll("details")) details.open = true;
  const cut = [];
  const shown = selector => [...page.querySelectorAll(selector)].filter(s => s.getBoundingClientRect().width > 0);
  for (const svg of shown("svg")) {{
    const around = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {{
      const box = text.getBoundingClientRect();
      const within = box.left >= around.left - 2 && box.right <= around.right + 2 && box.bottom <= around.bottom + 2;
      if (!within || box.width <= 0)
        cut.push(text.textContent + " in " + svg.getAttribute("aria-label"));
      for (const other of svg.querySelectorAll("text")) {{
        const near = other.getBoundingClientRect(), height = 0.6;  // of a line; the rest is room around the letters
        if (other !== text && box.left < near.right - 1 && near.left < box.right - 1 &&
            Math.abs(box.bottom - near.bottom) < height * box.height)
          cut.push(text.textContent + " over " + other.textContent + " in " + svg.getAttribute("aria-label"));
      }}
    }}
  }}
  const least = 0.9 * Math.min(360, {width} - 40);  // or the letters are too small to be read
  const plots = shown("svg.plot"), sections = [...page.querySelectorAll("section")];
  document.getElementById("found").textContent = JSON.stringify({{
    scroll: root.scrollWidth, client: root.clientWidth, cut: cut, sections: sections.map(s => s.id),
    heights: sections.map(s => s.getBoundingClientRect().height), plots: plots.length,
    wide: [...page.querySelectorAll(".scroll")].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.innerText.slice(0, 40)),
    small: plots.filter(s => s.getBoundingClientRect().width < least).length,
    first: plots[0].getBoundingClientRect().width / sections[0].getBoundingClientRect().width
  }});
}});
</script>"""


def browse(address, *flags):
    """The rendered page, and the text of the browser's console."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        done = subprocess.run([BROWSER, *FLAGS, f"--user-data-dir={profile}", *flags, address], capture_output=True,
                              text=True,
                              timeout=100)
    if done.returncode != 0:
        raise RuntimeError(f"{BROWSER} ended with status {done.returncode}:\n{done.stderr}")
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


class BrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(kept.cleanup)
        cls.folder = pathlib.Path(kept.name)
        report = made_up(procs=(1, 2, 4))
        report["others"] = [made_up() | {"environment": {"compiler": "clang 19"}}]
        misses = [{"kernel": "fib", "size": 30, "way": way, "instructions": 10**9, "d1": 10**6, "ll": 0} for way in ("serial", "tasks")]
        command.write(Data(report, made_up_simulation(), misses), cls.folder)

    def look(self, page, width):
        frame = self.folder / f"frame-{width}-{page}"
        frame.write_text(FRAME.format(width=width, page=html.escape((self.folder / page).read_text())))
        dom, console = browse(frame.as_uri(), "--dump-dom")
        self.assertEqual(console, [])
        found = re.search(r'<pre id="found">(.*?)</pre>', dom, re.S)
        self.assertIsNotNone(found, dom[:500])
        return json.loads(html.unescape(found.group(1)))

    def test_pages_fit_narrow_and_wide_screens(self):
        for page, sections in SECTIONS.items():
            for width in (390, 1280):
                with self.subTest(page=page, width=width):
                    found = self.look(page, width)
                    self.assertEqual(found["sections"], sections)
                    self.assertGreater(min(found["heights"]), 40)
                    self.assertLessEqual(found["scroll"], found["client"])
                    self.assertEqual(found["cut"], [])
                    self.assertGreater(found["plots"], 5)
                    self.assertEqual(found["small"], 0)
                    if page == command.OVERVIEW:  # its first plot uses the page
                        self.assertGreater(found["first"], 0.9)
                    if width == 390:
                        self.assertEqual(found["wide"], [])  # a table stands as cards there, and no part of it is hidden

    def test_pictures_are_images_of_their_own(self):
        names = sorted(file.name for file in self.folder.glob("*.svg"))
        page = self.folder / "pictures.html"
        page.write_text('<!DOCTYPE html><link rel="icon" href="data:,"><pre id="found"></pre>'
                        + "".join(f'<img src="{n}">' for n in names) +
                        "<script>addEventListener('load', () => {document.getElementById('found').textContent = "
                        "[...document.images].filter(i => i.naturalWidth !== 360).map(i => i.src).join() || 'all'})"
                        "</script>")
        dom, console = browse(page.as_uri(), "--dump-dom")
        self.assertEqual(console, [])
        self.assertIn('<pre id="found">all</pre>', dom)


if __name__ == "__main__":
    if not BROWSER:
        print("no chromium or google-chrome is installed: not looked at")
        sys.exit(77)
    unittest.main()
