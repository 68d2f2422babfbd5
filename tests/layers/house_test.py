"""tools/house --check: this tree keeps every limit, and a tree that passes one is told where."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def check(folder):
    return subprocess.run([sys.executable, ROOT / "tools/house", "--check", folder], capture_output=True, text=True)


class House(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for path in ("README.md", "CONTRIBUTING.md", "docs/page.md", "src/room/a.cpp", "include/vernier/a.hpp"):
            self.write(path, "one line\n")

    def write(self, path, text):
        file = Path(self.folder.name) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def expect(self, *words):
        outcome = check(self.folder.name)
        self.assertEqual(outcome.returncode, 1, outcome.stderr)
        self.assertEqual(len(outcome.stdout.splitlines()), 1, outcome.stdout)
        for word in words:
            self.assertIn(word, outcome.stdout)

    def test_this_tree_keeps_every_limit(self):
        outcome = check(ROOT)
        self.assertEqual((outcome.returncode, outcome.stdout), (0, ""), outcome.stdout + outcome.stderr)

    def test_a_tree_at_every_limit_passes(self):
        for i in range(32):
            self.write(f"src/room/{i}.cpp", "x\n" * 400)
        self.write("src/room/a.hpp", "x\n")
        self.write("src/room/a_cuda.hpp", "x\n")
        self.write("include/vernier/a.hpp", "// x\n" * 15)
        for i in range(3):
            self.write(f"docs/{i}.md", "x\n" * 600)
        self.write("docs/page.md", "x\n" * 599 + "`src/room/a.cpp` and `src/room/*.cpp`\n")
        outcome = check(self.folder.name)
        self.assertEqual((outcome.returncode, outcome.stdout), (0, ""), outcome.stdout + outcome.stderr)

    def test_what_the_data_decide(self):
        self.write("docs/decisions.md", "## What the data decide\n`chosen()` and `lost()` choose.\n## Else\n`other()`\n")
        self.write("src/room/a.cpp", "int chosen();\n")
        self.expect("docs/decisions.md: lost() decides nothing: src does not have it")

    def test_files_of_a_folder(self):
        for i in range(35):
            self.write(f"src/room/{i}.cpp", "x\n")
        self.expect("src/room: 36 files, at most 35")

    def test_lines_of_a_source(self):
        self.write("src/room/a.cpp", "x\n" * 401)
        self.expect("src/room/a.cpp: 401 lines, at most 400")

    def test_lines_of_a_public_comment(self):
        self.write("include/vernier/a.hpp", "int x;\n" + "// x\n" * 16)
        self.expect("include/vernier/a.hpp:2: a comment of 16 lines, at most 15")

    def test_headers_of_a_twin(self):
        self.write("src/room/a_cuda.hpp", "x\n")
        self.expect("src/room/a_cuda.hpp: there is no a.hpp")

    def test_lines_of_a_page(self):
        self.write("docs/page.md", "x\n" * 601)
        self.expect("docs/page.md: 601 lines, at most 600")

    def test_lines_of_all_pages(self):
        for i in range(4):
            self.write(f"docs/{i}.md", "x\n" * 600)
        self.expect("docs: 2401 lines, at most 2400")

    def test_what_is_there_once(self):
        self.write("src/room/a.cpp", '"the native product was asked for"\n' * 2)
        self.expect("src: planners: 2, at most 1")

    def test_sides_written_twice(self):
        self.write("src/room/a.cpp", "take(a, 1);\ntake(b, 1);\n" * 31)
        self.expect("src: adjacent lines that differ in a / b alone: 61, at most 60")

    def test_parameters_of_internal_functions(self):
        eight, nine = ", ".join(["int x"] * 8), ", ".join(["int x"] * 9)
        self.write("src/room/a.cpp", f"void f({eight}) {{}}\n" + f"void g({nine}) {{}}\n")
        self.expect("src: functions above 8 parameters: 1, at most 0")

    def test_paths_that_a_page_names(self):
        self.write("README.md", "see `src/room/b.cpp`\n")
        self.expect("README.md:1: src/room/b.cpp does not exist")


if __name__ == "__main__":
    unittest.main()
