"""A browser without a window, and a page in it; what is expected of it and is not so is printed and kept in `failures`."""
import json
import os
import shutil
import sys
import time

sys.path.append("/usr/lib/python3/dist-packages")  # where Debian has it, when another python3 comes first
try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
except ImportError:
    webdriver = None

failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILS:", what, flush=True)
        if os.environ.get("FLYBALL_FAIL_FAST"):  # one is enough for who plants mistakes
            sys.exit(1)


def what_is_missing():
    """A sentence, or nothing where a browser can be started."""
    if webdriver is None or not shutil.which("chromium") or not shutil.which("chromedriver"):
        return "chromium, chromium-driver and python3-selenium are needed (apt-get install them)"
    return ""


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

    def look(self, scheme, width, still=False):
        """Light or dark, and how wide; `still` for a reader who wants no motion."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        if still:
            features.append({"name": "prefers-reduced-motion", "value": "reduce"})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": 1600, "deviceScaleFactor": 1, "mobile": width < 500})
        time.sleep(0.2)

    def look_as_usual(self):
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    def forget(self):
        """What was said and asked for until now."""
        self.driver.get_log("browser")
        self.driver.get_log("performance")

    def quiet(self, what):
        said = self.driver.get_log("browser")
        expect(not said, f"{what}: the console says {said[:3]}")
        for line in self.driver.get_log("performance"):
            event = json.loads(line["message"])["message"]
            if event["method"] == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                expect(url.split("#")[0] == self.file.as_uri() or url.startswith("data:"), f"{what}: it asks for {url[:100]}")
