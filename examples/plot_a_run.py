#!/usr/bin/env python3
"""Shows: how to read what `flyball simulate --out DIR` writes, and draw it, with the standard library alone.

    ./flyball simulate pre-ln peri-ln --tokens 64 --beta 3 --out run
    examples/plot_a_run.py run angle.svg

result.json has one entry for each scheme; samples.safetensors has the same numbers as arrays, named
NUMBER.SCHEME.QUANTITY (docs/simulate.md lists the quantities). The figure is one that the program does not draw: the mean
angle between two tokens in degrees, acos(cosine), over time. It starts near 90 and ends at 0 where tokens collapse.
"""
import json
import math
import struct
import sys
from pathlib import Path

COLOURS = ["#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#a463f2"]
WIDTH, HEIGHT, MARGIN = 640, 400, 50


def read_safetensors(path):
    """Name -> list of numbers. The file: 8 bytes with the length of a JSON header, the header, then the numbers."""
    data = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        assert entry["dtype"] == "F64", entry
        arrays[name] = list(struct.unpack(f"<{(end - begin) // 8}d", data[8 + length + begin:8 + length + end]))
    return arrays


def curves(folder):
    """Scheme -> (times, angles in degrees)."""
    runs = json.loads((Path(folder) / "result.json").read_text(encoding="utf-8"))["runs"]
    arrays = read_safetensors(Path(folder) / "samples.safetensors")
    found = {}
    for number, run in enumerate(runs):
        name = f"{number}.{run['scheme']}"
        # One minus the cosine keeps its digits where the cosine rounds to 1: 1 - cos(a) = 2 sin(a/2)^2.
        angles = [2 * math.degrees(math.asin(math.sqrt(max(0.0, min(1.0, rest / 2)))))
                  for rest in arrays[f"{name}.one_minus_cosine"]]
        found[run["scheme"]] = (arrays[f"{name}.t"], angles)
    return found


def figure(found):
    end = max(times[-1] for times, _ in found.values())
    top = max(90.0, max(max(angles) for _, angles in found.values()))
    place = lambda t, angle: (MARGIN + (WIDTH - 2 * MARGIN) * t / end, HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * angle / top)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH + 90}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH + 90}" height="{HEIGHT}" fill="white"/>',
             f'<text x="{MARGIN}" y="24" font-size="15">Mean angle between two tokens (degrees) over time</text>']
    for angle in range(0, int(top) + 1, 30):
        x, y = place(0, angle)
        parts.append(f'<line x1="{x:.1f}" x2="{WIDTH - MARGIN}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
                     f'<text x="{x - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{angle}</text>')
    for part in (0, 0.5, 1):
        x, y = place(part * end, 0)
        parts.append(f'<text x="{x:.1f}" y="{y + 20:.1f}" text-anchor="middle">{part * end:g}</text>')
    for number, (scheme, (times, angles)) in enumerate(found.items()):
        points = " ".join("{:.1f},{:.1f}".format(*place(t, angle)) for t, angle in zip(times, angles))
        x, y = place(times[-1], angles[-1])
        colour = COLOURS[number % len(COLOURS)]
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
                     f'<text x="{x + 6:.1f}" y="{y + 4:.1f}" fill="{colour}">{scheme}</text>')
    return "\n".join(parts + ["</svg>", ""])


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    found = curves(sys.argv[1])
    Path(sys.argv[2]).write_text(figure(found), encoding="utf-8")
    for scheme, (times, angles) in found.items():
        print(f"{scheme}: {angles[0]:.2f} degrees at t = {times[0]:g}, {angles[-1]:.2f} at t = {times[-1]:g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
