#!/usr/bin/env python3
"""check_layering.py finds what it should find, and nothing else."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "tools" / "check_layering.py"


class Layering(unittest.TestCase):
    def verdict(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
            result = subprocess.run([sys.executable, str(CHECK), folder], capture_output=True, text=True)
            return result.returncode, result.stdout

    def assert_breach(self, name, text, words):
        code, output = self.verdict(name, text)
        self.assertEqual(code, 1, output)
        self.assertIn(words, output)

    def assert_clean(self, name, text):
        code, output = self.verdict(name, text)
        self.assertEqual(code, 0, output)

    def test_upward_include_is_found_with_its_line(self):
        self.assert_breach("src/core/a.cpp", '\n#include "scheme/program.hpp"\n', "src/core/a.cpp:2: includes")

    def test_sideways_include_is_found(self):
        self.assert_breach("src/theory/a.cpp", '#include "dynamics/run.hpp"\n', "theory may include core, scheme")

    def test_own_and_transitive_includes_are_fine(self):
        self.assert_clean("src/limits/a.cpp",
                          '#include "limits/a.hpp"\n#include "core/error.hpp"\n#include "attention/mask.hpp"\n#include <vector>\n')
        self.assert_clean("src/claims/a.cpp", '#include "report/svg.hpp"\n#include "dynamics/run.hpp"\n')
        self.assert_clean("src/cli/a.cpp", '#include "train/run.hpp"\n')

    def test_include_without_module_is_found(self):
        self.assert_breach("src/core/a.cpp", '#include "error.hpp"\n', 'expected "module/file.hpp"')

    def test_unknown_module_is_found(self):
        self.assert_breach("src/misc/a.cpp", "\n", "no module")

    def test_printing_and_exiting_are_found(self):
        for line in ('std::cout << 1;', 'std::cerr << 1;', 'printf("x");', 'std::printf("x");', 'puts("x");',
                     'std::fprintf(stderr, "x");', 'fputs("x", stdout);', 'fmt::print("x");', 'fmt::print(stderr, "x");',
                     'std::exit(1);', 'exit(1);', 'std::abort();', 'abort();'):
            with self.subTest(line):
                self.assert_breach("src/scheme/a.cpp", line + "\n", "src/scheme/a.cpp:1: ")
                self.assert_clean("src/cli/a.cpp", line + "\n")

    def test_flags_in_messages_are_found(self):
        for line in ('fail("--dt 0", "a number");', 'throw Error(kind, where, "x", "y", "use fewer --threads");'):
            with self.subTest(line):
                self.assert_breach("src/dynamics/a.cpp", line + "\n", "src/dynamics/a.cpp:1: speaks of a flag")
                self.assert_clean("src/cli/a.cpp", line + "\n")
        self.assert_clean("src/model/a.cpp", '// --length\nname.replace(slash, 1, "--"); --start; auto s = "a--b";\n'
                          'style += fmt::format("--{}:{};", name, value);\n')

    def test_words_that_only_look_like_it_are_fine(self):
        self.assert_clean("src/scheme/a.cpp", '// exit(1) and std::cout\n/* puts("x") */ auto s = "abort() exit(";\n'
                          'assert(x);\nstd::snprintf(b, 3, "x");\nq.exit();\non_exit(1);\nExitCode exit_code(int);\n'
                          'auto r = R"(std::cout)";\nstatic_assert(true);\n')

    def test_fast_math_is_found(self):
        self.assert_breach("src/core/a.cpp", '#pragma GCC optimize("-ffast-math")\n', "fast-math")
        self.assert_clean("src/core/a.cpp", "// not under -ffast-math\n")
        self.assert_breach("src/CMakeLists.txt", "add_compile_options(-Ofast)\n", "fast-math")

    def test_long_file_is_found(self):
        self.assert_clean("src/core/a.cpp", "\n" * 450)
        self.assert_breach("src/core/a.cpp", "\n" * 451, "451 lines")


if __name__ == "__main__":
    unittest.main()
