#!/usr/bin/env python3
"""The page of `flyball report` in a real browser: browser_test.py PROGRAM [PICTURES | --record].

It is loaded from the disk, must ask for nothing else and say nothing on the console, and is then used as a reader would: verdicts are
filtered and opened, the spheres play, stop, are scrubbed and turned, lines are hidden and read, heads are clicked; names that are
markup stay names (here and in using.py). It must be readable and usable without a mouse (reading.py), and look as it did when somebody looked at it
(screenshots.py, which also says how --record keeps new pictures). With a folder PICTURES it leaves screenshots there, wide and narrow, light
and dark, for people to look at.

Needs Debian's chromium, chromium-driver and python3-selenium; without them it says so and is skipped (exit 77).
"""
import base64
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

import fixed_data
import reading
import screenshots
import using
from driver import Page, browser, expect, failures, what_is_missing

PROGRAM = sys.argv[1]
RECORD = "--record" in sys.argv[2:]
PICTURES = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 and not RECORD else None
HOSTILE = '</script><img src=x onerror="window.hacked=1"><b>"\'&`${1}'

def flyball(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), f"{arguments}: {done.returncode} {done.stderr}"


def frames_file(path, runs):
    """frames.safetensors with two frames of two tokens a run, one number not finite."""
    header, data = {"__metadata__": {"tokens": "2", "dim": "3", "share": "1"}}, b""
    tensors = [(f"time.{i}", "F64", [2], struct.pack("<2d", 0, 1)) for i in range(runs)]
    tensors += [(f"run.{i}", "F32", [2, 2, 3], struct.pack("<12f", 1, 0, 0, 0, 1, 0, 0, 0, 1, float("nan"), 0, 0)) for i in range(runs)]
    for name, dtype, shape, bytes_ in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def hostile_folders(place):
    """Names that are markup, numbers that are not finite, a file that is damaged."""
    simulated = place / "hostile <b>'\"&"
    simulated.mkdir()
    (simulated / "config.toml").write_text("[simulate]\nseed = '''" + HOSTILE.replace("'", "") + "'''\n")
    run = {"scheme": HOSTILE, "equation": HOSTILE, "outcome": HOSTILE, "t": [0, 1, None], "cosine": {"mean": [None, 1e308, -1e308]},
           "speed": [0, -1, None], HOSTILE: [1, 2, 3], "__proto__": [1, 2, 3]}
    (simulated / "result.json").write_text(json.dumps({"runs": [run, {**run, "scheme": "constructor"}]}))
    (simulated / "provenance.json").write_text("{ damaged")
    frames_file(simulated / "frames.safetensors", 2)
    claims = place / "hostile-claims"
    claims.mkdir()
    (claims / "config.toml").write_text("[reproduce]\nseed = 1\n")
    claim = {key: HOSTILE for key in ("id", "statement", "source", "predicted", "measured", "tolerance", "verdict", "note", "expected_verdict")}
    (claims / "claims.json").write_text(json.dumps({"claims": [{**claim, "figures": ["../../etc/passwd", "missing"]}, {**claim, "verdict": "__proto__"}]}))
    heads = place / "hostile-heads"
    heads.mkdir()
    (heads / "config.toml").write_text("[inspect]\nseed = 1\n")
    layers = [{"layer": k, "norm": 10.0 ** k, HOSTILE: k} for k in (0, 1, 300)]
    (heads / "inspect.json").write_text(json.dumps({"model": {"name": HOSTILE}, "summary": [HOSTILE], "layers": layers,
                                                    "heads": [{"layer": 4000000000, "head": 4000000000, "entropy": 1, HOSTILE: HOSTILE}]}))
    return [simulated, claims, heads]


def make_folders(place):
    folders = {name: place / name for name in ("motion", "claims", "trained", "depth", "heads", "preflight", "law")}
    flyball("simulate", "--tokens", "24", "--dim", "3", "--time", "6", "--samples", "13", "--beta", "1", "--out", str(folders["motion"]))
    flyball("reproduce", "--quick", "--only", "dynamics-initial-pre-ln", "--only", "dynamics-table-pre-ln", "--only", "dynamics-pre-peri-curve", "--out",
            str(folders["claims"]))
    text = place / "text.txt"
    text.write_text("to be or not to be, that is the question " * 40)
    flyball("train", "pre-ln", "peri-ln", "--data", str(text), "--layers", "2", "--dim", "8", "--heads", "2", "--context", "8", "--batch", "2",
            "--steps", "20", "--record", "5", "--out", str(folders["trained"]))
    flyball("inspect", "builtin:pre-ln", "--length", "16", "--sequences", "1", "--no-gradient", "--out", str(folders["depth"]))
    flyball("limits", "builtin:pre-ln", "--lengths", "12,24", "--top", "1,5", "--out", str(folders["heads"]))
    flyball("check", "peri-ln", "--depth", "4", "--steps", "10", "--out", str(folders["preflight"]))
    flyball("theory", "--time", "1000", "--log-time", "--out", str(folders["law"]))
    return folders


def try_looks(page):
    for scheme in ("light", "dark"):
        for width in (1280, 390):
            page.look(scheme, width)
            reading.try_reading(page, f"{scheme}, {width}")
            overlaps = page.run(screenshots.OVERLAPS)
            expect(not overlaps, f"{scheme}, {width}: text that cannot be read: {overlaps[:4]}")
            wide = page.run("return document.documentElement.scrollWidth")
            expect(wide <= width, f"at {width} px nothing sticks out: {wide}")
            if PICTURES:
                whole = page.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "format": "png"})
                (PICTURES / f"page-{width}-{scheme}.png").write_bytes(base64.b64decode(whole["data"]))
    page.look_as_usual()
    ground = lambda: page.run("return getComputedStyle(document.body).backgroundColor")
    before = ground()
    page.click(page.all(".theme")[0])
    expect(ground() != before, "the switch changes light and dark")


def try_hostile(page):
    time.sleep(0.3)
    expect(page.run("return window.hacked === undefined && document.images.length === 0"), "names that are markup stay names")
    first, second, third = page.all(".folder")
    page.click(page.all("button.head", third)[0])
    expect(HOSTILE in page.all(".detail", third)[0].text, "a head with any number can be clicked")
    expect(HOSTILE in page.run("return arguments[0].textContent", first), "and are shown as they are")
    expect(any("provenance.json" in e.text for e in page.all(".unreadable", first)), "what is damaged is named")
    expect(any("missing" in e.text for e in page.all(".unreadable", second)), "and what is missing")
    news = [e.text for e in page.all(".news", second)]
    expect(news == [f"recorded as {HOSTILE}"], f"a verdict that is not the recorded one is marked: {news}")
    for claim in page.all(".claim summary", second):
        page.click(claim)
    for box in page.all(".switches .tick input", first):
        page.click(box)
    expect(page.run("return window.hacked === undefined && document.images.length === 0"), "also when they are used")


def main():
    if missing := what_is_missing():
        print(f"skipped: {missing}")
        return 77
    with tempfile.TemporaryDirectory(prefix="flyball-browser-") as temporary:
        place = pathlib.Path(temporary)
        begin = time.time()
        fixed_data.simulation(place / "fixed-simulation")
        fixed_data.claims(place / "fixed-claims")
        fixed = {name: place / f"{name}.html" for name in ("simulation", "claims")}
        for name, file in fixed.items():
            flyball("report", str(place / f"fixed-{name}"), "-o", str(file))
        driver = browser()
        try:
            worst = screenshots.compare(driver, fixed, RECORD)
            print(f"pictures: at most {worst[0]} in a cell and {worst[1]:.2f} on the mean beside those that were kept, {time.time() - begin:.1f} s", flush=True)
            if not RECORD:
                Page(driver, fixed["simulation"]).look_as_usual()
                using.try_fixed_simulation(Page(driver, fixed["simulation"]))
                claims = Page(driver, fixed["claims"])
                using.try_fixed_claims(claims)
                fixed_data.simulation(place / "fixed-long", depths=[k / 250 for k in range(1001)], edges=fixed_data.wavy_edges_of)
                flyball("report", str(place / "fixed-long"), "-o", str(place / "long.html"))
                using.try_long_simulation(Page(driver, place / "long.html"), fixed_data.SCHEMES, fixed_data.cosine_of, fixed_data.wavy_edges_of)
                fixed_data.simulation(place / "fixed-ended", {"post-ln": "goes on", "pre-ln": "diverged", "peri-ln": "until"}, lambda k: 10.0 ** (k - 4),
                                      frames={"pre-ln": 3})
                flyball("report", str(place / "fixed-ended"), str(place / "fixed-claims"), "-o", str(place / "two.html"))
                using.try_two_folders(Page(driver, place / "two.html"))
                fixed_data.values_from_zero(place / "fixed-zeros")
                fixed_data.simulation(place / "fixed-space", dim=8, share=0.75)
                fixed_data.heads(place / "fixed-heads")
                flyball("report", str(place / "fixed-zeros"), str(place / "fixed-space"), str(place / "fixed-heads"), "-o", str(place / "three.html"))
                using.try_three_folders(Page(driver, place / "three.html"))
                fixed_data.narrow_values(place / "fixed-narrow")
                fixed_data.many_runs(place / "fixed-many", 1234)
                flyball("report", str(place / "fixed-narrow"), str(place / "fixed-many"), "-o", str(place / "narrow.html"))
                narrow = Page(driver, place / "narrow.html")
                using.try_narrow(narrow)
                using.try_many_runs(narrow, 1234)
                claims.forget()  # looking at pixels has its own warnings
                try_everything(driver, place)
        finally:
            driver.quit()
        print(f"{time.time() - begin:.1f} s in all")
    print("the page does all it should" if not failures else f"{len(failures)} failures")
    return 1 if failures else 0


def try_everything(driver, place):
    """A page with a folder of every command, and one that was written by somebody who means harm."""
    folders = make_folders(place)
    flyball("report", *map(str, folders.values()), "-o", str(place / "all.html"))
    flyball("report", *map(str, hostile_folders(place)), "-o", str(place / "hostile.html"))
    print(f"the page of all folders has {os.path.getsize(place / 'all.html')} bytes", flush=True)
    page = Page(driver, place / "all.html")
    using.try_motion(page)
    using.try_claims(page)
    using.try_others(page)
    reading.try_keyboard(page)
    try_looks(page)
    page.quiet("the page")
    hostile = Page(driver, place / "hostile.html")
    try_hostile(hostile)
    hostile.quiet("the hostile page")


if __name__ == "__main__":
    sys.exit(main())
