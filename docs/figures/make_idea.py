#!/usr/bin/env python3
"""Makes idea.svg, the picture that shows what normalization does: tokens on the sphere under Post-LN and Peri-LN, and the
mean cosine between them. Everything in it comes from one run of the program.

usage: make_idea.py PROGRAM [FILE]      (docs/figures/idea.svg beside this script without FILE)
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

RUN = ["simulate", "post-ln", "peri-ln", "--tokens", "96", "--dim", "3", "--beta", "1", "--time", "9", "--samples", "46",
       "--seed", "4", "--no-titles"]
TITLE = "The same tokens under two normalizations"
WORDS = [
    "Each dot is a token, and depth runs to the right. Under Post-LN (the norm after",
    "the residual sum) tokens hardly move at first and then fall together: the last",
    "blocks have nothing left to tell apart. Peri-LN (norms before and after the",
    "branch) moves them from the first block on, and keeps them apart at the end.",
]


def inner(svg, top):
    """A figure as a part of another, `top` below its edge, and its height."""
    height = float(re.search(r' height="([0-9.]+)"', svg).group(1))
    return svg.replace("<svg ", f'<svg y="{top:g}" ', 1), height


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__)
        return 2
    target = Path(sys.argv[2]) if len(sys.argv) == 3 else Path(__file__).resolve().parent / "idea.svg"
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        subprocess.run([sys.argv[1], *RUN, "--out", str(run)], check=True, stdout=subprocess.DEVNULL)
        spheres, height = inner((run / "spheres.svg").read_text(), 44)
        curves, below = inner((run / "cosine.svg").read_text(), 44 + height)
    total = 44 + height + below + 20 * len(WORDS) + 14
    text = "".join(f'<text x="14" y="{44 + height + below + 18 + 20 * i:g}" class="f-muted" fill="#656d78" '
                   f'font-size="13">{line}</text>\n' for i, line in enumerate(WORDS))
    fonts = re.search(r'font-family="([^"]+)"', curves).group(1)
    target.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="flyball" role="img" width="560" height="{total:g}" '
        f'viewBox="0 0 560 {total:g}" font-family="{fonts}">\n<title>{TITLE}</title>\n<desc>{" ".join(WORDS)}</desc>\n'
        f'<rect class="f-paper" fill="#ffffff" width="560" height="{total:g}"/>\n'
        f'<text x="14" y="29" class="f-ink" fill="#1f2328" font-size="16" font-weight="600">{TITLE}</text>\n'
        f'{spheres}{curves}{text}</svg>\n')
    print(f"written: {target}, {target.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
