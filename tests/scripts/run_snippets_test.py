#!/usr/bin/env python3
"""run_snippets.py runs what it should run, and notices what is wrong."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUN = Path(__file__).resolve().parents[2] / "tools" / "run_snippets.py"


class Snippets(unittest.TestCase):
    def verdict(self, text):
        with tempfile.TemporaryDirectory() as folder:
            document = Path(folder) / "a document.md"
            document.write_text(text, encoding="utf-8")
            result = subprocess.run([sys.executable, str(RUN), "/bin/echo", str(document)],
                                    capture_output=True, text=True)
            return result.returncode, result.stdout

    def assert_good(self, text, ran):
        code, output = self.verdict(text)
        self.assertEqual(code, 0, output)
        self.assertIn(f"{ran} commands", output)

    def assert_bad(self, text, words):
        code, output = self.verdict(text)
        self.assertEqual(code, 1, output)
        self.assertIn(words, output)

    def test_output_is_compared_exactly(self):
        self.assert_good("```console\n$ ./flyball one\none\n$ ./flyball two\ntwo\n```\n", 2)
        self.assert_bad("text\n```console\n$ ./flyball one\none \n```\n", ".md:3: $ ./flyball one")

    def test_output_may_be_left_out(self):
        self.assert_good("```console\n$ ./flyball one\n\n```\n", 1)

    def test_missing_and_extra_lines_are_noticed(self):
        self.assert_bad("```console\n$ ./flyball one\none\ntwo\n```\n", "not the one in the document")
        self.assert_bad("```console\n$ printf 'one\\ntwo\\n'\none\n```\n", "not the one in the document")

    def test_dots_stand_for_any_number_of_lines(self):
        for shown in ("1\n...\n9", "...", "...\n9", "1\n...", "1\n2\n...\n3\n...\n9"):
            self.assert_good(f"```console\n$ seq 9\n{shown}\n```\n", 1)
        self.assert_bad("```console\n$ seq 9\n1\n...\n8\n```\n", "not the one")

    def test_exit_code_is_zero_unless_announced(self):
        self.assert_bad("```console\n$ false\n```\n", "got exit code 1, expected 0")
        self.assert_good("```console\n$ (exit 2)  # exit 2\n```\n", 1)
        self.assert_bad("```console\n$ true  # exit 2\n```\n", "got exit code 0, expected 2")

    def test_other_blocks_are_left_alone(self):
        self.assert_good("```console no-run\n$ false\n```\n```sh\n$ false\n```\n```\n$ false\n```\n", 0)

    def test_mistyped_tag_is_noticed(self):
        self.assert_bad("```console norun\n$ false\n```\n", "expected ```console or ```console no-run")

    def test_block_without_command_is_noticed(self):
        self.assert_bad("```console\n./flyball one\n```\n", "expected '$ ' and a command")

    def test_backslash_continues_a_command(self):
        self.assert_good("```console\n$ ./flyball one \\\n    two\none two\n```\n", 1)

    def test_stderr_counts_as_output(self):
        self.assert_bad("```console\n$ echo one; echo two >&2\none\n```\n", "not the one")

    def test_later_commands_see_files_of_earlier_ones(self):
        self.assert_good("```console\n$ echo one > a.txt\n```\n```console\n$ cat a.txt\none\n```\n", 2)

    def test_block_in_a_list_is_indented(self):
        self.assert_good("* item\n  ```console\n  $ ./flyball one\n  one\n  ```\n", 1)


if __name__ == "__main__":
    unittest.main()
