// The verdicts: how many of each kind, filters, and the evidence behind each claim one click away.
import { Claim, Claims, Figure } from './document';
import { button, make } from './dom';
import { figure_of } from './figures';
import { shortened, show } from './number';

const MEANING: { [verdict: string]: [string, string] } = {
    'holds': ['✓', 'the measurement agrees with the claim as stated'],
    'holds-corrected': ['≈', 'not as stated, but as the note corrects it'],
    'fails': ['✗', 'neither as stated nor as corrected'],
    'undecided': ['?', 'runs of different seeds differ by more than what was to be seen'],
    'skipped': ['–', 'what the experiment needs is not on the machine that ran it'],
    'not-tested': ['·', 'no run can decide it; the note says why'],
};

// Which paper a claim is of: the first word of its id.
function group_of(claim: Claim): string {
    return claim.id.split('-')[0] ?? '';
}

// The first sentence of a note, or as much of it as a glance takes.
function beginning(note: string): string {
    const end = note.indexOf('. ');
    const sentence = end > 0 ? note.slice(0, end + 1) : note;
    const shown = sentence.length > 220 ? sentence.slice(0, 217).replace(/\s\S*$/, '') + ' …' : sentence;
    return shown.charAt(0).toUpperCase() + shown.slice(1);
}

// Not `in`, which also finds what every object has: "constructor".
function is_known(verdict: string): boolean { return Object.keys(MEANING).includes(verdict); }

function badge(verdict: string): HTMLElement {
    const known = is_known(verdict);
    return make('span', { class: `verdict v-${known ? verdict : 'other'}`, title: known ? MEANING[verdict]![1] : '' },
        `${known ? MEANING[verdict]![0] : ''} ${verdict}`);
}

function evidence(claim: Claim, figures: Map<string, Figure>): HTMLElement {
    const facts: [string, string][] = [['Predicted', claim.predicted], ['Measured', claim.measured], ['Tolerance', claim.tolerance],
        ['Recorded verdict', claim.recorded], ['Source', claim.source], ['Took', claim.seconds === null ? '' : `${show(claim.seconds, 3)} s`]];
    const list = make('dl', {});
    for (const [name, value] of facts) {
        if (value) list.append(make('dt', {}, name), make('dd', { title: value }, shortened(value)));
    }
    const box = make('div', { class: 'evidence' }, list, claim.note ? make('p', {}, claim.note) : null);
    for (const name of claim.figures) {
        const figure = figures.get(name);
        if (figure) box.append(figure_of(figure));
    }
    box.append(make('p', { class: 'caption' }, 'Run it again: ', make('code', {}, `flyball reproduce --only ${claim.id}`)));
    return box;
}

export function claims_of(part: Claims, figures: Map<string, Figure>): HTMLElement {
    const counts = new Map<string, number>();
    for (const claim of part.claims) counts.set(claim.verdict, (counts.get(claim.verdict) ?? 0) + 1);
    const order = [...Object.keys(MEANING).filter(verdict => counts.has(verdict)), ...[...counts.keys()].filter(verdict => !is_known(verdict))];
    const chosen = new Set<string>();
    let words = '';
    const list = make('div', { class: 'claims' });
    const status = make('p', { class: 'caption', role: 'status' });
    const rows = part.claims.map(claim => {
        const details = make('details', { class: 'claim', 'data-verdict': claim.verdict, 'data-id': claim.id },
            make('summary', {}, badge(claim.verdict), make('span', { class: 'statement' }, claim.statement,
                claim.verdict !== 'holds' && claim.note ? make('span', { class: 'instead' }, beginning(claim.note)) : null), make('span', { class: 'id' }, claim.id)));
        if (claim.recorded && claim.recorded !== claim.verdict && claim.verdict !== 'skipped' && claim.verdict !== 'undecided') {
            details.querySelector('summary')!.append(make('span', { class: 'news' }, `recorded as ${claim.recorded}`));
        }
        details.addEventListener('toggle', () => {
            if (details.open && !details.querySelector('.evidence')) details.append(evidence(claim, figures));
        });
        const searched = `${claim.id} ${claim.statement} ${claim.source} ${claim.note}`.toLowerCase();
        return { claim, details, searched };
    });
    const heads: [HTMLElement, string][] = [];
    const filter = () => {
        let shown = 0;
        for (const { claim, details, searched } of rows) {
            const on = (chosen.size === 0 || chosen.has(claim.verdict)) && words.split(/\s+/).every(word => searched.includes(word));
            details.hidden = !on;
            shown += on ? 1 : 0;
        }
        for (const [head, group] of heads) head.hidden = rows.every(row => row.details.hidden || group_of(row.claim) !== group);
        status.textContent = `${shown} of ${rows.length} claims are shown. Click one to see its evidence.`;
    };
    const groups = [...new Set(part.claims.map(group_of))];
    for (const group of groups) {
        const own = rows.filter(row => group_of(row.claim) === group);
        if (groups.length > 1) {
            const tally = order.map(verdict => [own.filter(row => row.claim.verdict === verdict).length, verdict] as const).filter(([count]) => count > 0);
            const head = make('h4', {}, part.papers[group] ? `“${part.papers[group]}”` : group,
                make('span', { class: 'path' }, ` ${tally.map(([count, verdict]) => `${count} ${verdict}`).join(', ')}`));
            heads.push([head, group]);
            list.append(head);
        }
        list.append(...own.map(row => row.details));
    }
    const filters = make('div', { class: 'filters', role: 'group', 'aria-label': 'Show only claims with these verdicts' });
    for (const verdict of order) {
        const toggle = button(`${MEANING[verdict]?.[0] ?? ''} ${verdict} ${counts.get(verdict)}`, { 'aria-pressed': 'false', class: `verdict v-${verdict in MEANING ? verdict : 'other'}` }, () => {
            if (!chosen.delete(verdict)) chosen.add(verdict);
            toggle.setAttribute('aria-pressed', String(chosen.has(verdict)));
            filter();
        });
        filters.append(toggle);
    }
    const search = make('input', { type: 'search', placeholder: 'search words', 'aria-label': 'Search claims' });
    search.addEventListener('input', () => { words = search.value.trim().toLowerCase(); filter(); });
    filters.append(search);
    const meanings = make('dl', { class: 'meanings' });
    for (const verdict of order) meanings.append(make('dt', {}, badge(verdict)), make('dd', {}, MEANING[verdict]?.[1] ?? 'a verdict this page does not know'));
    filter();
    const strip = make('div', { class: 'tally', 'aria-hidden': 'true' });
    for (const verdict of order) {
        const share = make('span', { class: `v-${verdict in MEANING ? verdict : 'other'}` });
        share.style.flexGrow = String(counts.get(verdict));
        strip.append(share);
    }
    const telling = part.telling.map(name => figures.get(name)).filter((figure): figure is Figure => figure !== undefined);
    return make('section', { class: 'verdicts' }, make('h3', {}, 'Which claims hold'),
        make('p', {}, 'Each claim is a statement of a paper, put to the test: a prediction typed from the paper beside a measurement that shares no code with it. Claims that do not hold as stated say below what is true instead.'),
        strip, meanings, telling.length ? make('h3', {}, 'What was measured, in pictures') : null, telling.length ? make('div', { class: 'charts telling' }, ...telling.map(figure_of)) : null,
        make('h3', {}, 'Every claim'), filters, status, list);
}
