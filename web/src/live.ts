// The page while a run goes on: asks the program that serves it for a newer document and shows it in place. A page that was
// written to a file has no address to ask, and none of this happens.
import { Document } from './document';
import { make } from './dom';

const EVERY = 1000;           // milliseconds between two questions while somebody looks
const EVERY_FINISHED = 5000;  // once all runs have ended: one may be taken up again
const EVERY_HIDDEN = 30000;   // while the page is in a tab that nobody sees
const LONGEST_WAIT = 30000;   // between two tries to reach a program that has ended
const PATIENCE = 30000;       // for one answer

function clock(): string {
    return new Date().toLocaleTimeString('en-GB');
}

// What is said of the runs: in one sentence, and said again only when it changes.
export function words_of(data: Document): string {
    const waiting = data.folders.filter(folder => folder.state === 'awaited').length;
    const going = data.folders.filter(folder => folder.state === 'unfinished').length;
    const one = data.folders.length === 1;
    if (waiting + going === 0) return one ? 'The run is finished; this page shows all of it.' : 'All runs are finished; this page shows all of them.';
    if (going === 0) return one ? 'No run has begun here yet; this page will show it as soon as one does.' : 'This page waits for runs to begin, and will show them as they grow.';
    return one ? 'The run is not finished; this page grows with it.' : 'Not all runs are finished; this page grows with them.';
}

export class Live {
    readonly element: HTMLElement;
    private readonly words = make('span', { role: 'status' });
    private readonly since = make('span', { class: 'since' });
    private changed = clock();
    private failures = 0;
    private timer = 0;
    private asking = false;
    private pressed = false;  // a button or a finger is down: what it holds must not be replaced under it
    private held: Document | null = null;

    constructor(private data: Document, private readonly address: string, private tag: string, private readonly show: (data: Document) => void) {
        this.element = make('p', { class: 'live' }, this.words, ' ', this.since);
        this.say();
        document.addEventListener('visibilitychange', () => { if (!document.hidden) this.ask(); });
        window.addEventListener('pointerdown', () => { this.pressed = true; }, true);
        for (const end of ['pointerup', 'pointercancel'] as const) window.addEventListener(end, () => { this.pressed = false; this.show_held(); }, true);
        this.wait();
    }

    private say(): void {
        const gone = this.failures > 0;
        const words = gone ? 'The program that serves this page has ended, so that nothing newer comes; what was there is still shown.' : words_of(this.data);
        if (this.words.textContent !== words) this.words.textContent = words;
        this.since.textContent = `Last change: ${this.changed}.`;
        this.element.dataset['state'] = gone ? 'gone' : this.data.folders.every(folder => folder.state === 'finished') ? 'finished' : 'going';
    }

    private wait(): void {
        window.clearTimeout(this.timer);
        const usual = document.hidden ? EVERY_HIDDEN : this.element.dataset['state'] === 'finished' ? EVERY_FINISHED : EVERY;
        const after = this.failures > 0 ? Math.min(LONGEST_WAIT, EVERY * 2 ** this.failures) : usual;
        this.timer = window.setTimeout(() => this.ask(), after);
    }

    private async ask(): Promise<void> {
        if (this.asking) return;
        this.asking = true;
        const patience = new AbortController();
        const end = window.setTimeout(() => patience.abort(), PATIENCE);
        try {
            const answer = await fetch(this.address, { cache: 'no-store', headers: { 'If-None-Match': `"${this.tag}"` }, signal: patience.signal });
            if (answer.status === 200) {
                const data = await answer.json() as Document;
                this.tag = (answer.headers.get('ETag') ?? '').replace(/^"|"$/g, '');
                this.changed = clock();
                this.held = data;
                this.show_held();
            } else if (answer.status !== 304) {
                throw new Error(`status ${answer.status}`);
            }
            this.failures = 0;
        } catch {
            this.failures = Math.min(10, this.failures + 1);
        }
        window.clearTimeout(end);
        this.asking = false;
        this.say();
        this.wait();
    }

    private show_held(): void {
        if (!this.held || this.pressed) return;
        this.data = this.held;
        this.held = null;
        this.show(this.data);
        this.say();
    }
}
