#!/usr/bin/env python3
"""check_glossary.py finds the words, and notices one that is not explained.

usage: check_glossary_test.py PROGRAM
"""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = str(Path(sys.argv.pop(1)).resolve())
sys.path.insert(0, str(ROOT / "tools"))
import check_glossary  # noqa: E402


class Glossary(unittest.TestCase):
    def test_heads_are_the_cells_above_a_rule(self):
        table = "n = 4\n\nscheme  t(0.9)  at the end\n------  ------  ----------\npre-ln       1           2\n"
        self.assertEqual(list(check_glossary.heads_of(table)), ["scheme", "t(0.9)", "at the end"])
        self.assertEqual(list(check_glossary.heads_of("scheme  t\npre-ln  1\n")), [])
        self.assertEqual(check_glossary.numberless("t(0.99)"), check_glossary.numberless("t(0.5)"))

    def test_fields_are_found_at_any_depth(self):
        self.assertEqual(sorted(set(check_glossary.fields_of([{"a": {"b": [1, {"c": 2}]}, "W.0": {"d": 1}}]))),
                         ["a", "b", "c"])

    def test_words_of_sources_are_found(self):
        self.assertEqual(check_glossary.names_in('case Law::power:\n        return "power";\n case A::b: return "Not a word";'),
                         ["power"])
        self.assertEqual(check_glossary.findings_in('push_back({"no-residual-path", Severity::malformed, "x"}); '
                                                    '{{"weak-start", may ? Severity::note : Severity::caution}}; {"pre-ln", 1}'),
                         ["no-residual-path", "weak-start"])

    def test_explained_is_what_stands_in_backquotes_in_a_first_cell(self):
        self.assertEqual(check_glossary.first_cells("| `a`, `\\|s\\|` | `b` |\n`c`\n"), {"a", "|s|"})
        self.assertNotIn("hidden", check_glossary.quoted("```\nhidden `hidden`\n```\nword `{\"x\": []}`"))
        self.assertIn("x", check_glossary.quoted("```\nhidden\n```\nword `{\"x\": []}`"))

    def test_a_word_that_is_taken_out_is_missed(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            shutil.copytree(ROOT / "docs", root / "docs")
            for name in ("src", "tests"):
                (root / name).symlink_to(ROOT / name)
            for page, words in (("concepts", ("`collapse`", "`holds-corrected`", "`time_to_cosine`")),
                                ("check", ("`weak-early-movement`",))):
                path = root / f"docs/{page}.md"
                text = path.read_text(encoding="utf-8")
                for word in words:
                    self.assertIn(word, text)
                    text = text.replace(word, "taken out")
                path.write_text(text, encoding="utf-8")
            result = subprocess.run([sys.executable, str(ROOT / "tools/check_glossary.py"), PROGRAM, folder],
                                    capture_output=True, text=True)
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
            missed = result.stdout.splitlines()
            self.assertEqual(len(missed), 4, result.stdout)
            for word in ("'collapse'", "'holds-corrected'", "'time_to_cosine'", "'weak-early-movement'"):
                self.assertTrue(any(word in line for line in missed), result.stdout)


if __name__ == "__main__":
    unittest.main()
