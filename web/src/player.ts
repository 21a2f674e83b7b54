// Several spheres with one time and one view: play, pause, slider, speed, trails, rotate.
import { Spheres } from './document';
import { button, choice, colour_of, make, tick } from './dom';
import { Camera } from './camera';
import { Sphere } from './sphere';
import { show, show_cosine } from './number';

const SECONDS = 10;  // of the whole run at speed 1

// What a dot is, and what to look for; what else one may ask stands below the spheres.
function words_of(part: Spheres): string {
    const place = part.dim === 2 ? 'the circle' : part.dim === 3 ? 'the sphere' : `the unit sphere in ${part.dim} dimensions`;
    return `Each dot is one token: the direction of its vector, a point of ${place}. All schemes start alike. ` +
        'Dots that gather in one place are tokens that have become the same: the scheme has collapsed.';
}
function footnote_of(part: Spheres): string {
    const dots = part.shown < part.tokens
        ? `${part.shown} of the ${part.tokens.toLocaleString('en')} tokens are drawn, evenly chosen.`
        : `All ${part.tokens} tokens are drawn.`;
    const where = part.dim <= 3 ? '' : 'The dots are seen from the three directions along which those of all runs reach farthest (leading principal directions)' +
        (part.share === null ? '. ' : `, which show ${show(100 * part.share, 3)} % of their squared length; a dot inside the ball points partly elsewhere. `);
    return `The bar shows the mean cosine of all pairs of tokens: 0 when they are unrelated, 1 when all are equal. It is low as well where tokens gather in several places: ` +
        `a group counts tokens that point almost the same way (cosine above 0.999). ${where}${dots} `;
}

// Beside the name of a sphere that has no later frame, while the others may move on.
function words_of_end(outcome: string): string {
    switch (outcome) {
        case 'done': return '';
        case 'goes on': return '(so far)';
        case 'until': return '(event reached)';
        default: return `(ended: ${outcome})`;
    }
}

export class Player {
    readonly element: HTMLElement;
    private readonly camera = new Camera();
    private readonly spheres: Sphere[];
    private readonly bars: [HTMLElement, HTMLElement, HTMLElement, HTMLElement][] = [];
    private readonly slider = make('input', { type: 'range', min: 0, max: 1000, value: 0, 'aria-label': 'Depth (time); arrow keys go from moment to moment, space plays' });
    private readonly clock = make('output', { class: 'clock' });
    private readonly toggle = button('▶ Play', { class: 'play' }, () => this.play(!this.playing));
    private readonly times: number[];
    private share = 0;  // of the way through the frames
    private speed = 1;
    private trails = 8;
    private playing = false;
    private begun = false;  // has been played by itself
    private then = 0;
    private drag: [number, number] | null = null;

    constructor(private readonly part: Spheres, private readonly moved: (t: number) => void) {
        this.spheres = part.runs.map((run, i) => new Sphere(run, part.shown, part.dim, this.camera, i));
        this.times = part.runs.map(run => run.times).reduce((a, b) => (b[b.length - 1] ?? 0) > (a[a.length - 1] ?? 0) ? b : a, part.runs[0]?.times ?? []);
        this.look();
        const grid = make('div', { class: 'spheres' });
        this.spheres.forEach((sphere, i) => grid.append(this.cell(sphere, i)));
        this.slider.addEventListener('keydown', event => this.scrub(event));
        this.slider.addEventListener('input', () => { this.play(false); this.go(Number(this.slider.value) / 1000); });
        const controls = make('div', { class: 'controls', role: 'group', 'aria-label': 'Animation' }, this.toggle,
            button('⟲ Start', { 'aria-label': 'Back to the start' }, () => { this.play(false); this.go(0); }), this.slider, this.clock,
            choice('Speed', [['0.25', '¼×'], ['0.5', '½×'], ['1', '1×'], ['2', '2×'], ['4', '4×']], '1', value => { this.speed = Number(value); }),
            tick('trails', true, on => { this.trails = on ? 8 : 0; this.draw(); }),
            button('Reset view', {}, () => { this.look(); this.draw(); }));
        this.element = make('section', { class: 'player' }, make('h3', {}, part.title), make('p', {}, words_of(part)), controls, grid,
            make('p', { class: 'caption' }, footnote_of(part), (part.dim === 2 ? '' : 'Drag a sphere, or use the arrow keys on it, to turn all of them. ') +
                `${this.times.length} moments of the run are kept${part.samples > this.times.length ? ` (of ${part.samples.toLocaleString('en')} samples)` : ''}; between them dots move evenly.`));
        const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
        new IntersectionObserver(entries => {
            const seen = entries.some(entry => entry.isIntersecting);
            if (seen && !this.begun && !still && this.times.length > 1) { this.begun = true; this.play(true); }
            if (!seen) this.play(false);
        }, { threshold: 0.2 }).observe(this.element);
        new ResizeObserver(() => this.draw()).observe(grid);
    }

    // In place of another one, of the same run when it was shorter: view, moment, speed and motion are its own. Who had gone
    // to the end goes along with it.
    adopt(other: Player): void {
        if (this.part.dim === other.part.dim) this.camera.like(other.camera);
        this.begun = other.begun;
        const at_end = other.share >= 1 && other.times.length > 1;
        this.go(at_end ? 1 : this.share_at(other.time));
        this.play(other.playing);
        other.play(false);
    }

    private share_at(t: number): number {
        let i = 0;
        while (i + 2 < this.times.length && this.times[i + 1]! <= t) ++i;
        const span = (this.times[i + 1] ?? 0) - (this.times[i] ?? 0);
        const place = i + (span > 0 ? Math.max(0, Math.min(1, (t - this.times[i]!) / span)) : 0);
        return place / Math.max(1, this.times.length - 1);
    }

    private cell(sphere: Sphere, i: number): HTMLElement {
        const { run } = sphere;
        const fill = make('span', { class: 'fill' });
        fill.style.background = colour_of(run.colour, i);
        const value = make('output', {});
        const state = make('span', { class: 'state' });
        const groups = make('span', {});
        this.bars.push([fill, value, state, groups]);
        sphere.canvas.setAttribute('aria-label', `${run.name}: tokens as dots; arrow keys turn the view`);
        this.listen(sphere.canvas);
        return make('div', { class: 'cell' }, make('h4', {}, run.name, ' ', state), sphere.canvas,
            make('div', { class: 'meter' }, make('span', { class: 'bar', 'aria-hidden': 'true' }, fill), make('span', {}, 'mean cosine ', value, groups)),
            make('code', { class: 'equation' }, run.equation));
    }

    private listen(canvas: HTMLCanvasElement): void {
        canvas.addEventListener('pointerdown', event => { this.drag = [event.clientX, event.clientY]; canvas.setPointerCapture(event.pointerId); });
        canvas.addEventListener('pointerup', () => { this.drag = null; });
        canvas.addEventListener('pointercancel', () => { this.drag = null; });
        canvas.addEventListener('pointermove', event => {
            if (!this.drag) return;
            this.turn((event.clientX - this.drag[0]) / 90, (event.clientY - this.drag[1]) / 90);
            this.drag = [event.clientX, event.clientY];
        });
        canvas.addEventListener('keydown', event => {
            const step = 0.12;
            const turns: { [key: string]: [number, number] } = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
            const turn = turns[event.key];
            if (turn) { event.preventDefault(); this.turn(...turn); }
            if (event.key === ' ') { event.preventDefault(); this.play(!this.playing); }
        });
    }

    // Arrow keys on the slider go from one kept moment to the next; Home and End to the first and the last.
    private scrub(event: KeyboardEvent): void {
        if (event.key === ' ') { event.preventDefault(); this.play(!this.playing); return; }
        const last = Math.max(0, this.times.length - 1);
        const place = this.share * last;
        const moves: { [key: string]: number } = { ArrowRight: Math.floor(place + 1e-9) + 1, ArrowUp: Math.floor(place + 1e-9) + 1,
            ArrowLeft: Math.ceil(place - 1e-9) - 1, ArrowDown: Math.ceil(place - 1e-9) - 1, Home: 0, End: last };
        const frame = moves[event.key];
        if (frame === undefined) return;
        event.preventDefault();
        this.play(false);
        this.go(last > 0 ? Math.max(0, Math.min(last, frame)) / last : 0);
    }

    private turn(across: number, along: number): void {
        if (this.part.dim === 2) return;
        this.camera.turn(across, along);
        this.draw();
    }

    private look(): void {
        if (this.part.dim === 2) { this.camera.flat(); return; }
        const sum: [number, number, number] = [0, 0, 0];
        for (const sphere of this.spheres) sphere.gathering().forEach((v, k) => { sum[k]! += v; });
        this.camera.face(sum);
    }

    // Time at the present share of the frames: samples even in log time pass evenly too.
    get time(): number {
        const place = this.share * Math.max(0, this.times.length - 1);
        const i = Math.min(Math.floor(place), Math.max(0, this.times.length - 2));
        const a = this.times[i] ?? 0;
        return a + (place - i) * ((this.times[i + 1] ?? a) - a);
    }

    private play(on: boolean): void {
        if (on === this.playing) return;
        this.playing = on;
        this.toggle.textContent = on ? '⏸ Pause' : '▶ Play';
        if (on) {
            if (this.share >= 1) this.share = 0;
            this.then = performance.now();
            requestAnimationFrame(now => this.step(now));
        }
    }

    private step(now: number): void {
        if (!this.playing) return;
        this.share = Math.min(1, this.share + this.speed * Math.min(0.2, (now - this.then) / 1000) / SECONDS);
        this.then = now;
        this.go(this.share);
        if (this.share >= 1) this.play(false);
        else requestAnimationFrame(next => this.step(next));
    }

    private go(share: number): void {
        this.share = share;
        this.slider.value = String(Math.round(1000 * share));
        this.draw();
        this.moved(this.time);
    }

    draw(): void {
        const t = this.time;
        const ink = getComputedStyle(this.element).getPropertyValue('--muted').trim() || '#777';
        this.clock.textContent = `depth ${show(t, 3)}`;
        this.slider.setAttribute('aria-valuetext', `depth ${show(t, 3)}`);
        this.spheres.forEach((sphere, i) => {
            sphere.draw(t, this.trails, ink);
            const [fill, value, state, groups] = this.bars[i]!;
            const cosine = sphere.run.cosine[this.frame(sphere, t)] ?? null;
            value.textContent = show_cosine(cosine);
            const count = sphere.run.groups[this.frame(sphere, t)] ?? null;
            groups.textContent = count === null ? '' : ` · ${show(Math.round(count))} ${count === 1 ? 'group' : 'groups'}`;
            fill.style.width = `${100 * Math.max(0, Math.min(1, cosine ?? 0))}%`;
            state.textContent = t >= sphere.last ? words_of_end(sphere.run.outcome) : '';
        });
    }

    private frame(sphere: Sphere, t: number): number {
        const { times } = sphere.run;
        let i = 0;
        while (i + 1 < times.length && times[i + 1]! <= t + 1e-12) ++i;
        return i;
    }
}
