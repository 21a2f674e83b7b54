// One part of a folder to one element of the page.
import { Curves, Figure, Figures, Findings, Numbers, Part, Sentences, Series, Table } from './document';
import { choice, make } from './dom';
import { Chart, ChartData } from './chart';
import { carry } from './carry';
import { claims_of } from './claims';
import { figure_of } from './figures';
import { label_of, meaning_of } from './glossary';
import { heads_of } from './heads';
import { shortened, show } from './number';
import { Player } from './player';

// An edge of a band at the places of its line. Of a long series each was thinned by itself: between its points an edge is straight.
function at_places_of(series: Series, quantity: string, edge: string): Numbers | undefined {
    const values = series.y[edge];
    const places = series.own_x?.[quantity] ?? series.x;
    const x = series.own_x?.[edge] ?? series.x;
    if (!values || x === places) return values;
    let i = 0;
    return places.map(place => {
        if (place === null) return null;
        while (i + 2 < x.length && (x[i + 1] ?? place) <= place) ++i;
        const [from, to, lower, upper] = [x[i] ?? NaN, x[i + 1] ?? NaN, values[i] ?? null, values[i + 1] ?? null];
        if (place === from) return lower;
        if (place === to) return upper;
        return lower === null || upper === null || !(from < place && place < to) ? null : lower + (upper - lower) * (place - from) / (to - from);
    });
}

function data_of(part: Curves, quantity: string): ChartData {
    const band = part.bands[quantity];
    const values = part.series.flatMap(series => series.y[quantity] ?? []).filter((v): v is number => v !== null);
    const [least, largest] = values.reduce(([lo, hi], v) => [Math.min(lo, v), Math.max(hi, v)], [Infinity, -Infinity]);
    // Positive numbers over more than two powers of ten are read on a log axis; cosines, which have a scale of their own, are not.
    const log_y = !quantity.startsWith('cosine') && least > 0 && largest / least > 100;
    // Cosines go from 0 to 1: an axis over a hundredth of that magnifies what is next to nothing.
    const narrow = quantity.startsWith('cosine') && largest - least < 0.02;
    return {
        title: label_of(quantity), caption: meaning_of(quantity) + (band && part.series.some(series => series.y[band[0]]?.some((v, i) => v !== null && v !== series.y[band[1]]?.[i])) ? ' The pale band holds the middle 90 % (of systems, or of tokens).' : '') + (narrow ? ` Mind the scale: all of these lie within ${show(largest - least, 2)} of each other.` : ''), x: part.x.label, y: label_of(quantity), log_x: part.x.log, log_y,
        lines: part.series.filter(series => series.y[quantity] !== undefined).map(series => ({
            name: series.name, colour: series.colour, dash: series.dash, points: series.points,
            x: series.own_x?.[quantity] ?? series.x, y: series.y[quantity]!,
            lo: band && at_places_of(series, quantity, band[0]), hi: band && at_places_of(series, quantity, band[1]),
        })),
    };
}

// A part on the page, and how it becomes that of a newer document; null: it is made anew.
interface Shown { element: HTMLElement; update: ((part: Part) => void) | null; player?: Player }

// Several charts of the same series; showing or hiding a line does so in all of them.
function curves_of(part: Curves, moving: Chart[]): Shown {
    const hidden = new Set<string>();
    const charts: Chart[] = [];
    const begun: string[] = [];  // quantities that have had a chart from the start
    const box = make('div', { class: 'charts' });
    const add = (first: string) => {
        begun.push(first);
        const caption = make('p', { class: 'caption' }, data_of(part, first).caption);
        const head = choice('Show', part.quantities.map(name => [name, label_of(name)]), first, name => {
            caption.textContent = data_of(part, name).caption;
            chart.show({ ...data_of(part, name), caption: '' });
        });
        const chart: Chart = new Chart({ ...data_of(part, first), caption: '' }, { hidden, toggled: () => charts.forEach(one => one.draw()), head });
        chart.element.insertBefore(caption, chart.element.querySelector('.numbers'));
        charts.push(chart);
        moving.push(chart);
        box.append(chart.element);
    };
    part.shown.forEach(add);
    const is_thinned = () => part.series.some(series => series.points > series.x.length);
    const thinned = make('p', { class: 'caption', hidden: !is_thinned() }, 'Long curves are thinned to what a screen can show, with their highest and lowest points kept; the tables in the folder have every number.');
    const element = make('section', {}, make('h3', {}, part.title), part.about ? make('p', {}, part.about) : null, box, thinned);
    const update = (newer: Part) => {
        part = newer as Curves;
        for (const chart of charts) {
            const select = chart.element.querySelector('select')!;
            const known = new Set([...select.options].map(option => option.value));
            for (const name of part.quantities) if (!known.has(name)) select.append(make('option', { value: name }, label_of(name)));
            chart.update({ ...data_of(part, select.value), caption: '' });
            chart.element.querySelector('.caption')!.textContent = data_of(part, select.value).caption;
        }
        part.shown.filter(name => !begun.includes(name)).forEach(add);
        thinned.hidden = !is_thinned();
    };
    return { element, update };
}

function table_of(part: Table): HTMLElement {
    const head = make('tr', {}, ...part.columns.map(name => make('th', { scope: 'col', title: meaning_of(name) }, label_of(name))));
    const body = make('tbody', {}, ...part.rows.map(row => make('tr', {}, ...row.map((cell, k) => make('td',
        { class: typeof cell === 'string' ? undefined : 'n', 'data-name': label_of(part.columns[k] ?? '') }, typeof cell === 'string' ? cell : show(cell))))));
    // On a phone a row of many columns becomes a small list; a long table of few columns stays one.
    const wide = part.columns.length > 6 && part.rows.length <= 24;
    return make('section', {}, make('h3', {}, part.title), part.about ? make('p', {}, part.about) : null,
        make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': part.title }, make('table', { class: wide ? 'as-lists' : undefined }, make('thead', {}, head), body)),
        part.of > part.rows.length ? make('p', { class: 'caption' }, `The first ${part.rows.length} of ${part.of.toLocaleString('en')} rows.`) : null);
}

function sentences_of(part: Sentences): HTMLElement {
    return make('section', {}, make('h3', {}, part.title), make('ul', {}, ...part.sentences.map(text => make('li', {}, text))));
}

function figures_part(part: Figures): HTMLElement {
    return make('section', {}, make('h3', {}, part.title), make('div', { class: 'charts' }, ...part.figures.map(figure_of)));
}

function findings_of(part: Findings): HTMLElement {
    const known = ['stable', 'caution', 'unstable', 'malformed'].includes(part.verdict);
    const facts = make('dl', {});
    for (const [name, value] of part.facts) facts.append(make('dt', {}, name), make('dd', { title: value }, shortened(value)));
    const list = make('div', { class: 'claims' });
    for (const finding of part.findings) {
        const evidence = make('dl', {});
        for (const [name, value] of finding.evidence) evidence.append(make('dt', {}, name), make('dd', { title: value }, shortened(value)));
        list.append(make('details', { class: 'claim' },
            make('summary', {}, make('span', { class: `verdict s-${/^[a-z]+$/.test(finding.severity) ? finding.severity : 'note'}` }, finding.severity),
                make('span', { class: 'statement' }, finding.message), make('span', { class: 'id' }, finding.id)), make('div', { class: 'evidence' }, evidence)));
    }
    return make('section', { class: 'findings' }, make('h3', {}, part.title, ' ', make('span', { class: `verdict s-${known ? part.verdict : 'note'}` }, part.verdict)),
        make('code', { class: 'equation' }, part.equation), part.advice ? make('p', {}, part.advice) : null, facts,
        part.findings.length ? make('p', { class: 'caption' }, 'What was found, gravest first. Click a finding to see its evidence.') : make('p', {}, 'Nothing was found that speaks against it.'), list);
}

// The parts of one folder, one after the other before `end`. Shown again, those that are as they were are left alone; curves get
// their new points; what has to be made anew keeps what the reader has done to it.
export class Parts {
    private shown: (Shown & { key: string; text: string })[] = [];
    private readonly moving: Chart[] = [];  // follow the time of the spheres

    constructor(private readonly end: HTMLElement) {}

    show(parts: Part[]): void {
        const figures = new Map<string, Figure>();
        for (const part of parts) {
            if (part.kind === 'figures') for (const figure of part.figures) figures.set(figure.name, figure);
        }
        const used = new Set(parts.flatMap(part => part.kind === 'claims' ? part.claims.flatMap(claim => claim.figures) : []));
        const old = new Map(this.shown.map(one => [one.key, one]));
        const afterwards: (() => void)[] = [];
        const next = parts.map(part => {
            const key = part.kind === 'claims' ? part.kind : `${part.kind} ${part.title}`;
            const text = JSON.stringify(part) + (part.kind === 'claims' ? JSON.stringify([...figures.keys()]) : '');
            const known = old.get(key);
            if (known?.text === text) return known;
            if (known?.update) {
                known.update(part);
                known.text = text;
                return known;
            }
            const made = { key, text, ...this.make(part, figures, used) };
            if (known) {
                const focus = carry(known.element, made.element);
                known.element.replaceWith(made.element);
                if (known.player && made.player) made.player.adopt(known.player);
                afterwards.push(focus);
            }
            return made;
        });
        for (const one of this.shown) if (!next.includes(one)) one.element.remove();
        let after: HTMLElement = this.end;
        for (const one of [...next].reverse()) {
            // A part without anything in it (all of its figures stand with their claims) is not shown.
            const charts = one.element.querySelector('.charts');
            one.element.hidden = charts !== null && charts.childElementCount === 0;
            if (one.element.nextElementSibling !== after) after.before(one.element);
            after = one.element;
        }
        this.shown = next;
        afterwards.forEach(act => act());
    }

    private make(part: Part, figures: Map<string, Figure>, used: Set<string>): Shown {
        const alone = (element: HTMLElement): Shown => ({ element, update: null });
        switch (part.kind) {
            case 'spheres': {
                const player = new Player(part, t => this.moving.forEach(chart => chart.mark(t)));
                return { element: player.element, update: null, player };
            }
            case 'curves': return curves_of(part, this.moving);
            case 'claims': return alone(claims_of(part, figures));
            case 'figures': return alone(figures_part({ ...part, figures: part.figures.filter(figure => !used.has(figure.name)) }));
            case 'heads': return alone(heads_of(part));
            case 'table': return alone(table_of(part));
            case 'sentences': return alone(sentences_of(part));
            case 'findings': return alone(findings_of(part));
        }
    }
}
