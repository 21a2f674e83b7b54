#!/usr/bin/env python3
"""Shows: a phase diagram of freezing. At which beta do tokens stop gathering within the depth of a model?

beta is the contrast of attention (docs/concepts.md). For every number of tokens the script asks `flyball theory` for the
time at which the cosine between tokens reaches 0.9, over a list of beta. A cell is `#` where that is within the given
depth, and `.` where the tokens are frozen. Below stands the beta at which the one becomes the other, beside log(n).

    examples/freezing_beta.py --scheme peri-ln --tokens 128,512,2048 --depth 48

It takes some seconds. Only the standard library is needed. $FLYBALL names the program where it is not ./flyball.
"""
import argparse
import json
import math
import os
import subprocess
from pathlib import Path

PROGRAM = os.environ.get("FLYBALL", str(Path(__file__).resolve().parent.parent / "flyball"))
COSINE = "0.9"


def times(scheme, tokens, betas):
    """The time to the cosine for each beta; infinity where it is never reached."""
    command = [PROGRAM, "theory", scheme, "--tokens", str(tokens), "--cosine", COSINE, "--samples", "2", "--json",
               "--beta", ",".join(map(str, betas))]
    runs = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["runs"]
    found = [run["time_to_cosine"][0]["t"] for run in runs]
    return [math.inf if time is None else time for time in found]


def freezing_beta(scheme, tokens, depth, betas, found):
    """The beta at which the cosine is reached just at the end of the depth, to 0.01; none where no cell is frozen."""
    first = next((i for i, time in enumerate(found) if time > depth), None)
    if not first:
        return math.nan
    low, high = betas[first - 1], betas[first]
    while high - low > 0.02:
        inner = [low + (high - low) * k / 8 for k in range(9)]  # several at once: one start of the program
        moving = [time <= depth for time in times(scheme, tokens, inner)]
        first = moving.index(False)
        low, high = inner[first - 1], inner[first]
    return (low + high) / 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scheme", default="peri-ln")
    parser.add_argument("--tokens", default="128,512,2048", help="numbers of tokens, separated by commas")
    parser.add_argument("--depth", type=float, default=48.0, help="blocks of the model; one is a unit of time")
    flags = parser.parse_args()
    counts = [int(word) for word in flags.tokens.split(",")]

    betas = list(range(13))
    columns = [times(flags.scheme, tokens, betas) for tokens in counts]
    print(f"{flags.scheme}, depth {flags.depth:g}: does the cosine reach {COSINE}?")
    print("  beta  " + "".join(f"{f'n = {tokens}':>10}" for tokens in counts))
    for row in reversed(range(len(betas))):
        cells = ["#" if column[row] <= flags.depth else "." for column in columns]
        print(f"  {betas[row]:4}  " + "".join(f"{cell:>10}" for cell in cells))
    frozen = [freezing_beta(flags.scheme, tokens, flags.depth, betas, column)
              for tokens, column in zip(counts, columns)]
    print("freezes " + "".join(f"{beta:>10.2f}" for beta in frozen))
    print(" log(n) " + "".join(f"{math.log(tokens):>10.2f}" for tokens in counts))


if __name__ == "__main__":
    main()
