"""mutate.py applies a patch to the one place where its old lines are, and otherwise fails: mutate_test.py <mutate.py>

Tried with the check that the lines are found once taken out of mutate.py: the patches that must not apply do.
"""

import pathlib
import subprocess
import sys
import tempfile

mutate = sys.argv[1]
FILES = {
    "model.cpp": '#include <atomic>\n#include "part.hpp"\n#include "other.hpp"\nint main() {}\n',
    "part.hpp": '#pragma once\n#include "inner/changed.hpp"\n',
    "inner/changed.hpp": "#pragma once\nint a = 1;  // told in\n// words\nint b =\n    2;\nint c = 3;\nint c = 3;\n",
    "other.hpp": "#pragma once\n",
    "strange.hpp": "int a = 1;\n",
}

with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder).resolve()
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)

    def run(target, *lines):
        """The mutant's text, or the script's complaint about the patch."""
        patch = root / "bug.patch"
        patch.write_text("\n".join(["Bug: one.", "", f"--- a/{target}", f"+++ b/{target}", "@@ -70,3 +70,3 @@", *lines, ""]))
        done = subprocess.run([sys.executable, mutate, root, root / "model.cpp", root / "out.cpp", root / "out.d", patch],
                              capture_output=True, text=True)
        return (root / "out.cpp").read_text() if done.returncode == 0 else "failed: " + done.stderr

    def expect(answer, *words):
        print(answer)
        for word in words:
            if word not in answer:
                sys.exit(f"does not say: {word}")

    # Neither the line number, nor the comments, nor the line break in the middle are as in the file.
    changed = run("inner/changed.hpp", " int a = 1;  // in other words", "-int b = 2;", "+int b = 4;", " int c = 3;")
    expect(changed, "int a = 1;", "int b = 4;", "#include <atomic>", f'#include "{root}/other.hpp"')
    if "#pragma once" in changed or "2;" in changed:
        sys.exit("the old text is still there")
    expect((root / "out.d").read_text(), "bug.patch", "inner/changed.hpp", "other.hpp")

    expect(run("inner/changed.hpp", "-int b = 5;", "+int b = 4;"), "failed:", "0 times", "int b = 5;")
    expect(run("inner/changed.hpp", "-int c = 3;", "+int c = 4;"), "failed:", "2 times", "int c = 3;")
    expect(run("strange.hpp", "-int a = 1;", "+int a = 2;"), "failed:", "does not include strange.hpp")
    expect(run("gone.hpp", "-int a = 1;", "+int a = 2;"), "failed:", "no file gone.hpp")
