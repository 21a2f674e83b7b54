"""Folders of results that no run makes: small, the same for ever, with every number typed or given by a formula here."""
import json
import math
import struct

TIMES = [0, 1, 2, 3, 4]
DEPTHS = [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4]
# name, colour of the catalogue, how fast its tokens gather
SCHEMES = [("post-ln", "#4269d0", 1.2), ("pre-ln", "#efb118", 0.3), ("peri-ln", "#ff725c", 0.6)]
TOKENS = 40


def safetensors(path, tensors, metadata):
    """tensors: (name, dtype, shape, bytes)"""
    header, data = {"__metadata__": metadata}, b""
    for name, dtype, shape, bytes_ in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def start_of(token):
    """Points spread evenly over the sphere (a Fibonacci lattice)."""
    z = 1 - (2 * token + 1) / TOKENS
    angle = token * math.pi * (3 - math.sqrt(5))
    side = math.sqrt(1 - z * z)
    return side * math.cos(angle), side * math.sin(angle), z


def point(token, rate, t):
    """On the way from its start to (0, 0, 1), normalised."""
    x, y, z = start_of(token)
    share = 1 - math.exp(-rate * t)
    p = ((1 - share) * x, (1 - share) * y, (1 - share) * z + share * 1.2)
    length = math.sqrt(sum(v * v for v in p)) or 1
    return [v / length for v in p]


def cosine_of(rate, t):
    return 1 - math.exp(-rate * t * t / 2)


# The middle 90 % around a cosine, as short runs and as long ones have it: of the latter the edges turn elsewhere than the line.
def edges_of(c, t):
    return 0.8 * c, c + 0.2 * (1 - c) * c


def wavy_edges_of(c, t):
    return c - 0.1 - 0.05 * math.sin(40 * t), c + 0.1 + 0.05 * math.cos(55 * t)


def simulation(folder, outcomes=None, speed=None, depths=DEPTHS, edges=edges_of, frames=None, dim=3, share=1):
    """`outcomes`: of schemes that did not end as usual; `speed`: of a sample by its number, with three systems around it; `frames`: by
    scheme, the number of frames of one that has fewer than the others; `share`: of the squared length in `dim` dimensions, what the three that are drawn hold."""
    folder.mkdir()
    (folder / "config.toml").write_text("[simulate]\nscheme = [\"post-ln\", \"pre-ln\", \"peri-ln\"]\ntokens = 40\ndim = " + str(dim) + "\nbeta = 2\ntime = 4\nsystems = 3\nseed = 1\n")
    (folder / "provenance.json").write_text('{"version": "0.0.0", "seed": 1}')
    runs, tensors = [], []
    for i, (name, _, rate) in enumerate(SCHEMES):
        cosine = [cosine_of(rate, t) for t in depths]
        speeds = [speed(k) if speed else 0.02 + rate * t * math.exp(-rate * t) for k, t in enumerate(depths)]
        runs.append({"scheme": name, "equation": "norm(x)", "outcome": (outcomes or {}).get(name, "done"), "t": depths,
                     "cosine": {"mean": cosine, **{edge: [edges(c, t)[k] for c, t in zip(cosine, depths)] for k, edge in enumerate(("lo", "hi"))}},
                     "one_minus_cosine": [1 - c for c in cosine], "speed": speeds,
                     "radius": {"mean": [1 + (0 if i == 0 else rate) * t for t in depths], "min": [1] * len(depths), "max": [9] * len(depths)},
                     "clusters": [max(1, 40 - 9 * k) for k in range(len(depths))], "collapse_time": None})
        times = TIMES[:(frames or {}).get(name)]
        rows = [v for t in times for token in range(TOKENS) for v in point(token, rate, t)]
        tensors.append((f"time.{i}", "F64", [len(times)], struct.pack(f"<{len(times)}d", *times)))
        tensors.append((f"run.{i}", "F32", [len(times), TOKENS, 3], struct.pack(f"<{len(rows)}f", *rows)))
    (folder / "result.json").write_text(json.dumps({"runs": runs}))
    if speed:
        of_systems = [factor * speed(k) for k in range(len(depths)) for factor in (0.5, 1, 1.5)]
        safetensors(folder / "samples.safetensors", [(f"{i}.{name}.systems.speed", "F64", [len(depths), 3], struct.pack(f"<{len(of_systems)}d", *of_systems))
                                                     for i, (name, _, _) in enumerate(SCHEMES)], {})
    safetensors(folder / "frames.safetensors", tensors, {"tokens": str(TOKENS), "dim": str(dim), "share": str(share)})


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;").replace("'", "&#39;")


def figure(folder, name, about, csv):
    (folder / f"{name}.svg").write_text(f"<svg><title></title><desc></desc>\n<metadata>{escaped(json.dumps(about))}</metadata></svg>")
    (folder / f"{name}.csv").write_text(csv)


def claims(folder):
    folder.mkdir()
    (folder / "config.toml").write_text("[reproduce]\nquick = true\nseed = 1\n")
    (folder / "provenance.json").write_text('{"version": "0.0.0", "seed": 1}')
    given = [("dynamics-one", "holds", []), ("dynamics-two", "holds", ["dynamics-theory-cosine", "map"]), ("dynamics-three", "holds", ["beyond"]),
             ("dynamics-four", "holds-corrected", ["difference"]), ("stability-five", "fails", []), ("stability-six", "undecided", [])]
    list_ = [{"id": id_, "statement": f"Statement {k} says that one number is another.", "source": "Table 1", "predicted": 0.5, "measured": 0.25 * k,
              "tolerance": 0.1, "verdict": verdict, "expected_verdict": "holds" if verdict == "undecided" else verdict, "note": f"number {k} is twice as large. And more.", "seconds": 1.5,
              "figures": figures} for k, (id_, verdict, figures) in enumerate(given)]
    (folder / "claims.json").write_text(json.dumps({"claims": list_}))
    x = [k / 2 for k in range(21)]
    rows, series = "series,x,y\n", []
    for name, colour, rate in SCHEMES:
        series.append({"name": name, "colour": colour, "dash": "", "points": len(x)})
        rows += "".join(f"{name},{v},{'nan' if name == 'pre-ln' and v == 5 else 1 - math.exp(-rate * v)}\n" for v in x)
    figure(folder, "dynamics-theory-cosine", {"kind": "lines", "title": "Cosine between tokens", "caption": "typed\nfor a test", "x": {"label": "time", "log": False},
           "y": {"label": "cosine", "log": False, "min": 0, "max": 1}, "series": series}, rows)
    figure(folder, "map", {"kind": "heat", "title": "A ratio", "caption": "blue below 1", "x": {"label": "beta", "log": False}, "y": {"label": "tokens", "log": False},
           "colour": {"label": "ratio", "log": True}, "centre": 1}, "x,y,value\n" + "".join(f"{b},{n},{n / (10 * b)}\n" for n in (4, 16, 64) for b in (1, 2, 3)))
    figure(folder, "difference", {"kind": "heat", "title": "A difference", "caption": "blue below 0", "x": {"label": "beta", "log": False}, "y": {"label": "tokens", "log": False},
           "colour": {"label": "difference", "log": False}, "centre": 0}, "x,y,value\n" + "".join(f"{b},{n},{n - b}\n" for n in (0, 1, 2, 3, 4) for b in (0, 1)))
    # Its axis ends at 1, and its line goes on to 2.
    figure(folder, "beyond", {"kind": "lines", "title": "A line beyond its axis", "caption": "", "x": {"label": "time", "log": False},
           "y": {"label": "value", "log": False, "min": 0, "max": 1}, "series": [{"name": "one", "colour": "", "dash": "", "points": 3}]}, "series,x,y\none,0,0\none,1,0.5\none,2,2\n")


def values_from_zero(folder):
    """A simulation in which nothing moves and lengths begin at zero."""
    simulation(folder, speed=lambda k: 0)
    result = json.loads((folder / "result.json").read_text())
    for run in result["runs"]:
        run["radius"] = {edge: [float(k) for k in range(len(DEPTHS))] for edge in ("mean", "min", "max")}
    (folder / "result.json").write_text(json.dumps(result))


def narrow_values(folder):
    """Cosines that differ in their fifth digit, and of pre-ln only the first half; the band of post-ln has a gap at depth 2."""
    simulation(folder)
    result = json.loads((folder / "result.json").read_text())
    for run in result["runs"]:
        run["cosine"] = {"mean": [0.9999 + 0.00001 * k for k in range(len(DEPTHS))]}
    for edge, away in (("lo", -0.00001), ("hi", 0.00001)):
        result["runs"][0]["cosine"][edge] = [None if k == 4 else 0.9999 + 0.00001 * k + away for k in range(len(DEPTHS))]
    ended = result["runs"][1]
    for key in ("t", "one_minus_cosine", "speed", "clusters"):
        ended[key] = ended[key][:5]
    for key in ("cosine", "radius"):
        ended[key] = {name: values[:5] for name, values in ended[key].items()}
    (folder / "result.json").write_text(json.dumps(result))


def heads(folder, entropy=lambda layer, head: layer + head / 10):
    """Twelve blocks of two heads, in no order."""
    folder.mkdir()
    (folder / "config.toml").write_text("[inspect]\nseed = 1\n")
    list_ = [{"layer": 5 * k % 12, "head": head, "entropy": entropy(5 * k % 12, head), "first_token": 0.5} for k in range(12) for head in range(2)]
    (folder / "inspect.json").write_text(json.dumps({"model": {"name": "typed"}, "summary": ["It was typed."],
                                                     "layers": [{"layer": k, "norm": 1.0 + k} for k in range(12)], "heads": list_}))


def many_runs(folder, count):
    """Training runs of whom nothing but the summary is left."""
    folder.mkdir()
    (folder / "config.toml").write_text("[train]\nseed = 1\n")
    (folder / "provenance.json").write_text('{"version": "0.0.0", "seed": 1}')
    (folder / "summary.json").write_text(json.dumps([{"name": f"/{k}", "scheme": "pre-ln", "equation": "e", "outcome": "done", "steps": k, "loss": 2.5, "validation_loss": 3}
                                                     for k in range(count)]))
