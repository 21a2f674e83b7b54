// A line chart: hover or arrow keys read values, buttons show and hide lines, switches make axes logarithmic, and the numbers
// stand in a table for those who cannot see the picture.
import { Numbers, Look } from './document';
import { colour_of, dash_of, make, svg, tick } from './dom';
import { Scale, drawable, nearest, show } from './number';

export interface Line extends Look { x: Numbers; y: Numbers; lo?: Numbers; hi?: Numbers; points: number }
export interface ChartData {
    title: string; caption: string; x: string; y: string; log_x: boolean; log_y: boolean; lines: Line[];
    bounds?: { x?: [number?, number?]; y?: [number?, number?] };
}
export interface ChartOptions { hidden?: Set<string>; toggled?: () => void; head?: Node; height?: number }

let charts = 0;  // every clip path has a name of its own

export class Chart {
    readonly element: HTMLElement;
    private readonly plot = svg('svg', { class: 'plot', tabindex: 0, role: 'img' });
    private readonly readout = make('div', { class: 'readout', 'aria-live': 'polite' });
    private readonly legend = make('div', { class: 'legend', role: 'group', 'aria-label': 'Lines to show' });
    private readonly numbers = make('details', { class: 'numbers' }, make('summary', {}, 'The numbers'));
    private readonly hidden: Set<string>;
    private readonly clip = `inside-${++charts}`;
    private readonly inside = svg('g', { class: 'inside', 'clip-path': `url(#${this.clip})` });
    private scales: { x: Scale; y: Scale } | null = null;
    private at: number | null = null;   // the x that is read
    private marker: number | null = null;  // an x that somebody else points at: the time of the spheres
    private data: ChartData;
    private width = 0;

    constructor(data: ChartData, private readonly options: ChartOptions = {}) {
        this.data = data;
        this.hidden = options.hidden ?? new Set();
        const switches = make('div', { class: 'switches' }, options.head ?? null,
            tick('log x', data.log_x, on => { this.data.log_x = on; this.draw(); }),
            tick('log y', data.log_y, on => { this.data.log_y = on; this.draw(); }));
        this.element = make('figure', { class: 'chart' }, make('figcaption', {}, data.title), switches, this.plot, this.readout,
            this.legend, data.caption ? make('p', { class: 'caption' }, data.caption) : null, this.numbers);
        this.name();  // it is drawn once it has a width; before that somebody may look for its plot and its buttons (carry.ts)
        this.plot.addEventListener('pointermove', event => this.read(event));
        this.plot.addEventListener('pointerdown', event => this.read(event));
        this.plot.addEventListener('pointerleave', () => { this.at = null; this.draw(); });
        this.plot.addEventListener('keydown', event => this.key(event));
        window.addEventListener('resize', () => this.draw());  // light and dark change colours too
        this.numbers.addEventListener('toggle', () => this.tabulate());
        new ResizeObserver(() => {
            if (Math.abs(this.element.clientWidth - this.width) > 1) this.draw();
        }).observe(this.element);
    }

    show(data: ChartData): void {
        const { log_x } = this.data;
        this.data = { ...data, log_x };
        this.element.querySelector('figcaption')!.textContent = data.title;
        const boxes = this.element.querySelectorAll<HTMLInputElement>('.switches .tick input');
        boxes[1]!.checked = data.log_y;
        this.numbers.open = false;
        this.draw();
    }

    // The same quantity with more points: axes, what is read and what is open stay.
    update(data: ChartData): void {
        this.data = { ...data, log_x: this.data.log_x, log_y: this.data.log_y };
        const focus = [...this.legend.children].indexOf(document.activeElement as Element);
        const top = this.numbers.querySelector('.scroll')?.scrollTop ?? 0;
        this.draw();
        this.tabulate();
        const table = this.numbers.querySelector('.scroll');
        if (table) table.scrollTop = top;
        if (focus >= 0) this.legend.querySelectorAll('button')[focus]?.focus({ preventScroll: true });
    }

    mark(x: number): void {
        this.marker = x;
        const line = this.plot.querySelector('.marker');
        if (this.scales && !line) {
            this.draw();
        } else if (this.scales && line) {
            const place = this.scales.x.at(x);
            line.setAttribute('transform', `translate(${Number.isNaN(place) ? -10 : place.toFixed(1)},0)`);
        }
    }

    private visible(): Line[] {
        return this.data.lines.filter(line => !this.hidden.has(line.name));
    }

    private *values(axis: 'x' | 'y'): Iterable<number | null> {
        for (const line of this.visible()) {
            for (let i = 0; i < line.x.length; ++i) {
                // A point counts only when both of its numbers can be drawn.
                const x = line.x[i] ?? null;
                const y = line.y[i] ?? null;
                if (!drawable(x, this.data.log_x) || !drawable(y, this.data.log_y)) continue;
                yield axis === 'x' ? x : y;
                if (axis === 'y' && line.lo && line.hi) {
                    yield line.lo[i] ?? null;
                    yield line.hi[i] ?? null;
                }
            }
        }
    }

    draw(): void {
        this.width = this.element.clientWidth;
        const width = Math.max(220, this.plot.parentElement === null ? 640 : this.plot.clientWidth || this.width);
        const height = this.options.height ?? Math.max(200, Math.min(300, width * 0.55));
        const { data } = this;
        this.plot.replaceChildren();
        this.plot.setAttribute('viewBox', `0 0 ${width} ${height}`);
        this.plot.setAttribute('height', String(height));
        this.name();
        const bottom = height - 40;
        const y = Scale.over(this.values('y'), data.log_y, bottom, 24, data.bounds?.y?.[0], data.bounds?.y?.[1]);
        const left = 14 + 6.4 * Math.max(3, ...(y?.ticks(6) ?? []).map(t => t.label.length));
        const x = Scale.over(this.values('x'), data.log_x, left, width - 14, data.bounds?.x?.[0], data.bounds?.x?.[1]);
        this.scales = x && y ? { x, y } : null;
        if (!x || !y) {
            const why = data.log_x || data.log_y ? 'Nothing here can be drawn on a log axis.' : 'There is nothing to draw.';
            this.plot.append(svg('text', { x: width / 2, y: height / 2, class: 'axis', 'text-anchor': 'middle' }, why));
            return;
        }
        this.draw_axes(x, y, width, bottom);
        // A line may go on where the axis does not: it ends at the edge, not on the numbers beside it.
        const edge = svg('rect', { x: x.from - 4, y: 20, width: x.to - x.from + 8, height: bottom - 16 });
        this.inside.replaceChildren();
        this.plot.append(svg('clipPath', { id: this.clip }, edge), this.inside);
        for (const line of this.visible()) this.draw_line(line, x, y);
        if (this.marker !== null) {
            const place = x.at(this.marker);
            this.plot.append(svg('line', { class: 'marker', y1: 24, y2: bottom, x1: 0, x2: 0, transform: `translate(${Number.isNaN(place) ? -10 : place.toFixed(1)},0)` }));
        }
        this.draw_cursor(x, y, bottom);
    }

    private draw_axes(x: Scale, y: Scale, width: number, bottom: number): void {
        for (const { value, label } of y.ticks(6)) {
            const place = y.at(value);
            this.plot.append(svg('line', { class: 'grid', x1: x.from, x2: x.to, y1: place, y2: place }),
                svg('text', { class: 'axis', x: x.from - 6, y: place + 4, 'text-anchor': 'end' }, label));
        }
        const whole = this.visible().every(line => line.x.every(value => value === null || Number.isInteger(value)));
        for (const { value, label } of x.ticks(Math.max(2, Math.floor(width / 90)), whole)) {
            const place = x.at(value);
            this.plot.append(svg('line', { class: 'grid', x1: place, x2: place, y1: 24, y2: bottom }),
                svg('text', { class: 'axis', x: Math.min(place, width - 2 - 3.4 * label.length), y: bottom + 16, 'text-anchor': 'middle' }, label));
        }
        this.plot.append(svg('text', { class: 'axis label', x: (x.from + x.to) / 2, y: bottom + 34, 'text-anchor': 'middle' }, this.data.x),
            svg('text', { class: 'axis label', x: 4, y: 13 }, this.data.y));
    }

    private draw_line(line: Line, x: Scale, y: Scale): void {
        const index = this.data.lines.indexOf(line);
        const colour = colour_of(line.colour, index);
        const inside = (value: number) => Math.max(-1e4, Math.min(1e4, value)).toFixed(1);
        if (line.lo && line.hi) {
            let above = '';
            let below = '';
            let band = '';
            const end = () => { band += above ? above + below + 'Z' : ''; above = below = ''; };
            for (let i = 0; i < line.x.length; ++i) {
                const [px, lo, hi] = [x.at(line.x[i]), y.at(line.lo[i]), y.at(line.hi[i])];
                // An edge that a log axis cannot show lies below it; where there is none, the band has a gap as its line has.
                const low = y.log && (line.lo[i] ?? 1) <= 0 ? y.from + 100 : lo;
                if (Number.isNaN(px + low + hi)) {
                    end();
                    continue;
                }
                above += `${above ? 'L' : 'M'}${inside(px)} ${inside(hi)}`;
                below = `L${inside(px)} ${inside(low)}` + below;
            }
            end();
            if (band) this.inside.append(svg('path', { d: band, fill: colour, 'fill-opacity': 0.15, stroke: 'none' }));
        }
        let path = '';
        let dots = '';
        let run = 0;
        for (let i = 0; i < line.x.length; ++i) {
            const [px, py] = [x.at(line.x[i]), y.at(line.y[i])];
            if (Number.isNaN(px + py)) {
                run = 0;
                continue;
            }
            path += `${run++ ? 'L' : 'M'}${inside(px)} ${inside(py)}`;
            // Few points are marked, so that nobody takes the line between them for data; a point between gaps has no line.
            const alone = run === 1 && Number.isNaN(x.at(line.x[i + 1]) + y.at(line.y[i + 1]));
            if (line.x.length <= 16 || alone) dots += `M${inside(px)} ${inside(py)}h0`;
        }
        if (path) this.inside.append(svg('path', { d: path, class: 'line', stroke: colour, 'stroke-dasharray': dash_of(line.dash) }));
        if (dots) this.inside.append(svg('path', { d: dots, class: 'dots', stroke: colour }));
    }

    private draw_cursor(x: Scale, y: Scale, bottom: number): void {
        this.readout.replaceChildren();
        if (this.at === null) {
            this.readout.append('Point at the chart, or use the arrow keys on it, to read values.');
            return;
        }
        const place = x.at(this.at);
        this.plot.append(svg('line', { class: 'cursor', x1: place, x2: place, y1: 24, y2: bottom }));
        const rows: [string, string, number][] = [];
        for (const line of this.visible()) {
            const i = nearest(line.x, this.at);
            const value = line.y[i];
            if (i < 0 || value === null || value === undefined) continue;
            const colour = colour_of(line.colour, this.data.lines.indexOf(line));
            const [px, py] = [x.at(line.x[i]), y.at(value)];
            if (!Number.isNaN(px + py)) this.plot.append(svg('circle', { cx: px, cy: py, r: 4, fill: colour }));
            // Of a line that ends before this place, or begins behind it, the nearest value is that of another place.
            const places = line.x.filter((place): place is number => place !== null);
            const nearby = line.x[i];
            const is_there = places.some(place => place <= this.at!) && places.some(place => place >= this.at!);
            rows.push([is_there ? line.name : `${line.name} (at ${show(nearby, 6)})`, colour, value]);
        }
        rows.sort((a, b) => b[2] - a[2]);
        this.readout.append(make('strong', {}, `${this.data.x} ${show(this.at, 6)}: `));
        for (const [name, colour, value] of rows.slice(0, 12)) {
            const sample = make('span', { class: 'sample' });
            sample.style.background = colour;
            this.readout.append(make('span', { class: 'value' }, sample, `${name} `, make('b', {}, show(value, 5))));
        }
    }

    private snap(wanted: number): void {
        let best: number | null = null;
        for (const line of this.visible()) {
            const value = line.x[nearest(line.x, wanted)];
            if (value !== null && value !== undefined && (best === null || Math.abs(value - wanted) < Math.abs(best - wanted))) best = value;
        }
        this.at = best;
        this.draw();
    }

    private read(event: PointerEvent): void {
        if (!this.scales) return;
        const { x } = this.scales;
        const box = this.plot.getBoundingClientRect();
        const place = (event.clientX - box.left) * (Number(this.plot.getAttribute('viewBox')!.split(' ')[2]) / box.width);
        const share = Math.max(0, Math.min(1, (place - x.from) / (x.to - x.from)));
        this.snap(x.log ? x.lo * (x.hi / x.lo) ** share : x.lo + share * (x.hi - x.lo));
    }

    private key(event: KeyboardEvent): void {
        const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
        const first = this.visible()[0];
        if (step === 0 || !this.scales || !first) return;
        event.preventDefault();
        const i = this.at === null ? (step > 0 ? -1 : first.x.length) : nearest(first.x, this.at);
        const value = first.x[Math.max(0, Math.min(first.x.length - 1, i + step))];
        if (value !== null && value !== undefined) {
            this.at = value;
            this.draw();
        }
    }

    private name(): void {
        const { data } = this;
        this.plot.setAttribute('aria-label', `${data.title}. ${data.y} over ${data.x}, ${this.visible().length} lines. Arrow keys read values.`);
        this.draw_legend();
    }

    private draw_legend(): void {
        this.legend.replaceChildren();
        this.data.lines.forEach((line, index) => {
            const on = !this.hidden.has(line.name);
            const key = svg('svg', { width: 22, height: 8, 'aria-hidden': 'true' },
                svg('line', { x1: 0, x2: 22, y1: 4, y2: 4, stroke: colour_of(line.colour, index), 'stroke-width': 3, 'stroke-dasharray': dash_of(line.dash) }));
            const toggle = make('button', { type: 'button', 'aria-pressed': String(on), title: on ? 'hide this line' : 'show this line' }, key, ' ' + line.name);
            toggle.addEventListener('click', () => {
                if (!this.hidden.delete(line.name)) this.hidden.add(line.name);
                const focus = index;
                if (this.options.toggled) this.options.toggled();
                else this.draw();
                this.legend.querySelectorAll('button')[focus]?.focus();
            });
            this.legend.append(toggle);
        });
    }

    private tabulate(): void {
        this.numbers.querySelector('.scroll')?.remove();
        if (!this.numbers.open) return;
        const body = make('tbody');
        let rows = 0;
        for (const line of this.visible()) {
            const step = Math.max(1, Math.ceil(line.x.length / 60));
            for (let i = 0; i < line.x.length; i += step, ++rows) {
                body.append(make('tr', {}, make('td', {}, line.name), make('td', { class: 'n' }, show(line.x[i], 6)), make('td', { class: 'n' }, show(line.y[i], 6))));
            }
        }
        const thinned = this.visible().some(line => line.points > line.x.length || line.x.length > 60);
        this.numbers.append(make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `${this.data.title}: the numbers` },
            thinned ? make('p', {}, 'A selection; the tables in the folder have every number.') : null,
            make('table', {}, make('thead', {}, make('tr', {}, make('th', {}, 'line'), make('th', {}, this.data.x), make('th', {}, this.data.y))), body)));
    }
}
