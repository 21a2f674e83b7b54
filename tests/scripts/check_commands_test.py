#!/usr/bin/env python3
"""check_commands.py misses nothing that a command lacks, and is content when it has everything."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "tools" / "check_commands.py"
PROGRAM = """#!/bin/sh
if [ "$1" = spin ]; then echo 'flags:'; echo '  --out DIR   a folder'; exit; fi
printf 'A program.\\n\\ncommands:\\n  spin    turns\\n\\nflags:\\n  --help   this page\\n'
"""
WHOLE = {
    "tests/cli/spin_test.cpp": 'TEST(Spin, Json) { run("--json"); EXPECT_EQ(outcome.exit, 2); }',
    "tests/faults/faults_test.py": 'folder("spin", [])',
    "docs/spin.md": "`flyball spin` turns",
    "README.md": "`flyball spin`",
}


class Commands(unittest.TestCase):
    def gaps(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            program = Path(folder) / "program"
            program.write_text(PROGRAM, encoding="utf-8")
            program.chmod(0o755)
            result = subprocess.run([sys.executable, str(CHECK), str(program), folder], capture_output=True, text=True)
            self.assertEqual(result.returncode, 1 if result.stdout else 0, result.stderr)
            return result.stdout.splitlines()

    def test_a_whole_command_has_no_gaps(self):
        self.assertEqual(self.gaps(WHOLE), [])

    def test_everything_that_is_missing_is_named(self):
        for name, words in {"tests/cli/spin_test.cpp": "no tests", "docs/spin.md": "no page", "README.md": "does not name",
                            "tests/faults/faults_test.py": "no scenario"}.items():
            with self.subTest(name):
                found = self.gaps({**WHOLE, name: ""})
                self.assertEqual(len(found), 1, found)
                self.assertIn("spin: ", found[0])
                self.assertIn(words, found[0])

    def test_tests_without_json_or_errors_are_named(self):
        test = WHOLE["tests/cli/spin_test.cpp"]
        self.assertIn("JSON", self.gaps({**WHOLE, "tests/cli/spin_test.cpp": test.replace("--json", "")})[0])
        self.assertIn("errors", self.gaps({**WHOLE, "tests/cli/spin_test.cpp": test.replace("2", "0")})[0])


if __name__ == "__main__":
    unittest.main()
