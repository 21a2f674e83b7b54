#!/usr/bin/env python3
"""tools/switched.py and tools/switched_tree.py: mistakes behind numbers, compiled and run; and which tests are asked about one."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import mutations  # noqa: E402
import switched  # noqa: E402
import switched_tree  # noqa: E402

SOURCE = r'''#include <cstdio>
#define BRACE {
namespace a {
constexpr int table[] = {1, 2};
struct Pair {
    int first = 1;
    int sum() const { return first + 1; }  // } and {
};
double mean(double sum, double count) {
    const auto half = [](double x) { return x / 2; };
    if (count < 0) { return half('{'); }
    return sum / count;
}
const char* raw() { return R"x({ "}" )x"; }
constexpr int fixed(int x) { switch (x) { default: return x + 1; } }
template <typename T> auto twice(T x) -> T { return 2 * x; }
}
int main() { std::printf("%g %g %d %s %d %d\n", a::mean(6, 2), a::mean(6, -1), a::Pair().sum(), a::raw(), a::fixed(a::table[1]), a::twice(4)); }
'''
MISTAKES = [("no-division", "sum / count", "sum"), ("a-third", "x / 2", "x / 3"), ("sum-is-first", "first + 1", "first"),
            ("raw-differs", '"}"', '"]"'), ("thrice", "2 * x", "3 * x"),
            ("a-table", "{1, 2}", "{1, 3}"), ("a-default", "first = 1", "first = 2"), ("a-constant-function", "x + 1", "x + 2")]


def switched_file():
    return switched.SwitchedFile("a.cpp", SOURCE, MISTAKES)


class Files(unittest.TestCase):
    def test_a_number_chooses_the_mistake_and_the_functions_gone_through_are_told(self):
        compiler = shutil.which("g++") or shutil.which("c++")
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            one = switched_file()
            (folder / "a.cpp").write_text(one.written())
            (folder / "runtime.cpp").write_text(switched.RUNTIME)
            subprocess.run([compiler, "-std=c++20", folder / "a.cpp", folder / "runtime.cpp", "-o", folder / "a"], check=True)

            def says(which):
                number = switched.number_of(MISTAKES[which - 1][0]) if which else 0
                return subprocess.run([folder / "a"], env={**os.environ, "FLYBALL_PLANTED": str(number)}, capture_output=True, text=True, check=True).stdout
            self.assertEqual(says(0), '3 61.5 2 { "}"  3 8\n')
            self.assertEqual(says(1), '6 61.5 2 { "}"  3 8\n')
            self.assertEqual(says(2), '3 41 2 { "}"  3 8\n')
            self.assertEqual(says(3), '3 61.5 1 { "}"  3 8\n')
            self.assertEqual(says(4), '3 61.5 2 { "]"  3 8\n')
            self.assertEqual(says(5), '3 61.5 2 { "}"  3 12\n')
            log = folder / "log"
            subprocess.run([folder / "a"], env={**os.environ, "FLYBALL_REACHED": str(log), "FLYBALL_REACHED_BY": "A.B"}, stdout=subprocess.DEVNULL, check=True)
            name, milliseconds, *reached = next(folder.glob("log.*")).read_text().split()
            self.assertEqual((name, milliseconds), ("A.B", "-1"))
            self.assertEqual(sorted(map(int, reached)), sorted(one.functions))
            self.assertEqual(len(reached), 4)  # mean, sum, raw, twice

    def test_what_stands_in_no_function_is_left_for_planting_alone(self):
        self.assertEqual(switched_file().alone, ["a-table", "a-default", "a-constant-function"])
        self.assertEqual(list(switched_file().functions), [])

    def test_a_new_mistake_changes_no_number_and_no_place_of_others(self):
        fewer = switched.SwitchedFile("a.cpp", SOURCE, MISTAKES[1:])
        text, more = fewer.written(), switched_file()
        more.written()
        self.assertTrue(set(fewer.functions) <= set(more.functions))
        self.assertIn(f"flyball_planted == {switched.number_of('thrice')})", text)
        self.assertEqual(len({switched.number_of(m.name) for m in mutations.load()}), len(mutations.load()))

    def test_an_error_is_blamed_on_the_copy_it_is_in_and_else_on_all(self):
        one = switched_file()
        text = one.written().splitlines()

        def line_of(words, which=0):
            return [i for i, line in enumerate(text, 1) if words in line][which]
        self.assertEqual(one.blamed({line_of("return sum;")}), {"no-division"})
        self.assertEqual(one.blamed({line_of("x / 3")}), {"a-third"})
        self.assertEqual(one.blamed({line_of("x / 2", -1)}), {"no-division", "a-third"})  # the body as it should be
        self.assertEqual(one.blamed({1}), {name for name, _, _ in MISTAKES[:5]})
        one.drop({"a-third"})
        self.assertNotIn("x / 3", one.written())
        self.assertIn("a-third", one.alone)


    def test_headers_are_switched_and_what_runs_before_all_constructors_is_not(self):
        class Mistake:
            def __init__(self, file):
                self.name, self.file, self.old, self.new = file, file, "return 1;", "return 2;"
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "a.hpp").write_text("#pragma once\ninline int one() { return 1; }\n")
            (folder / "b.cpp").write_text('int one() { return 1; }\n__attribute__((section(".preinit_array"))) int (*first)() = one;\n')
            (folder / "c.ts").write_text("function one() { return 1; }\n")
            files = switched.switch_all([Mistake(name) for name in ("a.hpp", "b.cpp", "c.ts")], folder)
        self.assertEqual([file.file for file in files], ["a.hpp"])
        self.assertIn("return 2;", files[0].written())
        self.assertEqual(list(files[0].functions.values()), [["a.hpp"]])


class Asked(switched_tree.SwitchedTree):
    """A tree of one module with two tests; remembers what was asked, and lets the test `red` notice."""

    def __init__(self, red):
        self.by_module = {"measure": ["flyball_test_measure"]}
        self.function_of = {"mistake": 4}
        self.reached = {switched_tree.Run("flyball_test_measure"): switched_tree.Reached({"A.One": 1, "A.Two": 2}, {4: {"A.One"}})}
        self.red, self.asked = red, []

    def ask(self, m, run, tests):
        self.asked.append(tests)
        return switched_tree.Red(run, self.red) if self.red in tests or (self.red and not tests) else None


class Tests(unittest.TestCase):
    def test_what_nothing_that_comes_through_has_noticed_is_asked_of_the_whole_module(self):
        class Mistake:
            name, module, asks = "mistake", "measure", None
        for red, asked in (("A.One", [["A.One"]]), ("A.Two", [["A.One"], []]), ("", [["A.One"], []])):
            tree = Asked(red)
            self.assertEqual(tree.first_red_of(Mistake, True, None) is not None, bool(red))
            self.assertEqual(tree.asked, asked)

    LOG = "* -1 9\nA.* -1 5\nA.One 1500 1\nA.Two 3 1 2\nB.Three 30000 1\nB.Three -1 7\n"

    def test_what_is_done_before_tests_belongs_to_each_of_them(self):
        reached = switched_tree.Reached.read(self.LOG)
        self.assertEqual(reached.tests, {9: {"A.One", "A.Two", "B.Three"}, 5: {"A.One", "A.Two"}, 1: {"A.One", "A.Two", "B.Three"}, 2: {"A.Two"}, 7: {"B.Three"}})

    def test_quick_tests_are_asked_first_and_those_that_noticed_before_them(self):
        reached = switched_tree.Reached.read(self.LOG)
        self.assertEqual(reached.chunks(1, set()), [["A.Two", "A.One"], ["B.Three"]])
        self.assertEqual(reached.chunks(1, {"B.Three"}), [["B.Three"], ["A.Two", "A.One"]])
        self.assertEqual(reached.chunks(3, set()), [])


if __name__ == "__main__":
    unittest.main()
