#!/usr/bin/env python3
"""tools/mutations.py: what it says of a list that has gone stale, and what a commit chooses."""
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import mutations  # noqa: E402
import planting  # noqa: E402


def planted(name, old, file="src/core/random.cpp", new="other"):
    return mutations.Mutation((name, file, old, new), False)


def ended(out, err=""):
    return subprocess.CompletedProcess([], 1, out, err)


BY_MODULE = {m: [f"flyball_test_{m}"] for m in planting.MAY_INCLUDE}


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

    def test_half_of_them_are_blind(self):
        known = [m for m in mutations.load() if not m.blind]
        self.assertIn(f"0 of {len(known)} mistakes are of someone who has not seen the tests", "\n".join(mutations.breaches(known)))
        self.assertNotIn("expected half", said())


class Choice(unittest.TestCase):
    def test_a_commit_always_chooses_the_same_and_another_one_others(self):
        all_of_them = mutations.load()
        chosen = [m.name for m in mutations.pick(all_of_them, 3, "abc")]
        self.assertEqual(chosen, [m.name for m in mutations.pick(list(reversed(all_of_them)), 3, "abc")])
        self.assertEqual(len(set(chosen)), 3)
        self.assertNotEqual(chosen, [m.name for m in mutations.pick(all_of_them, 3, "abd")])

    def test_own_tests_come_first_and_users_after_them(self):
        runs = [run.program for run in planting.runs_for("attention", BY_MODULE, False)]
        self.assertEqual(runs[:2], ["flyball_test_attention", "flyball_test_attention"])  # the second without AVX2
        self.assertLess(runs.index("flyball_test_claims"), runs.index("flyball_test_cli"))
        self.assertNotIn("flyball_test_theory", runs)

    def test_whom_a_mistake_names_comes_first_and_alone_where_only_its_own_are_asked(self):
        for asks, program in (("faults", planting.FAULT_WALK), ("cli", "flyball_test_cli")):
            self.assertEqual(planting.runs_for("core", BY_MODULE, True, asks), [planting.Run(program)])
            runs = [run.program for run in planting.runs_for("core", BY_MODULE, False, asks)]
            self.assertEqual(runs[:2], [program, "flyball_test_core"])
            self.assertEqual(runs.count(program), 1)


class Memory(unittest.TestCase):
    def test_a_line_says_who_noticed_a_mistake(self):
        for line, run in (("a flyball_test_core Random.Is/3", planting.Run("flyball_test_core", False, "Random.Is/3")),
                          ("a flyball_test_scheme+plain S.T", planting.Run("flyball_test_scheme", True, "S.T")),
                          ("a flyball_faults", planting.Run("flyball_faults"))):
            self.assertEqual(mutations.run_of_line(line), ("a", run))
            self.assertEqual(mutations.line_of_run("a", run), line)

    def test_the_test_that_noticed_it_is_asked_first_and_everything_else_after_it(self):
        m = planted("m", "x", file="src/core/csv.cpp")
        m.neighbours = {"m", "n"}
        all_of_them = planting.runs_for("core", BY_MODULE, False)
        one = planting.Run("flyball_test_core", False, "Random.IsUniform")
        self.assertEqual(mutations.runs_of(m, BY_MODULE, False, {"m": one, "n": one}), [one, *all_of_them])
        first, *others = mutations.runs_of(m, BY_MODULE, False, {"n": one, "far": planting.Run("flyball_test_core", False, "Far.Away")})
        self.assertEqual(others, all_of_them)
        self.assertEqual(first.program, "flyball_test_core")
        self.assertEqual(first.test.split(":")[0], "Random.IsUniform")
        self.assertIn("Csv.*", first.test)  # tests/core/csv_test.cpp
        self.assertNotIn("Far.Away", first.test)

    def test_what_is_written_down_is_read_again_and_no_longer_untried(self):
        with tempfile.TemporaryDirectory() as folder:
            names = [m.name for m in mutations.load()[:3]]
            with mock.patch.multiple(mutations, NOTICED=pathlib.Path(folder) / "n", UNTRIED=pathlib.Path(folder) / "u"):
                mutations.UNTRIED.write_text(f"{names[0]}\n{names[1]}\n")
                mutations.write_down({names[0]: planting.Run("p", False, "S.T"), "gone": planting.Run("p")})
                mutations.write_down({names[2]: planting.Run("q", True)})
                self.assertEqual(mutations.noticed(), {names[0]: planting.Run("p", False, "S.T"), names[2]: planting.Run("q", True)})
                self.assertEqual(mutations.untried(), [names[1]])
                mutations.write_down({names[1]: planting.Run("p")})
                self.assertFalse(mutations.UNTRIED.exists())


class Verdict(unittest.TestCase):
    def test_a_walk_of_faults_that_does_not_run_is_not_red(self):
        walk = planting.Run(planting.FAULT_WALK)
        self.assertEqual(planting.what_is_red(walk, ended("force kill:17: taken up: ['extra: a']\n1 faults\n")).words,
                         "faults: force kill:17: taken up: ['extra: a']")
        self.assertIn("in peace", planting.what_is_red(walk, ended("", "AssertionError: x in peace: 1")).words)
        with self.assertRaises(planting.NoAnswer):
            planting.what_is_red(walk, ended("", "ValueError: not enough values to unpack"))

    def test_the_test_that_failed_or_was_running_at_a_crash_is_named(self):
        run = planting.Run("flyball_test_core", False, "A.*:B.*")
        begun = "[ RUN      ] A.One\n[       OK ] A.One (0 ms)\n[ RUN      ] B.Two\n"
        self.assertEqual(planting.what_is_red(run, ended(f"{begun}[  FAILED  ] B.Two (0 ms)\n")).run.test, "B.Two")
        self.assertEqual(planting.what_is_red(run, ended(begun)).run.test, "B.Two")
        self.assertEqual(planting.what_is_red(run, ended("")).run.test, "")


if __name__ == "__main__":
    unittest.main()
