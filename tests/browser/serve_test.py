#!/usr/bin/env python3
"""`flyball report --serve` in a real browser, beside runs that go on: serve_test.py PROGRAM [PICTURES].

A person starts the page before the run, watches curves grow, hides a line, scrolls, turns a sphere; the page must keep all of that while
it grows, say when the run is finished, and when the server has ended. With a folder PICTURES it leaves screenshots there.

Needs Debian's chromium, chromium-driver and python3-selenium; without them it says so and is skipped (exit 77).
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import fixed_data

sys.path.append("/usr/lib/python3/dist-packages")  # where Debian has it, when another python3 comes first
try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
except ImportError:
    webdriver = None

PROGRAM = sys.argv[1]
PICTURES = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILS:", what, flush=True)


def wait(condition, what, seconds=30):
    end = time.time() + seconds
    while time.time() < end:
        if condition():
            return True
        time.sleep(0.05)
    expect(False, what)
    return False


class Served:
    """The server of some folders, until the block ends."""

    def __init__(self, *folders, port=0):
        self.process = subprocess.Popen([PROGRAM, "report", *map(str, folders), "--serve", "--port", str(port)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.said = self.process.stdout.readline()
        found = re.match(r"(http://127\.0\.0\.1:(\d+)/) ", self.said)
        assert found, f"{self.said!r} {self.process.stderr.read()}"
        self.address, self.port = found.group(1), int(found.group(2))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        code = self.process.wait(10)
        expect(code == 130, f"Ctrl-C ends it with 130, not {code}")
        rest = self.process.stdout.read() + self.process.stderr.read()
        expect(rest == "", f"it says nothing when it ends: {rest!r}")


def browser():
    options = Options()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--window-size=1280,900"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    driver.set_page_load_timeout(30)
    return driver


class Page:
    def __init__(self, driver, address):
        self.driver, self.address = driver, address
        driver.get(address)
        wait(lambda: self.run("return document.getElementById('page').dataset.ready === 'yes'"), "the page is drawn")
        self.run("window.first = true")  # a page that was loaded again has forgotten it

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def says(self):
        return self.run("const e = document.querySelector('.live [role=status]'); return e ? e.textContent : ''")

    def click(self, element):
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def picture(self, name):
        if PICTURES:
            PICTURES.mkdir(parents=True, exist_ok=True)
            self.driver.save_screenshot(str(PICTURES / f"{name}.png"))

    def quiet(self, what, allowed=()):
        """Nothing on the console, and no request but to the server of this page."""
        said = [line for line in self.driver.get_log("browser") if not any(text in line["message"] for text in allowed)]
        expect(not said, f"{what}: the console says {said[:3]}")
        asked = set()
        for line in self.driver.get_log("performance"):
            event = json.loads(line["message"])["message"]
            if event["method"] == "Network.requestWillBeSent":
                asked.add(event["params"]["request"]["url"].split("#")[0])
        strangers = {url for url in asked if url not in (self.address, self.address + "document.json") and not url.startswith("data:")}
        expect(not strangers, f"{what}: it asks for {strangers}")


# How many steps the first chart has drawn of all lines that are shown, by their numbers: the table below it, which is opened for that.
STEPS = """const last = {};
    for (const row of document.querySelectorAll('.charts figure')[0].querySelectorAll('.numbers tbody tr')) {
        last[row.children[0].textContent] = Number(row.children[1].textContent.replace(/[^0-9.e+-]/g, ''));
    }
    return Object.entries(last).filter(([name]) => name.startsWith(arguments[0])).reduce((sum, [, step]) => sum + step, 0);"""

# How far below the upper edge of the window the second chart begins.
TOP = "return document.querySelectorAll('.charts figure')[1].getBoundingClientRect().top"


def train(place, folder):
    text = place / "text.txt"
    text.write_text("to be or not to be, that is the question " * 400)
    return subprocess.Popen([PROGRAM, "train", "pre-ln", "peri-ln", "--data", str(text), "--layers", "2", "--dim", "16", "--heads", "2", "--context",
                             "16", "--batch", "4", "--steps", "4000", "--record", "50", "--out", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def try_training(driver, place):
    folder = place / "trained"
    with Served(folder) as served:
        expect("waits for a run to begin" in served.said, f"it says that it waits: {served.said}")
        page = Page(driver, served.address)
        expect("No run has begun here yet" in page.says(), f"the page waits for the run: {page.says()}")
        page.picture("waiting")
        run = train(place, folder)
        try:
            wait(lambda: page.all(".charts figure"), "curves appear without a reload")
            wait(lambda: "not finished" in page.says(), "the page says that the run goes on")
            page.run("document.querySelector('.charts figure .numbers').open = true")
            wait(lambda: page.run(STEPS, "") > 0, "the chart has steps")
            early = page.run(STEPS, "")
            page.run("window.chart = document.querySelector('.charts figure')")
            # What a reader does: a log axis, another quantity, a place on the page.
            log = page.all(".charts figure")[0].find_elements(By.CSS_SELECTOR, ".tick input")[0]
            page.click(log)
            wait(lambda: page.run(STEPS, "") > early, "the curve grows")
            expect(page.run("return window.first && document.contains(window.chart)"), "the page grows in place")
            page.picture("growing")
            wait(lambda: len(page.run("return [...document.querySelectorAll('.charts figure')[0].querySelectorAll('.legend button')]")) == 2,
                 "the second scheme joins")
            expect(run.poll() is None, "the run still goes on (otherwise this test shows nothing)")
            run.send_signal(signal.SIGSTOP)  # it waits for the reader, on machines of any speed
            page.click(page.all(".charts figure .legend button")[0])
            # Whatever grows above it (a sentence, a line of the summary), the chart that is looked at stays where it is on the screen,
            # also in browsers that do not see to it themselves.
            page.run("document.documentElement.style.overflowAnchor = 'none'")
            page.run("document.querySelectorAll('.charts figure')[1].scrollIntoView({ block: 'start', behavior: 'instant' })")
            top = page.run(TOP)
            later = page.run(STEPS, "peri-ln")
            run.send_signal(signal.SIGCONT)
            wait(lambda: page.run(STEPS, "peri-ln") > later, "the curve goes on growing")
            expect(abs(page.run(TOP) - top) < 2, f"the page stays where it was scrolled to: {top} px below the edge, then {page.run(TOP)}")
            wait(lambda: run.poll() is not None, "the run ends", 120)
            wait(lambda: "finished; this page shows all of it" in page.says(), f"the page says that the run is finished: {page.says()}")
            wait(lambda: "How it ended" in page.text("h3"), "how it ended is shown")
            expect(abs(page.run(TOP) - top) < 2, f"it stays there when the run ends: {top} px below the edge, then {page.run(TOP)}")
            expect(page.run("return window.first"), "the page was never loaded again")
            pressed = page.run("return [...document.querySelectorAll('.charts figure .legend button')].slice(0, 2).map(b => b.getAttribute('aria-pressed'))")
            expect(pressed == ["false", "true"], f"the hidden line stays hidden: {pressed}")
            ticked = page.run("return [...document.querySelectorAll('.charts figure')[0].querySelectorAll('.tick input')].map(b => b.checked)")
            expect(ticked[0] is True, "the log axis stays")
            expect(page.run("return document.querySelector('.charts figure .numbers').open"), "what was opened stays open")
            page.picture("finished")
        finally:
            run.kill()
            run.wait()
        page.quiet("training")
        port = served.port
    wait(lambda: "has ended" in page.says(), f"the page says that the server is gone: {page.says()}")
    expect(len(page.all(".charts figure")) >= 2, "it goes on showing what it has")
    page.picture("gone")
    with Served(folder, port=port):
        wait(lambda: "finished" in page.says(), "it finds a server that is started again")


def try_motion(driver, place):
    """A simulation: the spheres of a run that goes on, turned and stopped at a time."""
    folder = place / "motion"
    driver.get("about:blank")  # the page of the server that has ended asks no more
    driver.get_log("browser"), driver.get_log("performance")
    run = subprocess.Popen([PROGRAM, "simulate", "post-ln", "pre-ln", "--tokens", "256", "--dim", "3", "--time", "60", "--samples", "601",
                            "--method", "rk4", "--dt", "0.002", "--out", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        with Served(folder) as served:
            page = Page(driver, served.address)
            if not wait(lambda: page.all("canvas.sphere"), "the spheres of a run that goes on are there"):
                print(run.poll(), page.says())
                return
            page.run("const p = document.querySelector('.play'); if (p.textContent.includes('Pause')) p.click()")
            for _ in range(5):
                page.run("""document.querySelector('canvas.sphere').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft' }))""")
            page.run("const s = document.querySelector('.controls input[type=range]'); s.value = 300; s.dispatchEvent(new Event('input'))")
            look = "const c = document.querySelector('canvas.sphere'); return [document.querySelector('.clock').textContent, c.toDataURL()]"
            before = page.run(look)
            frames = page.run("return document.querySelector('.player .caption').textContent")
            expect(not page.all(".unfinished"), "a page that follows the run does not say when it was made")
            page.picture("motion")
            wait(lambda: page.run("return [...document.querySelectorAll('.player .caption')].map(e => e.textContent).join(' ')") != frames
                 and page.run("return document.querySelector('canvas.sphere').width > 0"), "more of the run is shown")
            expect(run.poll() is None, "the run still goes on (otherwise this test shows nothing)")
            after = page.run(look)
            expect(before[0] == after[0], f"the time stays: {before[0]}, {after[0]}")
            expect(before[1] == after[1], "the view stays: the same dots from the same side")
            page.quiet("motion")
    finally:
        run.send_signal(signal.SIGINT)
        run.wait()
    # What was interrupted is readable without a server too, asks for nothing and says so.
    done = subprocess.run([PROGRAM, "report", str(folder)], capture_output=True, text=True, check=False)
    expect(done.returncode == 0 and "is not finished" in done.stderr, f"a stopped run has a page: {done}")
    driver.get_log("performance")
    page = Page(driver, (folder / "report.html").as_uri())
    expect("This run is not finished" in " ".join(page.text(".unfinished")), "the page in a file says that the run is not finished")
    expect(not page.all(".live"), "and nothing of a server")
    time.sleep(2.5)
    page.quiet("a file")


def try_claims(driver, place):
    """Claims that are decided while somebody looks at some of them."""
    folder = place / "claims"
    driver.get("about:blank")
    driver.get_log("browser"), driver.get_log("performance")
    run = subprocess.Popen([PROGRAM, "reproduce", "dynamics", "--quick", "--threads", "1", "--out", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with Served(folder) as served:
            page = Page(driver, served.address)
            wait(lambda: page.all(".filters button"), "claims appear as they are decided")
            filters = "return [...document.querySelectorAll('.filters button')].map(b => [b.textContent.replace(/[0-9]+/, '').trim(), Number(/[0-9]+/.exec(b.textContent)[0]), b.getAttribute('aria-pressed')])"
            page.click(page.all(".filters button")[0])
            chosen, count, pressed = page.run(filters)[0]
            expect(pressed == "true", f"a filter is pressed: {pressed}")
            wait(lambda: dict((name, many) for name, many, _ in page.run(filters)).get(chosen, 0) > count, "more claims are decided")
            after = {name: state for name, _, state in page.run(filters)}
            expect(after.pop(chosen) == "true" and "true" not in after.values(), f"the filter stays as it was: {after}")
            expect(run.poll() is None, "the run still goes on (otherwise this test shows nothing)")
            page.quiet("claims")
    finally:
        run.send_signal(signal.SIGINT)
        run.wait()


def try_figures(driver, place):
    """A plot that has the focus, and a line that is hidden, when another claim is decided: the part is made anew."""
    folder = place / "figures"
    fixed_data.claims(folder)
    (folder / "provenance.json").unlink()
    driver.get("about:blank")
    driver.get_log("browser"), driver.get_log("performance")
    with Served(folder) as served:
        page = Page(driver, served.address)
        wait(lambda: page.all(".telling .legend button"), "the figure is drawn")
        page.click(page.all(".telling .legend button")[1])
        page.run("document.querySelector('.telling svg.plot').focus()")
        page.run("window.plot = document.querySelector('.telling svg.plot')")
        claims = json.loads((folder / "claims.json").read_text())
        claims["claims"].append({**claims["claims"][0], "id": "stability-seven"})
        (folder / "claims.json").write_text(json.dumps(claims))
        wait(lambda: "7 of 7 claims" in " ".join(page.text(".caption")), "the new claim is shown")
        expect(page.run("return window.plot !== document.querySelector('.telling svg.plot')"), "its part was made anew (otherwise this test shows nothing)")
        focus = page.run("return document.activeElement === document.querySelector('.telling svg.plot')")
        expect(focus, "the focus stays on the plot")
        pressed = page.run("return [...document.querySelectorAll('.telling .legend button')].map(b => b.getAttribute('aria-pressed'))")
        expect(pressed == ["true", "false", "true"], f"the hidden line stays hidden: {pressed}")
        expect(len(page.all(".telling path.line")) == 2, "and is not drawn")
        page.quiet("figures")


def try_curves(driver, place):
    """An axis of powers of ten, when there is one more sample."""
    folder = place / "curves"
    fixed_data.simulation(folder)
    (folder / "provenance.json").unlink()
    (folder / "frames.safetensors").unlink()
    driver.get("about:blank")
    driver.get_log("browser"), driver.get_log("performance")
    speed = "const chart = [...document.querySelectorAll('figure')].find(f => f.querySelector('figcaption').textContent === 'angular speed'); "
    # An even axis from 0.02 to 0.46 begins at 0 or 0.1; one of powers of ten has 0.02, 0.05, 0.1, 0.2.
    ticks = speed + "return [...chart.querySelectorAll('text.axis[text-anchor=end]')].map(t => t.textContent)"
    with Served(folder) as served:
        page = Page(driver, served.address)
        even = page.run(ticks)
        page.click(page.run(speed + "return chart.querySelectorAll('.tick input')[1]"))
        powers = page.run(ticks)
        expect("0.05" in powers and powers != even, f"the axis has powers of ten: {even}, {powers}")
        page.run(speed + "chart.querySelector('.numbers').open = true")
        rows = speed + "return chart.querySelectorAll('.numbers tbody tr').length"
        wait(lambda: page.run(rows) == 27, "the numbers are there")
        fixed_data.simulation(place / "longer", depths=[*fixed_data.DEPTHS, 4.1])
        os.replace(place / "longer/result.json", folder / "result.json")  # at once: the page asks at any moment
        wait(lambda: page.run(rows) == 30, "another sample is shown")
        expect(page.run(ticks) == powers, f"the axis stays: {page.run(ticks)}")
        page.quiet("curves")


def try_heads(driver, place):
    """A colour that was chosen, when a map of heads is made anew."""
    folder = place / "heads"
    fixed_data.heads(folder)
    driver.get("about:blank")
    driver.get_log("browser"), driver.get_log("performance")
    with Served(folder) as served:
        page = Page(driver, served.address)
        label = "return document.querySelector('button.head').getAttribute('aria-label')"
        before = page.run(label)
        wanted = page.run("""const s = document.querySelector('.head-map select');
            s.value = [...s.options].map(o => o.value).find(v => v !== s.value); s.dispatchEvent(new Event('change')); return s.value""")
        chosen = page.run(label)
        expect(chosen != before, f"the map shows another quantity: {before}, {chosen}")
        page.run("window.map = document.querySelector('.head-map')")
        fixed_data.heads(place / "other-heads", lambda layer, head: 20 - layer)
        os.replace(place / "other-heads/inspect.json", folder / "inspect.json")
        wait(lambda: page.run("return window.map !== document.querySelector('.head-map')"), "the map is made anew")
        expect(page.run("return document.querySelector('.head-map select').value") == wanted, "the choice stays")
        expect(page.run(label) == chosen, f"and is what is shown: {page.run(label)}")
        page.quiet("heads")


def main():
    if webdriver is None or not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("skipped: needs chromium, chromium-driver and python3-selenium")
        return 77
    with tempfile.TemporaryDirectory() as name:
        driver = browser()
        try:
            try_training(driver, pathlib.Path(name))
            try_motion(driver, pathlib.Path(name))
            try_claims(driver, pathlib.Path(name))
            try_figures(driver, pathlib.Path(name))
            try_curves(driver, pathlib.Path(name))
            try_heads(driver, pathlib.Path(name))
        finally:
            driver.quit()
    print(f"{len(failures)} failures" if failures else "the served page does what a reader wants")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
