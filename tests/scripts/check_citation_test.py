#!/usr/bin/env python3
"""check_citation.py passes the tree as it is, and notices what is wrong."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Citation(unittest.TestCase):
    def verdict(self, old="", new=""):
        """Of a copy of the tree in which a text of CITATION.cff was replaced."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "docs").mkdir()
            for name in ("CITATION.cff", "CMakeLists.txt", "LICENSE", "docs/claims.md"):
                shutil.copy(ROOT / name, root / name)
            text = (root / "CITATION.cff").read_text(encoding="utf-8")
            self.assertIn(old, text)
            (root / "CITATION.cff").write_text(text.replace(old, new, 1), encoding="utf-8")
            result = subprocess.run([sys.executable, str(ROOT / "tools/check_citation.py"), folder],
                                    capture_output=True, text=True)
            return result.returncode, result.stdout

    def assert_bad(self, old, new, words):
        code, output = self.verdict(old, new)
        self.assertEqual(code, 1, output)
        self.assertIn(words, output)

    def test_the_tree_passes(self):
        code, output = self.verdict()
        self.assertEqual(code, 0, output)

    def test_a_missing_key_is_noticed(self):
        self.assert_bad('title: "Flyball', 'titel: "Flyball', "no 'title'")

    def test_another_version_of_the_format_is_noticed(self):
        self.assert_bad("cff-version: 1.2.0", "cff-version: 1.1.0", "expected 1.2.0")

    def test_another_version_than_the_programs_is_noticed(self):
        self.assert_bad("\nversion: 0", "\nversion: 99", "expected that of CMakeLists.txt")

    def test_an_unknown_paper_is_noticed(self):
        self.assert_bad("2510.22026", "2510.22062", "docs/claims.md knows no")
        self.assert_bad("family-names: Ge\n", "family-names: Gee\n", "docs/claims.md knows no")

    def test_an_author_without_a_name_is_noticed(self):
        self.assert_bad('  - name: "The', '  - nome: "The', "an author without a name")

    def test_what_is_no_yaml_is_noticed(self):
        self.assert_bad("type: software", "type software", "line 3: got 'type software'")
        self.assert_bad("type: software", "type: a: b", "line 3: got 'a: b'")
        self.assert_bad("type: software", "type: software\ntype: dataset", "line 4: a second 'type'")
        self.assert_bad("  - transformers", "\t- transformers", "nothing below")
        self.assert_bad("    year", "   year", "indented by 3")


if __name__ == "__main__":
    unittest.main()
