#!/usr/bin/env python3
"""The scripts in examples/ run, and what they show is so.

usage: examples_test.py PROGRAM
"""
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = str(Path(sys.argv.pop(1)).resolve())


def run(script, *flags, folder=None):
    environment = {**os.environ, "FLYBALL": PROGRAM, "LC_ALL": "C.UTF-8"}
    return subprocess.run([str(ROOT / "examples" / script), *map(str, flags)], cwd=folder, env=environment,
                          capture_output=True, text=True)


def peri_ln_time(n, beta, cosine):
    """When n orthonormal tokens reach a cosine under Peri-LN: the reduced law as the dynamics paper has it.

    gamma' = G/(s Z) and r' = <theta, A>/|A| with s = r |A|, by Runge and Kutta's method with small steps.
    """
    def velocity(gamma, r):
        q = math.exp(beta * (gamma - 1))  # everything over e^beta
        z = 1 + (n - 1) * q
        length = math.sqrt(1 + 2 * (n - 1) * gamma * q + (n - 1) * (1 + (n - 2) * gamma) * q * q) / z
        along = (1 + (n - 1) * gamma * q) / z
        return 2 * q * (1 - gamma) * (1 + (n - 1) * gamma) / (r * length * z), along / length

    t, gamma, r, step = 0.0, 0.0, 1.0, 0.01
    while gamma < cosine:
        a = velocity(gamma, r)
        b = velocity(gamma + step / 2 * a[0], r + step / 2 * a[1])
        c = velocity(gamma + step / 2 * b[0], r + step / 2 * b[1])
        d = velocity(gamma + step * c[0], r + step * c[1])
        gamma += step / 6 * (a[0] + 2 * b[0] + 2 * c[0] + d[0])
        r += step / 6 * (a[1] + 2 * b[1] + 2 * c[1] + d[1])
        t += step
    return t


class Examples(unittest.TestCase):
    def test_every_example_is_here_and_says_what_it_shows(self):
        listed = (ROOT / "examples/README.md").read_text(encoding="utf-8")
        scripts = [path for path in (ROOT / "examples").iterdir() if path.name != "README.md"]
        self.assertEqual(len(scripts), 3)
        for script in scripts:
            self.assertIn(f"[{script.name}]({script.name})", listed)
            self.assertIn("Shows: ", "\n".join(script.read_text(encoding="utf-8").splitlines()[:3]))
            self.assertIn(script.name, Path(__file__).read_text(encoding="utf-8"))

    def test_freezing_beta_is_where_the_reduced_law_takes_the_whole_depth(self):
        result = run("freezing_beta.py", "--scheme", "peri-ln", "--tokens", "64", "--depth", "20")
        self.assertEqual(result.returncode, 0, result.stderr)
        (beta,) = re.search(r"freezes +([0-9.]+)\n", result.stdout).groups()
        self.assertLess(peri_ln_time(64, float(beta) - 0.03, 0.9), 20)
        self.assertGreater(peri_ln_time(64, float(beta) + 0.03, 0.9), 20)
        column = [line.split()[1] for line in result.stdout.splitlines()[2:15]]
        self.assertEqual(column, ["."] * (12 - int(float(beta))) + ["#"] * (1 + int(float(beta))), result.stdout)

    def test_the_gate_passes_a_good_block_and_refuses_a_bad_one(self):
        with tempfile.TemporaryDirectory() as folder:
            block = Path(folder) / "block.txt"
            block.write_text("x + dt*norm(f(norm(x))) | norm(x)\n", encoding="utf-8")
            quick = ("--depth", "4", "--steps", "10")
            good = run("check_in_ci.sh", block, *quick)
            self.assertEqual(good.returncode, 0, good.stdout + good.stderr)
            self.assertIn("x + dt*norm(f(norm(x))) | norm(x): stable", good.stdout)
            block.write_text("x + dt*norm(f(norm(x))/sqrt(t+1)) | norm(x)\n", encoding="utf-8")
            bad = run("check_in_ci.sh", block, *quick)
            self.assertEqual(bad.returncode, 1, bad.stdout + bad.stderr)
            self.assertIn(f"::error file={block},title=scale-removed-by-norm::", bad.stdout)
            block.write_text("x + dt*nrom(f(x))\n", encoding="utf-8")
            wrong = run("check_in_ci.sh", block, *quick)
            self.assertEqual(wrong.returncode, 2, wrong.stdout + wrong.stderr)
            self.assertIn("did you mean norm?", wrong.stderr)

    def test_the_drawn_angles_are_those_of_the_run(self):
        with tempfile.TemporaryDirectory() as folder:
            made = subprocess.run([PROGRAM, "simulate", "peri-ln", "post-ln", "--tokens", "8", "--start", "symmetric",
                                   "--beta", "1", "--out", f"{folder}/run"], capture_output=True, text=True)
            self.assertEqual(made.returncode, 0, made.stderr)
            result = run("plot_a_run.py", "run", "angle.svg", folder=folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            # Orthonormal tokens; Post-LN has collapsed at t = 10; Peri-LN is where the reduced law takes ten units.
            peri, post = result.stdout.splitlines()
            self.assertRegex(peri, r"^peri-ln: 90\.00 degrees at t = 0, ")
            self.assertRegex(post, r"^post-ln: 90\.00 degrees at t = 0, 0\.\d\d at t = 10$")
            angle = float(re.search(r", ([0-9.]+) at t = 10$", peri).group(1))
            self.assertAlmostEqual(peri_ln_time(8, 1.0, math.cos(math.radians(angle))), 10, delta=0.05)
            svg = (Path(folder) / "angle.svg").read_text(encoding="utf-8")
            self.assertEqual(svg.count("<polyline"), 2)
            self.assertEqual(len(re.search(r'points="([^"]+)"', svg).group(1).split()), 51)


if __name__ == "__main__":
    unittest.main()
