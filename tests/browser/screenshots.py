"""Pictures of the page beside pictures that were looked at and kept.

Two pages of fixed data, each as it is on a desk (1280, light) and on a phone (390, dark). Not the whole page is compared, because another font
breaks lines elsewhere and moves all that follows, but what is drawn: spheres, charts, maps, the strip of verdicts. A piece is
cut into 24 x 16 cells whatever its size, and every cell is the mean colour of its pixels; a reference is a PNG of such cells,
references/PAGE-LOOK.png, one row of pieces, enlarged 4 times so that people can look at it. (Its smallest copy is what is compared.)

How the tolerance was chosen, of 255 steps a channel: the same page in other letters (serif, monospace, condensed, a tenth larger)
differs by at most 41 in a cell and by 2.0 on the mean of a piece; one and a half times that is allowed. Decision 46 has what planted
mistakes reach. Text that lies on other text is found by its boxes instead (OVERLAPS): a few letters hardly change a mean.

To record anew after a change that was meant: browser_test.py PROGRAM --record, and look at the new pictures before they are committed.
"""
import base64
import json
import pathlib
import struct
import time
import zlib

from driver import Page, expect

HERE = pathlib.Path(__file__).resolve().parent / "references"
ACROSS, DOWN, ENLARGED = 24, 16, 4
WORST_CELL = 62   # difference of one cell in one channel
WORST_MEAN = 3    # mean difference of a piece
LOOKS = {"desk-light": ("light", 1280), "phone-dark": ("dark", 390)}
PIECES = {"simulation": ["canvas.sphere", ".spheres .meter .bar", ".chart .plot"], "claims": [".tally", ".telling .plot", "canvas.heat", ".colour-bar .strip"]}

CELLS = """
const [source, across, down, done] = arguments;
const image = new Image();
image.onload = () => {
    const canvas = document.createElement('canvas');
    canvas.width = image.width; canvas.height = image.height;
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    const cells = [];
    for (let i = 0; i < down; ++i) for (let j = 0; j < across; ++j) {
        const sum = [0, 0, 0, 0];
        for (let y = Math.floor(i * image.height / down); y < Math.max(Math.floor(i * image.height / down) + 1, Math.floor((i + 1) * image.height / down)); ++y)
            for (let x = Math.floor(j * image.width / across); x < Math.max(Math.floor(j * image.width / across) + 1, Math.floor((j + 1) * image.width / across)); ++x) {
                for (let k = 0; k < 3; ++k) sum[k] += data[4 * (y * image.width + x) + k];
                ++sum[3];
            }
        cells.push(...sum.slice(0, 3).map(v => Math.round(v / sum[3])));
    }
    done(cells);
};
image.onerror = () => done([]);
image.src = 'data:image/png;base64,' + source;
"""

# Texts of a drawing whose boxes lie on each other, or leave the drawing.
OVERLAPS = """
const bad = [];
for (const plot of document.querySelectorAll('svg.plot')) {
    const frame = plot.getBoundingClientRect();
    if (frame.width === 0) continue;
    const texts = [...plot.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
    texts.forEach(([words, box], i) => {
        if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) bad.push(`"${words}" leaves its chart`);
        for (const [other, there] of texts.slice(i + 1)) {
            const wide = Math.min(box.right, there.right) - Math.max(box.left, there.left), high = Math.min(box.bottom, there.bottom) - Math.max(box.top, there.top);
            if (wide > 1 && high > 3) bad.push(`"${words}" lies on "${other}"`);
        }
        const clip = plot.querySelector('clipPath rect'), scale = plot.viewBox.baseVal.width ? frame.width / plot.viewBox.baseVal.width : 1;
        const edge = name => Number(clip.getAttribute(name)) * scale;
        const shapes = [...plot.querySelectorAll('path.line, path.dots')].map(p => { const b = p.getBoundingClientRect();
            if (!p.closest('[clip-path]')) return b;
            return { left: Math.max(b.left, frame.left + edge('x')), right: Math.min(b.right, frame.left + edge('x') + edge('width')),
                top: Math.max(b.top, frame.top + edge('y')), bottom: Math.min(b.bottom, frame.top + edge('y') + edge('height')) }; });
        const inside = shapes.some(s => box.left + box.width / 2 > s.left && box.left + box.width / 2 < s.right && box.top + box.height / 2 > s.top && box.top + box.height / 2 < s.bottom);
        if (inside) bad.push(`"${words}" lies on the lines`);
    });
}
return bad;
"""


def written(path, cells):
    """Rows of cells as a PNG, each cell a square of ENLARGED pixels."""
    rows = b""
    for row in cells:
        rows += (b"\0" + b"".join(bytes(cell) * ENLARGED for cell in row)) * ENLARGED
    chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    head = struct.pack(">IIBBBBB", len(cells[0]) * ENLARGED, len(cells) * ENLARGED, 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def read(path):
    """What `written` wrote: no filters, one block of data."""
    bytes_ = path.read_bytes()
    width, height = struct.unpack(">II", bytes_[16:24])
    size = struct.unpack(">I", bytes_[33:37])[0]
    rows = zlib.decompress(bytes_[41:41 + size])
    line = 1 + 3 * width
    return [[tuple(rows[i * ENLARGED * line + 1 + 3 * j * ENLARGED:][:3]) for j in range(width // ENLARGED)] for i in range(height // ENLARGED)]


def pieces_of(page, name):
    """(what it is, its cells) of everything drawn that is compared."""
    # Claims stand closed: the map is in the evidence of one of them.
    page.run("for (const d of document.querySelectorAll('.claim[data-id=dynamics-two]')) d.open = true;"
             "const s = document.querySelector('.controls input[type=range]'); if (s) { s.value = 375; s.dispatchEvent(new Event('input')); }")
    time.sleep(0.3)
    boxes = []
    for selector in PIECES[name]:
        found = page.run("return [...document.querySelectorAll(arguments[0])].map(e => { const b = e.getBoundingClientRect();"
                         "return [b.left + scrollX, b.top + scrollY, b.width, b.height]; })", selector)
        boxes += [(f"{selector} {k + 1}", box) for k, box in enumerate(found) if min(box[2:]) >= 1]  # what is not shown is not drawn
    taken = []
    for what, (x, y, width, height) in boxes:
        shot = page.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True,
                                                                      "clip": {"x": x, "y": y, "width": width, "height": height, "scale": 1}})
        taken.append((what, shot["data"]))
    page.driver.get("data:text/html,<title>cells</title>")  # where images are allowed
    pieces = []
    for what, data in taken:
        flat = page.driver.execute_async_script(CELLS, data, ACROSS, DOWN)
        pieces.append((what, [[tuple(flat[3 * (i * ACROSS + j):][:3]) for j in range(ACROSS)] for i in range(DOWN)]))
    return pieces


def difference(one, other):
    """(the worst cell, the mean) over all channels."""
    values = [abs(a - b) for r, s in zip(one, other) for p, q in zip(r, s) for a, b in zip(p, q)]
    return max(values), sum(values) / len(values)


def compare(driver, files, record, say=False):
    """files: page name -> html. Returns the largest differences, for who wants to choose a tolerance."""
    worst = [0, 0]
    for name, file in files.items():
        for look, (scheme, width) in LOOKS.items():
            page = Page(driver, file)
            page.look(scheme, width, still=True)
            page.driver.get(file.as_uri())
            page.wait(lambda: page.run("return document.getElementById('page').dataset.ready === 'yes'"), "the page is drawn")
            bad = page.run(OVERLAPS)
            expect(not bad, f"{name}, {look}: text that cannot be read: {bad[:3]}")
            pieces = pieces_of(page, name)
            reference = HERE / f"{name}-{look}.png"
            if record:
                written(reference, [sum((cells[i] for _, cells in pieces), []) for i in range(DOWN)])
                continue
            if not reference.is_file():
                expect(False, f"{reference.name} is missing: record it with --record")
                continue
            kept = read(reference)
            count = len(kept[0]) // ACROSS
            expect(len(pieces) == count, f"{name}, {look}: {len(pieces)} things are drawn, {count} were when the picture was kept: {[w for w, _ in pieces]}")
            for k, (what, cells) in enumerate(pieces[:count]):
                cell, mean = difference(cells, [row[k * ACROSS:(k + 1) * ACROSS] for row in kept])
                worst = [max(worst[0], cell), max(worst[1], mean)]
                if say:
                    print(f"{name} {look} {what}: {cell} {mean:.2f}")
                expect(cell <= WORST_CELL and mean <= WORST_MEAN, f"{name}, {look}: {what} looks different: {cell} in a cell, {mean:.1f} on the mean")
    return worst
