// The figures that commands drew, interactive: lines, heat maps, boxes.
import { BoxFigure, Figure, HeatFigure, LineFigure } from './document';
import { colour_of, make, svg } from './dom';
import { Chart } from './chart';
import { Scale, digits_for, show } from './number';

export function figure_of(figure: Figure): HTMLElement {
    switch (figure.kind) {
        case 'lines': return lines(figure);
        case 'heat': return heat(figure);
        case 'boxes': return boxes(figure);
    }
}

function lines(figure: LineFigure): HTMLElement {
    return new Chart({
        title: figure.title, caption: figure.caption, x: figure.x.label, y: figure.y.label, log_x: figure.x.log, log_y: figure.y.log,
        bounds: { x: [figure.x.min, figure.x.max], y: [figure.y.min, figure.y.max] },
        lines: figure.series.map(series => ({ ...series })),
    }).element;
}

// From dark blue over green to light yellow, lighter all the way: it reads in grey and with every common colour blindness.
export function heat_colour(share: number): string {
    const stops: [number, number, number][] = [[33, 25, 84], [41, 87, 137], [30, 137, 131], [103, 183, 91], [240, 224, 110]];
    const place = Math.max(0, Math.min(1, share)) * (stops.length - 1);
    const i = Math.min(stops.length - 2, Math.floor(place));
    const mixed = stops[i]!.map((v, k) => Math.round(v + (place - i) * (stops[i + 1]![k]! - v)));
    return `rgb(${mixed.join(',')})`;
}

// Around a boundary: blue below it, grey-white at it, orange-brown above.
function side_colour(share: number): string {
    const stops: [number, number, number][] = [[31, 84, 148], [134, 163, 203], [238, 236, 234], [204, 154, 121], [136, 71, 21]];
    const place = Math.max(0, Math.min(1, share)) * (stops.length - 1);
    const i = Math.min(stops.length - 2, Math.floor(place));
    return `rgb(${stops[i]!.map((v, k) => Math.round(v + (place - i) * (stops[i + 1]![k]! - v))).join(',')})`;
}

// The range of the colours; around a boundary it reaches equally far to both sides.
function colour_scale(figure: HeatFigure): Scale | null {
    const scale = Scale.over(figure.values, figure.colour.log, 0, 1, figure.colour.min, figure.colour.max);
    const centre = figure.centre;
    if (!scale || centre === undefined) return scale;
    if (scale.log) {
        const reach = Math.max(scale.hi / centre, centre / scale.lo);
        return new Scale(centre / reach, centre * reach, true, 0, 1);
    }
    const reach = Math.max(scale.hi - centre, centre - scale.lo);
    return new Scale(centre - reach, centre + reach, false, 0, 1);
}

export function colour_bar(scale: Scale, label: string, colour: (share: number) => string = heat_colour): HTMLElement {
    const strip = make('span', { class: 'strip', 'aria-hidden': 'true' });
    const stops = [0, 0.25, 0.5, 0.75, 1].map(share => colour(share));
    strip.style.background = `linear-gradient(90deg, ${stops.join(',')})`;
    const digits = digits_for(Math.max(Math.abs(scale.lo), Math.abs(scale.hi)), (scale.hi - scale.lo) / 10);
    return make('div', { class: 'colour-bar' }, `${label}: ${show(scale.lo, digits)} `, strip, ` ${show(scale.hi, digits)}${scale.log ? ' (log)' : ''}`);
}

// Numbers along an edge of a heat map; of many, some.
function heat_labels(values: number[], name: string): HTMLElement {
    const step = Math.max(1, Math.ceil(values.length / 12));
    return make('div', { class: name, 'aria-hidden': 'true' }, ...values.map((value, i) => make('span', {}, i % step === 0 ? show(value, 3) : '')));
}

function heat(figure: HeatFigure): HTMLElement {
    const columns = figure.x_values.length;
    const rows = figure.y_values.length;
    const scale = colour_scale(figure);
    const colour = figure.centre === undefined ? heat_colour : side_colour;
    const canvas = make('canvas', { class: 'heat', tabindex: 0, role: 'img', width: columns, height: rows,
        'aria-label': `${figure.title}: ${figure.colour.label} over ${figure.x.label} and ${figure.y.label}. Arrow keys read cells.` });
    const context = canvas.getContext('2d');
    const upwards = rows < 2 || figure.y_values[1]! > figure.y_values[0]!;  // larger y is higher
    const row_at = (line: number) => upwards ? rows - 1 - line : line;
    for (let line = 0; context && line < rows; ++line) {
        for (let j = 0; j < columns; ++j) {
            const share = scale ? scale.at(figure.values[row_at(line) * columns + j]) : NaN;
            context.fillStyle = Number.isNaN(share) ? '#888' : colour(share);
            context.fillRect(j, line, 1, 1);
        }
    }
    const readout = make('div', { class: 'readout', 'aria-live': 'polite' }, 'Point at a cell, or use the arrow keys, to read it.');
    let cell: [number, number] = [0, 0];
    const read = () => {
        const [j, line] = cell;
        const i = row_at(line);
        readout.textContent = `${figure.x.label} ${show(figure.x_values[j])}, ${figure.y.label} ${show(figure.y_values[i])}: ` +
            `${figure.colour.label} ${show(figure.values[i * columns + j], 5)}`;
    };
    canvas.addEventListener('pointermove', event => {
        const box = canvas.getBoundingClientRect();
        cell = [Math.min(columns - 1, Math.max(0, Math.floor((event.clientX - box.left) / box.width * columns))),
            Math.min(rows - 1, Math.max(0, Math.floor((event.clientY - box.top) / box.height * rows)))];
        read();
    });
    canvas.addEventListener('keydown', event => {
        const move = ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] } as { [key: string]: [number, number] })[event.key];
        if (!move) return;
        event.preventDefault();
        cell = [Math.min(columns - 1, Math.max(0, cell[0] + move[0])), Math.min(rows - 1, Math.max(0, cell[1] + move[1]))];
        read();
    });
    return make('figure', { class: 'chart' }, make('figcaption', {}, figure.title), scale ? colour_bar(scale, figure.colour.label, colour) : null,
        make('div', { class: 'heat-axis' }, `↑ ${figure.y.label}`),
        make('div', { class: 'heat-plot' }, heat_labels(Array.from({ length: rows }, (_, line) => figure.y_values[row_at(line)]!), 'heat-y'), canvas,
            make('span', {}), heat_labels(figure.x_values, 'heat-x')),
        make('div', { class: 'heat-axis right' }, `${figure.x.label} →`),
        readout, figure.caption ? make('p', { class: 'caption' }, figure.caption) : null);
}

function boxes(figure: BoxFigure): HTMLElement {
    const values = figure.groups.flatMap(group => [...group.five, ...group.marks.map(mark => mark.value)]);
    const plot = svg('svg', { class: 'plot', role: 'img', 'aria-label': figure.title });
    const marks = [...new Set(figure.groups.flatMap(group => group.marks.map(mark => mark.label)))];
    const mark_colour = (label: string) => colour_of('', marks.indexOf(label) + 1);
    const readout = make('div', { class: 'readout', 'aria-live': 'polite' }, 'Each box spans the middle half of the values, the line in it is the median, the thin line reaches from the least to the largest.');
    const draw = () => draw_boxes(figure, values, plot, mark_colour, said => { readout.textContent = said; });
    const key = make('div', { class: 'legend' }, ...marks.map(label => {
        const sample = svg('svg', { width: 10, height: 16, 'aria-hidden': 'true' }, svg('line', { x1: 5, x2: 5, y1: 0, y2: 16, class: 'mark', stroke: mark_colour(label) }));
        return make('span', { class: 'value' }, sample, ` ${label}`);
    }));
    draw();
    new ResizeObserver(draw).observe(plot);
    return make('figure', { class: 'chart' }, make('figcaption', {}, figure.title), plot, marks.length ? key : null, readout, figure.caption ? make('p', { class: 'caption' }, figure.caption) : null);
}

// Laid out for the width there is, so that letters are as large on a phone as elsewhere.
function draw_boxes(figure: BoxFigure, values: (number | null)[], plot: SVGSVGElement, mark_colour: (label: string) => string, tell: (said: string) => void): void {
    const width = Math.max(260, plot.clientWidth || 640);
    const height = 34 + 26 * figure.groups.length + 30;
    if (plot.getAttribute('viewBox') === `0 0 ${width} ${height}`) return;
    plot.setAttribute('viewBox', `0 0 ${width} ${height}`);
    plot.setAttribute('height', String(height));
    const left = Math.min(0.45 * width, 16 + 6.6 * Math.max(4, ...figure.groups.map(group => group.label.length)));
    const scale = Scale.over(values, figure.axis.log, left, width - 16, figure.axis.min, figure.axis.max);
    plot.replaceChildren();
    if (!scale) return;
    for (const { value, label } of scale.ticks(Math.max(2, Math.floor((width - left) / 60)))) {
        plot.append(svg('line', { class: 'grid', x1: scale.at(value), x2: scale.at(value), y1: 16, y2: height - 34 }),
            svg('text', { class: 'axis', x: Math.min(scale.at(value), width - 2 - 3.4 * label.length), y: height - 20, 'text-anchor': 'middle' }, label));
    }
    const middle = Math.max((left + width) / 2, 0);
    const room = 3.2 * figure.axis.label.length;
    plot.append(svg('text', { class: 'axis label', x: Math.max(room + 2, Math.min(middle, width - 2 - room)), y: height - 4, 'text-anchor': 'middle' }, figure.axis.label));
    figure.groups.forEach((group, i) => {
        const y = 30 + 26 * i;
        const [min, lower, median, upper, max] = group.five.map(v => scale.at(v)) as [number, number, number, number, number];
        const colour = colour_of(group.colour, i);
        const row = svg('g', { class: 'group', tabindex: 0, role: 'img' }, svg('text', { class: 'axis', x: left - 8, y: y + 4, 'text-anchor': 'end' }, group.label));
        const said = `${group.label}: least ${show(group.five[0])}, lower quarter ${show(group.five[1])}, median ${show(group.five[2])}, upper quarter ${show(group.five[3])}, ` +
            `largest ${show(group.five[4])} (${group.count} values)` + group.marks.map(mark => `; ${mark.label} ${show(mark.value)}`).join('');
        row.setAttribute('aria-label', said);
        row.append(svg('rect', { x: left, y: y - 13, width: width - left, height: 26, fill: 'transparent' }));
        if (!Number.isNaN(min + max)) row.append(svg('line', { x1: min, x2: max, y1: y, y2: y, stroke: colour }));
        if (!Number.isNaN(lower + upper)) row.append(svg('rect', { x: lower, y: y - 8, width: Math.max(1, upper - lower), height: 16, fill: colour, 'fill-opacity': 0.35, stroke: colour }));
        if (!Number.isNaN(median)) row.append(svg('line', { x1: median, x2: median, y1: y - 8, y2: y + 8, stroke: colour, 'stroke-width': 3 }));
        for (const mark of group.marks) {
            const place = scale.at(mark.value);
            if (!Number.isNaN(place)) row.append(svg('line', { x1: place, x2: place, y1: y - 11, y2: y + 11, class: 'mark', stroke: mark_colour(mark.label) }));
        }
        row.addEventListener('pointerenter', () => tell(said));
        row.addEventListener('focus', () => tell(said));
        plot.append(row);
    });
}
