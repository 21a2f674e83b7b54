#!/usr/bin/env python3
"""tools/mutations.py: what it says of a list that has gone stale, and what a commit chooses."""
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import mutations  # noqa: E402


def planted(name, old, file="src/core/random.cpp", new="other"):
    return mutations.Mutation((name, file, old, new), False)


def said(*more):
    return "\n".join(mutations.breaches(mutations.load() + list(more)))


class Lists(unittest.TestCase):
    def test_a_text_that_is_gone_or_there_twice_is_named(self):
        self.assertIn("a: its text occurs 0 times", said(planted("a", "no such text")))
        self.assertIn("b: its text occurs 0 times", said(planted("b", "text", file="src/core/gone.cpp")))
        self.assertRegex(said(planted("c", "std::")), r"c: its text occurs \d\d* times in src/core/random.cpp")

    def test_names_and_changes_are_checked(self):
        self.assertIn("d: it changes nothing", said(planted("d", "x", new="x")))
        named = mutations.Mutation(("e", "src/core/random.cpp", "x", "y", "nobody"), False)
        self.assertIn("e: it asks 'nobody', expected a module or 'faults'", said(named))
        first = mutations.load()[0]
        self.assertIn(f"{first.name}: there are two", said(first))

    def test_a_module_without_enough_mistakes_is_named(self):
        few = [m for m in mutations.load() if m.module != "scheme"]
        self.assertIn("scheme: 0 mistakes, expected at least 10", "\n".join(mutations.breaches(few)))


class Choice(unittest.TestCase):
    def test_a_commit_always_chooses_the_same_and_another_one_others(self):
        all_of_them = mutations.load()
        chosen = [m.name for m in mutations.pick(all_of_them, 3, "abc")]
        self.assertEqual(chosen, [m.name for m in mutations.pick(list(reversed(all_of_them)), 3, "abc")])
        self.assertEqual(len(set(chosen)), 3)
        self.assertNotEqual(chosen, [m.name for m in mutations.pick(all_of_them, 3, "abd")])

    def test_own_tests_come_first_and_users_after_them(self):
        runs = [program for program, _ in mutations.runs_for(
            "attention", {m: [f"flyball_test_{m}"] for m in mutations.MAY_INCLUDE}, False)]
        self.assertEqual(runs[:2], ["flyball_test_attention", "flyball_test_attention"])  # the second without AVX2
        self.assertLess(runs.index("flyball_test_claims"), runs.index("flyball_test_cli"))
        self.assertNotIn("flyball_test_theory", runs)

    def test_whom_a_mistake_names_comes_first_and_alone_where_only_its_own_are_asked(self):
        by_module = {m: [f"flyball_test_{m}"] for m in mutations.MAY_INCLUDE}
        for asks, program in (("faults", mutations.FAULT_WALK), ("cli", "flyball_test_cli")):
            self.assertEqual(mutations.runs_for("core", by_module, True, asks), [(program, {})])
            runs = [p for p, _ in mutations.runs_for("core", by_module, False, asks)]
            self.assertEqual(runs[:2], [program, "flyball_test_core"])
            self.assertEqual(runs.count(program), 1)


class Verdict(unittest.TestCase):
    def test_a_walk_of_faults_that_does_not_run_is_not_red(self):
        def done(out, err):
            return subprocess.CompletedProcess([], 1, out, err)

        said = mutations.what_is_red(mutations.FAULT_WALK, done("force kill:17: taken up: ['extra: a']\n1 faults\n", ""))
        self.assertEqual(said, "faults: force kill:17: taken up: ['extra: a']")
        self.assertIn("in peace", mutations.what_is_red(mutations.FAULT_WALK, done("", "AssertionError: x in peace: 1")))
        with self.assertRaises(SystemExit):
            mutations.what_is_red(mutations.FAULT_WALK, done("", "ValueError: not enough values to unpack"))


if __name__ == "__main__":
    unittest.main()
