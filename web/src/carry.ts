// What a reader has done to a part of the page, carried over to the part that takes its place: what is open, chosen, ticked,
// pressed, typed and scrolled, and where the focus is.

type Focusable = HTMLElement | SVGElement;  // a plot is the latter

function all(element: HTMLElement, selector: string): Focusable[] {
    return [...element.querySelectorAll<Focusable>(selector)];
}

// How a control is known again: by its figure and what it is called, and by its number among those that are called the same.
function names(elements: Focusable[]): Map<string, Focusable> {
    const found = new Map<string, Focusable>();
    const counts = new Map<string, number>();
    for (const element of elements) {
        // The counts in "fails 3" may have changed.
        const words = element.dataset['id'] ?? element.getAttribute('aria-label') ?? (element.closest('label') ?? element.querySelector('summary') ?? element).textContent ?? '';
        const figure = element.closest('figure')?.querySelector('figcaption')?.textContent ?? '';
        const name = `${figure} ${element.tagName} ${words.replace(/[0-9]+/g, '').trim()}`;
        const count = counts.get(name) ?? 0;
        counts.set(name, count + 1);
        found.set(`${name} ${count}`, element);
    }
    return found;
}

function pairs<Kind extends Focusable = HTMLElement>(from: HTMLElement, to: HTMLElement, selector: string): [Kind, Kind][] {
    const after = names(all(to, selector));
    return [...names(all(from, selector))].flatMap(([name, element]) => after.has(name) ? [[element, after.get(name)!] as [Kind, Kind]] : []);
}

const FOCUSABLE = 'button, select, input, summary, canvas, svg.plot, .scroll';

// Before `to` takes the place of `from`. Returns what is to be done afterwards.
export function carry(from: HTMLElement, to: HTMLElement): () => void {
    const scrolls = pairs(from, to, '.scroll').map(([before, after]) => [after, before.scrollTop, before.scrollLeft] as const);
    const place = all(from, FOCUSABLE).findIndex(element => element === document.activeElement);
    const focused = place < 0 ? null : document.activeElement;
    for (const [before, after] of pairs<HTMLDetailsElement>(from, to, 'details')) after.open = before.open;
    for (const [before, after] of pairs<HTMLInputElement>(from, to, 'input[type=search], select')) {
        if (after.value === before.value) continue;
        after.value = before.value;
        after.dispatchEvent(new Event(after.tagName === 'SELECT' ? 'change' : 'input'));
    }
    for (const [before, after] of pairs<HTMLInputElement>(from, to, 'input[type=checkbox]')) if (after.checked !== before.checked) after.click();
    for (const [before, after] of pairs(from, to, 'button[aria-pressed]')) if (after.getAttribute('aria-pressed') !== before.getAttribute('aria-pressed')) after.click();
    return () => {
        for (const [element, top, left] of scrolls) { element.scrollTop = top; element.scrollLeft = left; }
        const next = (focused && pairs<Focusable>(from, to, FOCUSABLE).find(([before]) => before === focused)?.[1]) ?? all(to, FOCUSABLE)[place];
        next?.focus({ preventScroll: true });
    };
}

// The element at the top of what is seen, so that it can be put back where it was when something above it has grown.
export function held_in_place(change: () => void): void {
    const seen = [...document.querySelectorAll<HTMLElement>('section h3, details.claim, figure, .cell, dt, h2')].find(element => element.getClientRects().length > 0 && element.getBoundingClientRect().bottom > 0);
    const name = seen?.dataset['id'];
    const before = seen?.getBoundingClientRect().top ?? 0;
    change();
    const after = seen?.isConnected ? seen : name ? document.querySelector<HTMLElement>(`[data-id="${CSS.escape(name)}"]`) : null;
    if (after && window.scrollY > 0) window.scrollBy({ top: after.getBoundingClientRect().top - before, behavior: 'instant' as ScrollBehavior });
}
