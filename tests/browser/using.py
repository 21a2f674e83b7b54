"""The page as a reader uses it: every control does what it says, and every number shown is that of the data."""
import math
import re
import time

from driver import expect
from selenium.webdriver.common.keys import Keys

# Numbers of the ticks of a chart's y axis with their places, from the top.
Y_TICKS = """
const digits = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const number = text => { const plain = text.replace(/,/g, '').replace('−', '-').replace(/10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)$/, (_, e) => '1e' + e.replace('⁻', '-').replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹]/g, c => digits.indexOf(c)));
    return Number(plain.replace('·1e', 'e')); };
return [...arguments[0].querySelectorAll('text.axis[text-anchor=end]')].map(t => [number(t.textContent), Number(t.getAttribute('y'))]);
"""

# Of the pixels that belong to dots of the first or the second sphere, how many belong to one of them alone.
COLOURED = """
const [a, b] = [...document.querySelectorAll('canvas.sphere')].slice(0, 2).map(c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data);
let one = 0, any = 0;
for (let i = 0; i < a.length; i += 4) {
    const [p, q] = [a, b].map(d => d[i + 3] > 128 && Math.max(d[i], d[i + 1], d[i + 2]) - Math.min(d[i], d[i + 1], d[i + 2]) > 60);
    any += p || q ? 1 : 0;
    one += p !== q ? 1 : 0;
}
return one / any;
"""

# Moves the pointer over the number of a chart's x axis that is written so; the place that is read there, and the values.
POINT_AT = """
const [chart, number] = arguments, plot = chart.querySelector('.plot');
const tick = [...plot.querySelectorAll('text.axis[text-anchor=middle]:not(.label)')].find(t => t.textContent === number);
if (!tick) return [`there is no ${number}`, []];
const box = plot.getBoundingClientRect(), scale = box.width / plot.viewBox.baseVal.width;
plot.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + scale * Number(tick.getAttribute('x')), clientY: box.top + box.height / 2 }));
const said = chart.querySelector('.readout');
return [said.querySelector('strong').textContent.trim(), [...said.querySelectorAll('.value')].map(value => value.textContent.trim())];
"""


def is_straight(ticks, of):
    """Places of ticks go in proportion to of(value), larger values higher."""
    (a, top), (b, low) = max(ticks), min(ticks)
    return top < low and all(abs((of(v) - of(b)) / (of(a) - of(b)) - (low - y) / (low - top)) < 0.02 for v, y in ticks)


def try_motion(page):
    data = page.run("return JSON.parse(document.getElementById('data').textContent)")["folders"][0]
    folder = page.all(".folder")[0]
    runs = data["parts"][0]["runs"]
    expect(folder.text.find("6 schemes moved the same 24 tokens in 3 dimensions over a depth of 6") > 0, "the page begins with what was run")
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
    expect(clock.text == "depth 6", f"the end is the last time: {clock.text}")
    shown = lambda: [box.text for box in page.all(".cell output", folder)]
    of_frame = lambda k: [f"{run['cosine'][k]:.3f}".replace("-", "−").replace("−0.000", "0.000") for run in runs]
    expect(shown() == of_frame(-1), f"mean cosines are those of the run: {shown()}, {of_frame(-1)}")
    for _ in range(9):
        slider.send_keys(Keys.ARROW_LEFT)
    expect(clock.text == f"depth {runs[0]['times'][3]:g}", f"an arrow key goes to the moment before: {clock.text}")
    expect(shown() == of_frame(3), f"and shows its cosines: {shown()}, {of_frame(3)}")
    slider.send_keys(Keys.HOME)
    slider.send_keys(Keys.ARROW_RIGHT)
    expect(clock.text == f"depth {runs[0]['times'][1]:g}", f"another to the next: {clock.text}")
    groups = page.all(".cell .meter", folder)[0].text
    expect(f"{runs[0]['groups'][1]:.0f} groups" in groups, f"groups are those of the run: {groups!r}")
    slider.send_keys(Keys.END)
    markers = page.all(".plot .marker", folder)
    expect(len(markers) >= 4, "the time is marked in the charts")
    charts = page.all(".chart", folder)
    ends = page.run("const g = [...arguments[0].querySelectorAll('line.grid')].map(l => Number(l.getAttribute('x2'))); return [Math.max(...g), Number(/[\\d.]+/.exec(arguments[0].querySelector('.marker').getAttribute('transform'))[0])]", charts[0])
    expect(abs(ends[0] - ends[1]) < 1, f"at its place: {ends}")
    before = picture()
    page.all("canvas.sphere", folder)[0].send_keys(Keys.ARROW_RIGHT)
    expect(picture() != before, "arrow keys turn the view")
    try_charts(page, data, charts)


def try_charts(page, data, charts):
    lines = lambda: [len(page.all("path.line", chart)) for chart in charts]
    colours = lambda chart: [line.get_attribute("stroke") for line in page.all("path.line", chart)]
    series = data["parts"][2]["series"]
    expect(lines()[:2] == [6, 6], f"a line a scheme: {lines()}")
    expect(colours(charts[0]) == [one["colour"] for one in series], f"each in its colour: {colours(charts[0])}")
    page.click(page.all(".legend button", charts[0])[1])
    expect(lines()[:2] == [5, 5], f"a line that is hidden is hidden in all charts: {lines()}")
    expect(series[1]["colour"] not in colours(charts[1]) and series[0]["colour"] in colours(charts[1]), "it is the one whose name was clicked")
    expect(page.all(".legend button", charts[0])[1].get_attribute("aria-pressed") == "false", "its button says so")
    plot = page.all(".plot", charts[0])[0]
    plot.send_keys(Keys.ARROW_RIGHT)
    said = page.all(".readout", charts[0])[0].text
    expect(series[1]["name"] not in said.split("\n")[1:][0:6] and f"{series[1]['name']} " not in said, f"and is not read: {said!r}")
    page.click(page.all(".legend button", charts[0])[1])
    page.run("arguments[0].dispatchEvent(new Event('pointerleave'))", plot)
    for number, chart in enumerate(charts[1:3]):
        for wanted in (True, False):
            box = page.all(".switches .tick input", chart)[1]
            if box.is_selected() != wanted:
                page.click(box)
            ticks = page.run(Y_TICKS, chart)
            log = is_straight(ticks, math.log) if all(v > 0 for v, _ in ticks) else False
            expect(len(ticks) > 1 and (log if wanted else is_straight(ticks, lambda v: v)), f"the log switch of chart {number + 2}, {wanted}: {ticks}")
    plot.send_keys(Keys.ARROW_RIGHT)
    said = page.all(".readout", charts[0])[0].text
    expect(said.startswith("depth (time) 0:") and "post-ln" in said, f"arrow keys read values: {said!r}")
    for _ in range(6):
        plot.send_keys(Keys.ARROW_RIGHT)
    said = page.all(".readout", charts[0])[0].text
    value = series[0]["y"]["cosine.mean"][6]
    expect(said.startswith(f"depth (time) {series[0]['x'][6]:g}:") and f"{series[0]['name']} {float('%.5g' % value):g}" in said, f"and they are those of the run: {said!r}, {value}")
    page.click(page.all(".numbers summary", charts[0])[0])
    page.wait(lambda: page.all(".numbers tr", charts[0]), "the numbers open")
    row = [cell.text for cell in page.all(".numbers tbody tr", charts[0])[6].find_elements("css selector", "td")]
    expect(row[0] == series[0]["name"] and float(row[1]) == series[0]["x"][6] and math.isclose(float(row[2]), value, rel_tol=1e-4), f"the table has them too: {row}")
    page.run("const s = arguments[0]; s.value = 'energy'; s.dispatchEvent(new Event('change'))", page.all(".switches select", charts[0])[0])
    expect(page.all("figcaption", charts[0])[0].text == "energy", "another quantity can be chosen")
    expect("never rises" in page.all(".caption", charts[0])[0].text, "and is explained")


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
    search.send_keys(" nowhere")
    expect(not visible(), f"and none when a word is nowhere: {visible()}")
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
    expect("share of active keys" in detail, f"a head shows its numbers: {detail[:80]!r}")
    expect(detail.lower().startswith(head.get_attribute("aria-label").split(":")[0]), f"its own: {detail[:30]!r}, {head.get_attribute('aria-label')}")
    page.run("const s = arguments[0]; s.value = 'active'; s.dispatchEvent(new Event('change'))", page.all(".head-map select", folders[4])[0])
    said = [p.text for p in page.all(".head-map > .caption", folders[4])]
    expect(said == ["How many keys hold 90 % of the weight, mean over queries."], f"another colour is explained: {said}")
    expect(page.all(".findings .verdict", folders[5]), "the preflight has a verdict")
    for folder in folders:
        expect(len(page.all(".short p", folder)) >= 1, f"it begins with what was run: {folder.text[:80]!r}")
    law = folders[6]
    expect("6 equations were asked" in law.text and "slows down like t^-3" in law.text and len(page.all("path.line", law)) == 18, "theory has its laws and curves")
    for folder in folders[2:7]:
        expect(not page.all(".unreadable", folder), f"everything can be read: {[e.text for e in page.all('.unreadable', folder)]}")


def try_fixed_simulation(page):
    charts = page.all(".chart")
    band = page.run("return arguments[0].querySelector('path[fill-opacity]').getBBox()", charts[0])
    ticks = page.run(Y_TICKS, charts[0])
    place = lambda v: min(ticks)[1] + (v - min(ticks)[0]) * (max(ticks)[1] - min(ticks)[1]) / (max(ticks)[0] - min(ticks)[0]) - 4
    least, most = 0, 1 - math.exp(-9.6) + 0.2 * math.exp(-9.6) * (1 - math.exp(-9.6))  # of post-ln: rate 1.2, depth 4
    expect(abs(band["y"] - place(most)) < 2 and abs(band["y"] + band["height"] - place(least)) < 2, f"the band reaches from edge to edge: {band}, {ticks}")
    expect(len(page.all("path[fill-opacity]", charts[2])) == 0, "lengths have no band here")
    # Depths are 0, 0.5 .. 4; on a log axis they begin at 0.5. At 1 post-ln is the highest line and pre-ln the lowest.
    place, _ = page.run(POINT_AT, charts[0], "2")
    expect(place == "depth (time) 2:", f"the depth that is pointed at is read: {place!r}")
    page.click(page.all(".switches .tick input", charts[0])[0])
    for number in ("0.5", "1", "2"):
        place, values = page.run(POINT_AT, charts[0], number)
        expect(place == f"depth (time) {number}:", f"also on a log axis, {number}: {place!r}")
        wanted = [f"{name} {1 - math.exp(-rate * float(number) ** 2 / 2):.5g}" for name, rate in (("post-ln", 1.2), ("peri-ln", 0.6), ("pre-ln", 0.3))]
        expect(values == wanted, f"values stand in the order of the lines, the highest first: {values}, {wanted}")


def try_long_simulation(page, runs, cosine_of, edges_of):
    """More samples than a screen shows: a line and the edges of its band have each the points where they turn."""
    chart = page.all(".chart")[0]
    expect("pale band holds the middle 90 %" in page.all(".caption", chart)[0].text, "a long run says what its band is")
    ticks = page.run(Y_TICKS, chart)
    bands = [band.get_attribute("d") for band in page.all("path[fill-opacity]", chart)]
    expect(len(bands) == len(runs), f"and has one a line: {len(bands)}")
    for (name, _, rate), band in zip(runs, bands):
        points = [tuple(map(float, point.split())) for point in re.findall(r"[-0-9.]+ [-0-9.]+", band)]
        left, right = min(points)[0], max(points)[0]
        worst = 0
        for number, (x, y) in enumerate(points):
            t = 4 * (x - left) / (right - left)
            value = min(ticks)[0] + (y + 4 - min(ticks)[1]) * (max(ticks)[0] - min(ticks)[0]) / (max(ticks)[1] - min(ticks)[1])
            worst = max(worst, abs(value - edges_of(cosine_of(rate, t), t)[0 if number >= len(points) / 2 else 1]))
        expect(worst < 0.03, f"the band of {name} goes along its edges: {worst} beside them")


def try_fixed_claims(page):
    expect("Of 6 claims of 2 papers 3 hold as stated, 1 holds once corrected, 1 fails and 1 is undecided." in page.all(".short")[0].text, "the page begins with its result")
    heads = [h.text for h in page.all(".claims h4")]
    expect(heads == ["“Normalization in Attention Dynamics” 3 holds, 1 holds-corrected", "“Stability of Transformers under Layer Normalization” 1 fails, 1 undecided"], f"papers stand apart: {heads}")
    instead = [e.text for e in page.all(".instead")]
    expect(instead == ["Number 3 is twice as large.", "Number 4 is twice as large.", "Number 5 is twice as large."], f"what does not hold says what is true: {instead}")
    gap = page.all(".telling path.line")[1].get_attribute("d")
    expect(gap.count("M") == 2 and gap.count("L") == 18, f"what is not a number is a gap: {gap}")
    tally = page.run("return [...document.querySelectorAll('.tally span')].map(e => [e.className, Number(e.style.flexGrow)])")
    expect(tally == [["v-holds", 3], ["v-holds-corrected", 1], ["v-fails", 1], ["v-undecided", 1]], f"the strip counts: {tally}")
    claim = page.all(".claim[data-id=dynamics-two]")[0]
    page.click(page.all("summary", claim)[0])
    page.wait(lambda: page.all("canvas.heat", claim), "the map is there")
    page.all("canvas.heat", claim)[0].send_keys(Keys.ARROW_RIGHT)
    said = page.all(".readout", claim)[1].text
    expect(said == "beta 2, tokens 64: ratio 3.2", f"larger y is higher: {said!r}")
    rows = [s.text for s in page.all(".heat-y span", claim)]
    expect(rows == ["64", "16", "4"], f"and its numbers stand beside it: {rows}")
    pixel = page.run("const c = arguments[0].getContext('2d'); return [...c.getImageData(0, 0, 1, 1).data, ...c.getImageData(2, 2, 1, 1).data]", page.all("canvas.heat", claim)[0])
    expect(pixel[0] > pixel[2] + 60 and pixel[6] > pixel[4] + 60, f"orange above the boundary, blue below: {pixel}")
    news = [e.text for e in page.all(".news")]
    expect(news == [], f"what could not be decided is no news: {news}")
    claim = page.all(".claim[data-id=dynamics-four]")[0]
    page.click(page.all("summary", claim)[0])
    page.wait(lambda: page.all("canvas.heat", claim), "the second map is there")
    bar = page.all(".colour-bar", claim)[0].text
    expect(re.sub(r"\s+", " ", bar) == "difference: -4 4", f"around a boundary colours reach equally far to both sides: {bar!r}")
    for row, tokens in enumerate((4, 3, 2, 1, 0)):
        page.run("const c = arguments[0], b = c.getBoundingClientRect();"
                 "c.dispatchEvent(new PointerEvent('pointermove', { clientX: b.left + 0.75 * b.width, clientY: b.top + arguments[1] * b.height }))",
                 page.all("canvas.heat", claim)[0], (row + 0.5) / 5)
        said = page.all(".readout", claim)[0].text
        expect(said == f"beta 1, tokens {tokens}: difference {tokens - 1}", f"the cell that is pointed at is read: {said!r}")
    claim = page.all(".claim[data-id=dynamics-three]")[0]
    page.click(page.all("summary", claim)[0])
    page.wait(lambda: page.all("path.line", claim), "the line is there")
    ticks = page.run(Y_TICKS, claim)
    expect(max(ticks)[0] == 1 and min(ticks)[0] == 0, f"an axis ends where its figure says, also where a line goes on: {ticks}")


def try_two_folders(page):
    """A simulation of which one run goes on, one diverged and one met its event, with speeds over eight powers of ten, and claims."""
    links = [(a.text, a.get_attribute("href").split("#")[1]) for a in page.all("nav a")]
    expect(links == [("Simulation: fixed-ended", "folder-0"), ("Claims of the papers: fixed-claims", "folder-1")], f"two folders have links: {links}")
    folder = page.all(".folder")[0]
    slider = page.all(".controls input[type=range]", folder)[0]
    states = lambda: [cell.text for cell in page.all(".cell .state", folder)]
    slider.send_keys(Keys.HOME)
    expect(states() == ["", "", ""], f"at the start none has ended: {states()}")
    # All schemes begin at the same points, and have gone different ways at the next moment.
    at_start = page.run(COLOURED)
    slider.send_keys(Keys.ARROW_RIGHT)
    at_next = page.run(COLOURED)
    expect(at_start < 0.1 < 0.3 < at_next, f"the first moment is the start: {at_start} of the dots differ there, {at_next} at the next")
    slider.send_keys(Keys.END)
    expect(page.all(".clock", folder)[0].text == "depth 4", f"the player goes on to the end of the longest run: {page.all('.clock', folder)[0].text}")
    expect(states() == ["(so far)", "(ended: diverged)", "(event reached)"], f"at the end it says which did not come through: {states()}")
    chart = next(c for c in page.all(".chart", folder) if page.all("figcaption", c)[0].text == "angular speed")
    log = page.all(".switches .tick input", chart)[1]
    if not log.is_selected():
        page.click(log)
    ticks = [value for value, _ in page.run(Y_TICKS, chart)]
    expect(max(ticks) == 1e4 and min(ticks) == 1e-4, f"a log axis has its first and last power of ten: {ticks}")
    for edge, where in (("speed.lo", "below"), ("speed.hi", "above")):
        page.run("const s = arguments[0]; s.value = arguments[1]; s.dispatchEvent(new Event('change'))", page.all(".switches select", chart)[0], edge)
        said = page.all(".caption", chart)[0].text
        expect(f"5 % of the systems (independent starts) are {where}." in said, f"{edge} says what it is: {said!r}")


def try_three_folders(page):
    """Values that are or begin at zero, tokens in more dimensions than three, blocks of more than one digit."""
    zeros, space, heads = page.all(".folder")
    charts = {page.all("figcaption", chart)[0].text: chart for chart in page.all(".chart", zeros)}
    still, lengths = charts["angular speed"], charts["length of the stream"]
    places = page.run("return [...arguments[0].querySelectorAll('path.line')].map(p => { const b = p.getBBox(); return [b.width, b.y]; })", still)
    zero = [y for value, y in page.run(Y_TICKS, still) if value == 0]
    expect(len(zero) == 1 and len(places) == 3 and all(wide > 100 and abs(y - zero[0] + 4) < 1 for wide, y in places), f"lines along zero are drawn there: {places}, {zero}")
    expect(not page.all(".switches .tick input", lengths)[1].is_selected(), "values from zero on have an even axis")
    ticks = page.run(Y_TICKS, lengths)
    expect(min(ticks)[0] == 0 and is_straight(ticks, lambda v: v), f"with zero on it: {ticks}")
    words = page.run("return arguments[0].textContent", space)
    expect("which show 75 % of their squared length" in words, "of eight dimensions it says how much is seen")
    blocks = [name.text for name in page.all(".heads .row .name", heads)]
    expect(blocks == [f"block {k}" for k in range(12)], f"blocks stand in the order of their numbers: {blocks}")
    # Of block 3 the entropies are 3 and 3.1, and every head gives its first token 0.5.
    for quantity, words in (("entropy", "entropy of attention 3.1"), ("first_token", "first token 0.5"), ("entropy", "entropy of attention 3.1")):
        page.run("const s = arguments[0]; s.value = arguments[1]; s.dispatchEvent(new Event('change'))", page.all(".head-map select", heads)[0], quantity)
        said = page.run("return [...arguments[0].querySelectorAll('button.head')].map(b => [b.title, b.getAttribute('aria-label')]).filter(b => b[0].startsWith('block 3, head 1:'))", heads)
        expect(said == [[f"block 3, head 1: {words}"] * 2], f"a square tells the number that it is coloured by: {said}")


def try_narrow(page):
    """Numbers beside an axis are those of their places also where they differ in a late digit; a line that has ended has no value behind its end."""
    chart = page.all(".chart")[0]
    ticks = page.run(Y_TICKS, chart)
    expect(len({value for value, _ in ticks}) == len(ticks) > 2, f"every number beside the axis is another: {ticks}")
    expect(is_straight(ticks, lambda v: v), f"and stands at its place: {ticks}")
    plot = page.all(".plot", chart)[0]
    for _ in range(9):
        plot.send_keys(Keys.ARROW_RIGHT)
    said = page.all(".readout", chart)[0].text
    expect(said.startswith("depth (time) 4:") and "post-ln 0.99998" in said, f"the end is read: {said!r}")
    expect("pre-ln (at 2) 0.99994" in said, f"of a line that has ended its last value, with its place: {said!r}")
    bands = [band.get_attribute("d") for band in page.all("path[fill-opacity]", chart)]
    expect(len(bands) == 1 and bands[0].count("M") == 2 and bands[0].count("L") == 14, f"a band has a gap where it has no edges: {bands}")


def try_many_runs(page, count):
    """A table that is longer than a page shows."""
    folder = page.all(".folder")[1]
    rows = page.run("return arguments[0].querySelectorAll('tbody tr').length", folder)
    said = [p.text for p in page.all(".caption", folder)]
    expect(1 < rows < count and said == [f"The first {rows} of {count:,} rows."], f"a long table says how many rows there are: {rows}, {said}")
