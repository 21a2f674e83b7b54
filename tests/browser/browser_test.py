#!/usr/bin/env python3
"""The page of `flyball report` in a real browser: browser_test.py PROGRAM [PICTURES].

It is loaded from the disk, must ask for nothing else and say nothing on the console, and is then used as a reader would: verdicts are
filtered and opened, the spheres play, stop, are scrubbed and turned, lines are hidden and read, heads are clicked; names that are
markup stay names. With a folder PICTURES it leaves screenshots there, wide and narrow, light and dark, for people to look at.

Needs Debian's chromium, chromium-driver and python3-selenium; without them it says so and is skipped (exit 77).
"""
import base64
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.path.append("/usr/lib/python3/dist-packages")  # where Debian has it, when another python3 comes first
try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None

PROGRAM = sys.argv[1]
PICTURES = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
HOSTILE = '</script><img src=x onerror="window.hacked=1"><b>"\'&`${1}'
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILS:", what, flush=True)


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
    folders = {name: place / name for name in ("motion", "claims", "trained", "depth", "heads", "preflight")}
    flyball("simulate", "--tokens", "24", "--dim", "3", "--time", "12", "--samples", "13", "--out", str(folders["motion"]))
    flyball("reproduce", "--quick", "--only", "dynamics-initial-pre-ln", "--only", "dynamics-table-pre-ln", "--only", "dynamics-pre-peri-curve", "--out",
            str(folders["claims"]))
    text = place / "text.txt"
    text.write_text("to be or not to be, that is the question " * 40)
    flyball("train", "pre-ln", "peri-ln", "--data", str(text), "--layers", "2", "--dim", "8", "--heads", "2", "--context", "8", "--batch", "2",
            "--steps", "20", "--record", "5", "--out", str(folders["trained"]))
    flyball("inspect", "builtin:pre-ln", "--length", "16", "--sequences", "1", "--no-gradient", "--out", str(folders["depth"]))
    flyball("limits", "builtin:pre-ln", "--lengths", "12,24", "--top", "1,5", "--out", str(folders["heads"]))
    flyball("check", "peri-ln", "--depth", "4", "--steps", "10", "--out", str(folders["preflight"]))
    return folders


def browser():
    options = Options()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--window-size=1280,1600"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    driver.set_page_load_timeout(30)
    driver.set_script_timeout(20)
    return driver


class Page:
    def __init__(self, driver, file):
        self.driver, self.file = driver, file
        driver.get(file.as_uri())
        self.wait(lambda: self.run("return document.getElementById('page').dataset.ready === 'yes'"), "the page is drawn")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def all(self, selector, inside=None):
        return (inside or self.driver).find_elements(By.CSS_SELECTOR, selector)

    def click(self, element):
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def wait(self, condition, what, seconds=10):
        end = time.time() + seconds
        while not condition():
            if time.time() > end:
                expect(False, what)
                return
            time.sleep(0.05)

    def quiet(self, what):
        said = self.driver.get_log("browser")
        expect(not said, f"{what}: the console says {said[:3]}")
        for line in self.driver.get_log("performance"):
            event = json.loads(line["message"])["message"]
            if event["method"] == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                expect(url.split("#")[0] == self.file.as_uri() or url.startswith("data:"), f"{what}: it asks for {url[:100]}")


def try_motion(page):
    data = page.run("return JSON.parse(document.getElementById('data').textContent)")["folders"][0]
    folder = page.all(".folder")[0]
    expect(len(page.all("canvas.sphere", folder)) == 6, "six spheres stand side by side")
    slider, clock = page.all(".controls input[type=range]", folder)[0], page.all(".clock", folder)[0]
    play = page.all(".play", folder)[0]
    picture = lambda: page.run("return document.querySelector('canvas.sphere').toDataURL()")
    scrub = lambda share: page.run("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))", slider, 1000 * share)
    scrub(0)
    expect(clock.text == "depth 0" and play.text.endswith("Play"), f"the slider stops the animation and sets the time: {clock.text} {play.text}")
    start = picture()
    page.click(play)
    page.wait(lambda: int(slider.get_property("value")) > 20, "play moves the time")
    expect(picture() != start, "dots move")
    page.click(play)
    stopped = slider.get_property("value")
    time.sleep(0.3)
    expect(slider.get_property("value") == stopped, "pause stops it")
    scrub(1)
    expect(clock.text == "depth 12", f"the end is the last time: {clock.text}")
    shown = page.all(".cell output", folder)
    last = [run["cosine"][-1] for run in data["parts"][0]["runs"]]
    expect(all(abs(float(box.text) - value) < 1e-3 for box, value in zip(shown, last)), f"mean cosines are those of the run: {[b.text for b in shown]}, {last}")
    expect(page.run("return [...document.querySelectorAll('.plot .marker')].length") >= 4, "the time is marked in the charts")
    before = picture()
    page.all("canvas.sphere", folder)[0].send_keys(Keys.ARROW_RIGHT)
    expect(picture() != before, "arrow keys turn the view")
    charts = page.all(".chart", folder)
    lines = lambda: [len(page.all("path.line", chart)) for chart in charts]
    expect(lines()[:2] == [6, 6], f"a line a scheme: {lines()}")
    page.click(page.all(".legend button", charts[0])[0])
    expect(lines()[:2] == [5, 5], f"a line that is hidden is hidden in all charts: {lines()}")
    expect(page.all(".legend button", charts[0])[0].get_attribute("aria-pressed") == "false", "its button says so")
    page.click(page.all(".legend button", charts[0])[0])
    ticks = lambda: [t.text for t in page.all("text.axis", charts[0])]
    linear = ticks()
    page.click(page.all(".switches .tick input", charts[0])[1])
    expect(ticks() != linear, "the log switch changes the axis")
    page.click(page.all(".switches .tick input", charts[0])[1])
    plot = page.all(".plot", charts[0])[0]
    plot.send_keys(Keys.ARROW_RIGHT)
    said = page.all(".readout", charts[0])[0].text
    expect(said.startswith("depth (time) 0:") and "post-ln" in said, f"arrow keys read values: {said!r}")
    series = data["parts"][2]["series"][0]
    for _ in range(12):
        plot.send_keys(Keys.ARROW_RIGHT)
    said = page.all(".readout", charts[0])[0].text
    expect(f"{series['name']} {float('%.5g' % series['y']['cosine.mean'][12]):g}" in said or series["y"]["cosine.mean"][12] > 0.99999, f"and they are those of the run: {said!r}")
    page.run("const s = arguments[0]; s.value = 'energy'; s.dispatchEvent(new Event('change'))", page.all(".switches select", charts[0])[0])
    expect(page.all("figcaption", charts[0])[0].text == "energy", "another quantity can be chosen")


def try_claims(page):
    folder = page.all(".folder")[1]
    claims = page.all(".claim", folder)
    expect(len(claims) == 3, f"three claims: {len(claims)}")
    visible = lambda: [c.get_attribute("data-verdict") for c in claims if c.is_displayed()]
    chosen = claims[0].get_attribute("data-verdict")
    button = next(b for b in page.all(".filters button", folder) if b.text.split()[1] == chosen)
    page.click(button)
    expect(visible() and set(visible()) == {chosen}, f"a filter leaves its verdict: {visible()}")
    page.click(button)
    expect(len(visible()) == 3, "and can be taken back")
    search = page.all(".filters input", folder)[0]
    search.send_keys("pre-peri-curve")
    expect(len(visible()) == 1, f"search finds one: {visible()}")
    search.clear()
    search.send_keys(" ")
    drawn = next(c for c in claims if c.get_attribute("data-id") == "dynamics-pre-peri-curve")
    page.click(page.all("summary", drawn)[0])
    page.wait(lambda: page.all(".evidence", drawn), "a click shows the evidence")
    expect("Predicted" in drawn.text and "flyball reproduce --only dynamics-pre-peri-curve" in drawn.text, "prediction and command are there")
    expect(page.all(".evidence path.line", drawn), "and its figure")


def try_others(page):
    folders = page.all(".folder")
    expect("Training" in folders[2].text and len(page.all("path.line", folders[2])) >= 4, "training has curves")
    head = page.all("button.head", folders[4])[3]
    page.click(head)
    detail = page.all(".detail", folders[4])[0].text
    expect("head" in detail and "share of active keys" in detail, f"a head shows its numbers: {detail[:80]!r}")
    expect(page.all(".findings .verdict", folders[5]), "the preflight has a verdict")
    for folder in folders[2:6]:
        expect(not page.all(".unreadable", folder), f"everything can be read: {[e.text for e in page.all('.unreadable', folder)]}")


ACCESSIBLE = """
const named = e => (e.getAttribute('aria-label') || e.textContent || e.title || '').trim() !== '' || (e.closest('label') && e.closest('label').textContent.trim() !== '');
const bad = [...document.querySelectorAll('button, input, select, canvas, svg[role=img], summary, a')].filter(e => e.offsetParent !== null && !named(e)).map(e => e.outerHTML.slice(0, 90));
const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const rgb = text => text.match(/[\\d.]+/g).map(Number);
const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0.99) return c.slice(0, 3); } return [255, 255, 255]; };
for (const e of document.querySelectorAll('p, h1, h2, h3, h4, li, dt, dd, td, th, button, .verdict, .id, .statement, figcaption, summary, code, .axis')) {
  if (e.getClientRects().length === 0 || e.closest('button[aria-pressed=false]') || e.textContent.trim() === '') continue;
  const style = getComputedStyle(e);
  const a = light(rgb(e instanceof SVGElement ? style.fill : style.color).slice(0, 3)), b = light(ground(e));
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (contrast < 4.5) bad.push(contrast.toFixed(2) + ' ' + e.outerHTML.slice(0, 90));
}
return bad;
"""


def try_looks(page):
    for scheme in ("light", "dark"):
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        found = page.run(ACCESSIBLE)
        expect(not found, f"{scheme}: without a name, or hard to read: {found[:4]}")
        for width in (1280, 390):
            page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 1600, "deviceScaleFactor": 1, "mobile": width < 500})
            time.sleep(0.2)
            wide = page.run("return document.documentElement.scrollWidth")
            expect(wide <= width, f"at {width} px nothing sticks out: {wide}")
            if PICTURES:
                whole = page.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "format": "png"})
                (PICTURES / f"page-{width}-{scheme}.png").write_bytes(base64.b64decode(whole["data"]))
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
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
    for claim in page.all(".claim summary", second):
        page.click(claim)
    for box in page.all(".switches .tick input", first):
        page.click(box)
    expect(page.run("return window.hacked === undefined && document.images.length === 0"), "also when they are used")


def main():
    if webdriver is None or not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("skipped: chromium, chromium-driver and python3-selenium are needed (apt-get install them)")
        return 77
    with tempfile.TemporaryDirectory(prefix="flyball-browser-") as temporary:
        place = pathlib.Path(temporary)
        begin = time.time()
        folders = make_folders(place)
        flyball("report", *map(str, folders.values()), "-o", str(place / "all.html"))
        flyball("report", *map(str, hostile_folders(place)), "-o", str(place / "hostile.html"))
        print(f"folders and pages: {time.time() - begin:.1f} s; the page has {os.path.getsize(place / 'all.html')} bytes", flush=True)
        driver = browser()
        try:
            page = Page(driver, place / "all.html")
            try_motion(page)
            try_claims(page)
            try_others(page)
            try_looks(page)
            page.quiet("the page")
            hostile = Page(driver, place / "hostile.html")
            try_hostile(hostile)
            hostile.quiet("the hostile page")
        finally:
            driver.quit()
        print(f"{time.time() - begin:.1f} s in all")
    print("the page does all it should" if not failures else f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
