"""trace_page_test.py PROGRAM: the page of a trace in a real browser: it zooms, searches, goes from theft to theft, fits a narrow screen, and
draws 100,000 events in time. Skipped (status 77) without a browser.

Tried with a page whose wheel does nothing, with a search that matches nothing, and with a table wider than the screen: each fails."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from html import escape, unescape

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "runtime/trace/tool"))
sys.dont_write_bytecode = True
PROGRAM = str(pathlib.Path(sys.argv.pop()).resolve())

import page  # noqa: E402
from reader import Event, File  # noqa: E402
from story import Story  # noqa: E402

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"))), None)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync",
         "--disable-dev-shm-usage", "--virtual-time-budget=20000", "--dump-dom"]
FRAME_MS = 100  # a frame of 100,000 events on a busy machine without a graphics card; some 10 to 30 where it is quiet

# What a person does; the page then says what came of it.
SCRIPT = """
<script>
addEventListener('load', () => {
  const found = {errors: []}, view = document.getElementById('view');
  try {
    const span = () => { const [b, e] = trace.view(); return e - b; };
    const key = k => document.dispatchEvent(new KeyboardEvent('keydown', {key: k, bubbles: true}));
    const lanes = document.getElementById('lanes');
    found.begin = trace.view(); found.working = trace.data.working; found.private = document.querySelectorAll('#vain tr').length;
    key('0'); found.whole = span();
    lanes.dispatchEvent(new WheelEvent('wheel', {deltaY: -300, bubbles: true, cancelable: true, clientX: 300}));
    found.afterWheel = span();
    key('+'); found.afterKey = span();
    const before = trace.view()[0]; key('ArrowRight'); found.moved = trace.view()[0] - before;
    key('0'); found.afterAll = span();
    key('n'); found.theft = trace.picked(); found.about = document.getElementById('about').textContent;
    const first = trace.picked(); key('n'); found.nextTheft = trace.picked() !== first || trace.data.steals.length < 2;
    const search = document.getElementById('search');
    search.value = 'main'; search.dispatchEvent(new Event('input')); found.search = document.getElementById('found').textContent;
    search.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true})); found.searched = trace.data.names[trace.data.strands[trace.picked()][0]];
    search.value = 'no such thing'; search.dispatchEvent(new Event('input')); found.nothing = document.getElementById('found').textContent;
    search.value = ''; search.dispatchEvent(new Event('input'));
    const link = document.querySelector('#joins [data-strand]');
    if (link) { link.click(); found.linked = trace.picked() === +link.dataset.strand; }
    const pointers = (type, id, x) => lanes.dispatchEvent(new PointerEvent(type, {pointerId: id, clientX: x, clientY: lanes.getBoundingClientRect().top + 10, bubbles: true}));
    lanes.setPointerCapture = () => {};
    trace.show(0, trace.data.end, true);
    pointers('pointerdown', 1, 200); pointers('pointerdown', 2, 260); pointers('pointermove', 2, 330); pointers('pointerup', 1, 200); pointers('pointerup', 2, 330);
    found.pinched = span();
    trace.show(0, trace.data.end, true);
    const began = performance.now();
    for (let i = 0; i < 10; ++i) trace.drawNow();
    found.frame = (performance.now() - began) / 10;
    found.events = trace.data.runs.length;
    found.scroll = document.documentElement.scrollWidth; found.client = document.documentElement.clientWidth;
    found.rows = document.querySelectorAll('#sites tr').length;
    setTimeout(() => { found.link = location.hash; out(); }, 600);
  } catch (error) { found.errors.push(String(error)); out(); }
  function out() { const pre = document.createElement('pre'); pre.id = 'result'; pre.textContent = JSON.stringify(found); document.body.append(pre); }
});
addEventListener('error', e => { const pre = document.createElement('pre'); pre.id = 'result'; pre.textContent = JSON.stringify({errors: [String(e.message)]}); document.body.append(pre); });
</script>"""


FRAME = """<!doctype html><meta charset="utf-8"><iframe id="frame" style="width:{width}px;height:800px;border:0" srcdoc="{page}"></iframe><script>
setInterval(() => {{
  const made = document.getElementById('frame').contentDocument.getElementById('result');
  if (made && !document.getElementById('result')) document.body.append(made.cloneNode(true));
}}, 50);
</script>"""


def many(file, times):
    """The file's events that many times over, one copy after another."""
    span = file.end - file.begin + 1000
    file.events = [Event(event.at + i * span, *event[1:]) for i in range(times) for event in file.events]
    file.end += span * (times - 1)
    return file


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.trace = pathlib.Path(cls.kept.name) / "trace"
        subprocess.run([PROGRAM, "scope", "2"], env={**os.environ, "FORKJOIN_TRACE": str(cls.trace), "FORKJOIN_MEMBARRIER": "0"}, check=True,
                       stdout=subprocess.DEVNULL, timeout=60)

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def browse(self, story, width=1280):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            html = pathlib.Path(folder) / "page.html"
            text = page.made(story).replace("</html>", SCRIPT + "</html>")
            if width < 500:  # Headless Chromium has no narrower window
                text = FRAME.format(width=width, page=escape(text))
            html.write_text(text)
            command = [BROWSER, *FLAGS, f"--user-data-dir={folder}/profile", f"--window-size={max(width, 500)},900", html.as_uri()]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        result = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.S)
        self.assertTrue(result, done.stdout[-2000:] + done.stderr[-2000:])
        found = json.loads(unescape(result[1]))
        self.assertEqual(found["errors"], [])
        return found

    def test_what_a_person_does(self):
        found = self.browse(Story(File(self.trace)))
        for at, end in zip(found["begin"], found["working"]):
            self.assertAlmostEqual(at, end, delta=100)
        self.assertLess(found["afterWheel"], 0.9 * found["whole"])
        self.assertLess(found["afterKey"], 0.6 * found["afterWheel"])
        self.assertGreater(found["moved"], 0)
        self.assertAlmostEqual(found["afterAll"], found["whole"], delta=1)
        self.assertGreaterEqual(found["theft"], 0)
        self.assertIn("stolen", found["about"])
        self.assertTrue(found["nextTheft"])
        self.assertRegex(found["search"], r"^\d+ strands")
        self.assertIn("main", found["searched"])
        self.assertEqual(found["nothing"], "none")
        self.assertTrue(found.get("linked", True))
        self.assertLess(found["pinched"], 0.95 * found["whole"])
        self.assertRegex(found["link"], r"^#t=\d+,\d+&s=\d+$")
        self.assertGreater(found["rows"], 1)

    def test_private_forks(self):
        """Each such search is a row and a black line. Tried with a table that is not filled."""
        trace = self.trace.with_name("private")
        subprocess.run([PROGRAM, "private", "2"], env={**os.environ, "FORKJOIN_TRACE": str(trace)}, check=True, stdout=subprocess.DEVNULL, timeout=60)
        story = Story(File(trace))
        found = self.browse(story)
        self.assertEqual(found["private"], 1 + min(max(len(story.vain), 1), page.LONGEST))

    def test_a_narrow_screen(self):
        found = self.browse(Story(File(self.trace)), 390)
        self.assertLessEqual(found["scroll"], found["client"])

    def test_many_events(self):
        file = File(self.trace)
        times = 100_000 // len(file.events) + 1
        found = self.browse(Story(many(file, times)))
        print(f"{len(file.events):,} events, {found['events']:,} runs: {found['frame']:.1f} ms a frame")
        self.assertLess(found["frame"], FRAME_MS)


if __name__ == "__main__":
    if not BROWSER:
        print("no browser")
        sys.exit(77)
    unittest.main()
