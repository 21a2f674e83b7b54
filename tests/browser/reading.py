"""Can it be read and used by everybody: names, contrast, headings, the keyboard."""
from driver import expect
from selenium.webdriver.common.keys import Keys

# Everything with a name that a screen reader can say; every text with a contrast of 4.5 (WCAG AA), opacity taken into account; headings in order.
UNREADABLE = """
const bad = [];
const words = e => (e && e.textContent || '').trim();
const named = e => (e.getAttribute('aria-label') || '').trim() !== '' || words(e) !== '' || (e.title || '').trim() !== '' || words(e.closest('label')) !== '';
for (const e of document.querySelectorAll('button, input, select, canvas, svg[role=img], [role=region], [role=group], [role=grid], [tabindex], summary, a, nav'))
    if (e.getClientRects().length > 0 && !e.closest('[aria-hidden=true]') && !named(e)) bad.push('no name: ' + e.outerHTML.slice(0, 90));
const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const rgb = text => { const c = text.match(/[\\d.]+/g).map(Number); return c.length < 4 ? [...c, 1] : c; };
const over = (top, below) => [0, 1, 2].map(k => top[3] * top[k] + (1 - top[3]) * below[k]);
const ground = e => { const layers = []; for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); layers.push(c); if (c[3] > 0.99) break; }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]); };
const seen = new Set();
for (const e of document.querySelectorAll('#page *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim() !== '') || (e.placeholder || '') !== '';
    if (!own || e.getClientRects().length === 0 || e.closest('option')) continue;
    const style = getComputedStyle(e, (e.placeholder || '') !== '' && !e.value ? '::placeholder' : null);
    const paper = ground(e);
    const ink = rgb(e instanceof SVGElement ? style.fill : style.color);
    for (let up = e; up; up = up.parentElement) ink[3] *= Number(getComputedStyle(up).opacity);
    const a = light(over(ink, paper)), b = light(paper);
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const key = `${contrast.toFixed(2)} ${e.tagName} ${e.className}`;
    if (contrast < 4.5 && !seen.has(key)) { seen.add(key); bad.push(`contrast ${key}: ${words(e).slice(0, 40)}`); }
    if (parseFloat(style.fontSize) < 10.5) bad.push(`letters of ${style.fontSize}: ${words(e).slice(0, 40)}`);
}
for (const e of document.querySelectorAll('.plot path.line, .plot rect[stroke], .plot line[stroke]')) {
    const c = e.getAttribute('stroke').match(/[0-9a-f]{2}/gi).map(v => parseInt(v, 16));
    const a = light(c), b = light(ground(e));
    if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 1.5) bad.push('a line that is hardly seen: ' + e.getAttribute('stroke'));
}
for (const e of document.querySelectorAll('svg.plot')) {
    const wide = e.getBoundingClientRect().width;
    if (wide > 0 && Math.abs(e.viewBox.baseVal.width / wide - 1) > 0.1) bad.push(`letters of a chart are ${(wide / e.viewBox.baseVal.width).toFixed(2)} of their size`);
}
let level = 0;
for (const h of document.querySelectorAll('h1, h2, h3, h4, h5')) {
    const now = Number(h.tagName[1]);
    if (h.getClientRects().length === 0) continue;
    if (now > level + 1) bad.push(`h${level} is followed by h${now}: ${words(h).slice(0, 40)}`);
    level = now;
}
if (document.querySelectorAll('h1').length !== 1) bad.push('there is not one h1');
for (const e of document.querySelectorAll('[tabindex]')) if (Number(e.getAttribute('tabindex')) > 0) bad.push('its own tab order: ' + e.outerHTML.slice(0, 60));
return bad;
"""


def try_reading(page, look):
    # A line that is hidden has a button that says so, and must be read as well.
    page.run("document.querySelectorAll('.legend button')[0].click()")
    found = page.run(UNREADABLE)
    page.run("document.querySelectorAll('.legend button')[0].click()")
    expect(not found, f"{look}: {found[:5]}")


FOCUS = "const e = document.activeElement; return [e.tagName, e.className, e.getAttribute('type'), getComputedStyle(e).outlineStyle]"
ORDER = """
return [...document.querySelectorAll('a, button, input, select, summary, [tabindex="0"]')].filter(e => e.getClientRects().length > 0).slice(0, arguments[0]).map(e => [e.tagName, e.className, e.getAttribute('type')]);
"""


def try_keyboard(page):
    """Tab goes through everything in the order it stands there, and where it is can be seen; space plays."""
    page.look("light", 1280, still=True)  # or it plays by itself
    page.driver.get(page.file.as_uri())
    page.run("document.activeElement.blur(); window.scrollTo(0, 0)")
    wanted = page.run(ORDER, 16)
    visited, rings = [], []
    for _ in range(16):
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
        *where, ring = page.run(FOCUS)
        visited.append(where)
        rings.append(ring)
    expect(visited == wanted, f"tab goes in order: {visited}, {wanted}")
    expect("none" not in rings, f"the focus can be seen: {list(zip(visited, rings))}")
    play, slider = page.all(".play")[0], page.all(".controls input[type=range]")[0]
    page.run("arguments[0].dispatchEvent(new Event('input'))", slider)  # stops it
    for element in (slider, page.all("canvas.sphere")[0], play):
        expect(play.text.endswith("Play"), "it stands still")
        element.send_keys(Keys.SPACE)
        expect(play.text.endswith("Pause"), f"space plays: {element.get_attribute('class')} {play.text}")
        element.send_keys(Keys.SPACE)
