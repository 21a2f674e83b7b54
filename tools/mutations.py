#!/usr/bin/env python3
"""Makes deliberate mistakes, one at a time, in a copy of the tree and checks that the scheme tests turn red.

By hand, not part of ./test: each mistake is a build. docs/decisions/0003 has the last result.
usage: tools/mutations.py [NAME...]
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# name, file, text that must occur, what replaces its first occurrence
MUTATIONS = [
    ("nothing-changed", "README.md", "", ""),  # must survive: the tests are green to begin with
    ("peri-ln-without-inner-norm", "src/scheme/catalogue.cpp",
     '"x + dt*norm(f(norm(x))) | norm(x)"', '"x + dt*norm(f(x)) | norm(x)"'),
    ("pre-ln-on-raw-stream", "src/scheme/catalogue.cpp", '"x + dt*f(norm(x)) | norm(x)"', '"x + dt*f(x) | norm(x)"'),
    ("ln-scaling-on-output", "src/scheme/catalogue.cpp",
     '"x + dt*f(norm(x)/sqrt(t+1)) | norm(x)"', '"x + dt*f(norm(x))/sqrt(t+1) | norm(x)"'),
    ("deepnorm-wrong-power", "src/scheme/catalogue.cpp", "where a = (2*L)^0.25", "where a = (2*L)^0.5"),
    ("mix-ln-branches-swapped", "src/scheme/catalogue.cpp",
     "depth <= tau ? norm(x + dt*f(x)) : x + dt*f(norm(x))", "depth <= tau ? x + dt*f(norm(x)) : norm(x + dt*f(x))"),
    ("drop-1/r", "src/scheme/row_kernels_body.inl",
     "const Real inverse = scale.inverse / scale.largest;", "const Real inverse = 1;"),
    ("radius-without-projection", "src/scheme/row_kernels_body.inl",
     "out[k] = (v[k] - mean - u[k] * along) * inverse;", "out[k] = (v[k] - mean) * inverse;"),
    ("radius-from-sum-of-r-times-A", "src/scheme/row_kernels_body.inl",
     "const Real along = dot_of(u, v, dim) / divisor;",
     "const Real along = dot_of(u, v, dim) / divisor / scale.inverse;"),
    ("velocity-without-N0", "src/scheme/rows.cpp",
     "targets<Real>(nullptr, &slopes), {},", "targets<Real>(nullptr, &middle_slope_), {},"),
    ("f-slope-taken-for-zero", "src/scheme/plan.cpp",
     "out.slope = !takes_limit(run) ? Part::zero : Part::unknown;", "out.slope = Part::zero;"),
    ("slope-of-coefficient-forgotten", "src/scheme/row_machine.cpp",
     "if (!c.slope_zero && source(t).primal", "if (false && source(t).primal"),
    ("plane-without-projection", "src/scheme/plane.cpp", "v += -dot(u, x.slope, n) * u;", ""),
    ("plane-length", "src/scheme/plane.cpp", "(x.a / n + x.b) * std::sqrt(n))", "x.b * std::sqrt(n))"),
    ("reverse-forgets-gain", "src/scheme/row_kernels_body.inl",
     "v[k] = map.gain == nullptr ? g[k] : g[k] * map.gain[k];", "v[k] = g[k];"),
    ("reverse-ignores-detach", "src/scheme/reverse.cpp", "if (!ones && !term.detached) {", "if (!ones) {"),
    ("reverse-skips-zero-gates", "src/scheme/reverse.cpp", "Run::record", "Run::values"),
    ("learned-shared-by-sub-layers", "src/scheme/lower.cpp",
     "return shift_learned(e, instance_ * static_cast<int>(program_.learned().size()));", "return e;"),
    ("layer-time-off-by-one", "src/scheme/environment.hpp", "(number - 1) * dt", "number * dt"),
    ("depth-from-zero", "src/scheme/environment.hpp", "number / count", "(number - 1) / count"),
    ("block-input-is-embedding", "src/scheme/lower.cpp",
     "bound_[block_input_variable] = bound_[x_variable];", "bound_[block_input_variable] = bound_[embedding_variable];"),
    ("printer-drops-parentheses", "src/scheme/printer.cpp", "print_at(b, term_level)", "print_at(b, sum_level)"),
    ("power-left-associative", "src/scheme/printer.cpp", "print_at(a, primary_level), print_at(b, sign_level)",
     "print_at(a, power_level), print_at(b, sign_level)"),
]


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def main():
    chosen = [m for m in MUTATIONS if not sys.argv[1:] or m[0] in sys.argv[1:]]
    survived = []
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("build", ".git"))
        build = pathlib.Path(folder) / "build"
        run("cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", check=True)
        for name, file, old, new in chosen:
            source = tree / file
            text = source.read_text()
            if old not in text:
                sys.exit(f"{name}: the text to change is not in {file}")
            source.write_text(text.replace(old, new, 1))
            built = run("ninja", "-C", build, "-j2", "flyball_test_scheme")
            if built.returncode != 0:
                sys.exit(f"{name}: does not compile\n{built.stdout}")
            tests = run(build / "tests/flyball_test_scheme", "--gtest_brief=1", cwd=folder)
            source.write_text(text)
            count = len(re.findall(r"^\[  FAILED  \]", tests.stdout, re.M))
            print(f"{'red' if tests.returncode else 'green':6} {name}: {count} tests failed", flush=True)
            if (tests.returncode == 0) != (name == "nothing-changed"):
                survived.append(name)
    sys.exit(1 if survived else 0)


if __name__ == "__main__":
    main()
