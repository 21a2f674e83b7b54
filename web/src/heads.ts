// A map of a model's attention heads: a square each, coloured by one quantity; a click shows all numbers of a head.
import { Head, Heads } from './document';
import { choice, make } from './dom';
import { colour_bar, heat_colour } from './figures';
import { label_of, meaning_of } from './glossary';
import { Scale, show } from './number';

export function heads_of(part: Heads): HTMLElement {
    let quantity = part.shown;
    const layers = [...new Set(part.heads.map(head => head.layer))].sort((a, b) => a - b);
    const across = Math.min(256, part.heads.reduce((most, head) => Math.max(most, head.head + 1), 1));
    const bar = make('div', {});
    const about = make('p', { class: 'caption' });
    const detail = make('div', { class: 'detail', 'aria-live': 'polite' }, 'Click a square to see the numbers of that head.');
    const grid = make('div', { class: 'heads', role: 'grid', 'aria-label': part.title });
    const cells: [Head, HTMLButtonElement][] = [];
    const rows = new Map<number, HTMLElement>();
    for (const layer of layers) {
        rows.set(layer, make('div', { class: 'row', role: 'row' }, make('span', { class: 'name', role: 'rowheader' }, `block ${layer}`)));
    }
    const tell = (head: Head) => {
        const list = make('dl', {});
        for (const [name, text] of Object.entries(head.words)) list.append(make('dt', {}, label_of(name)), make('dd', {}, text));
        for (const name of part.quantities) list.append(make('dt', { title: meaning_of(name) }, label_of(name)), make('dd', {}, show(head.numbers[name], 5)));
        detail.replaceChildren(make('h4', {}, `Block ${head.layer}, head ${head.head}`), list);
        for (const [other, cell] of cells) cell.setAttribute('aria-pressed', String(other === head));
    };
    for (const head of part.heads) {
        const cell = make('button', { type: 'button', class: 'head', role: 'gridcell', 'aria-pressed': 'false' });
        cell.addEventListener('click', () => tell(head));
        cell.addEventListener('keydown', event => {
            const move = ({ ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] } as { [key: string]: [number, number] })[event.key];
            const next = move && cells.find(([other]) => other.layer === head.layer + move[0] && other.head === head.head + move[1]);
            if (next) { event.preventDefault(); next[1].focus(); tell(next[0]); }
        });
        cells.push([head, cell]);
        rows.get(head.layer)?.append(cell);
    }
    grid.append(...rows.values());
    grid.style.setProperty('--across', String(across));
    const paint = () => {
        const scale = Scale.over(part.heads.map(head => head.numbers[quantity] ?? null), false, 0, 1);
        bar.replaceChildren(scale ? colour_bar(scale, label_of(quantity)) : '');
        about.textContent = meaning_of(quantity);
        for (const [head, cell] of cells) {
            const share = scale ? scale.at(head.numbers[quantity]) : NaN;
            cell.style.background = Number.isNaN(share) ? '#888' : heat_colour(share);
            const said = `block ${head.layer}, head ${head.head}: ${label_of(quantity)} ${show(head.numbers[quantity])}`;
            cell.setAttribute('aria-label', said);
            cell.title = said;
        }
    };
    paint();
    return make('section', { class: 'head-map' }, make('h3', {}, part.title), make('p', {}, part.about),
        choice('Colour:', part.quantities.map(name => [name, label_of(name)]), quantity, value => { quantity = value; paint(); }), about, bar, grid, detail);
}
