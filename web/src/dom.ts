// Elements with text that is only ever text: nothing from the data becomes markup.

type Attributes = { [name: string]: string | number | boolean | undefined };
type Child = Node | string | null | undefined;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
    for (const [name, value] of Object.entries(attributes)) {
        if (value !== undefined && value !== false) {
            element.setAttribute(name, value === true ? '' : String(value));
        }
    }
    for (const child of children) {
        if (child !== null && child !== undefined) {
            element.append(child);
        }
    }
}

export function make<Tag extends keyof HTMLElementTagNameMap>(
    tag: Tag, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[Tag] {
    const element = document.createElement(tag);
    fill(element, attributes, children);
    return element;
}

export function svg<Tag extends keyof SVGElementTagNameMap>(
    tag: Tag, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[Tag] {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    fill(element, attributes, children);
    return element;
}

export function button(label: string, attributes: Attributes, pressed: () => void): HTMLButtonElement {
    const element = make('button', { type: 'button', ...attributes }, label);
    element.addEventListener('click', pressed);
    return element;
}

// A labelled switch: <label><input type=checkbox> words</label>.
export function tick(label: string, checked: boolean, changed: (on: boolean) => void): HTMLLabelElement {
    const input = make('input', { type: 'checkbox', checked });
    input.addEventListener('change', () => changed(input.checked));
    return make('label', { class: 'tick' }, input, ' ' + label);
}

export function choice(label: string, options: [string, string][], chosen: string, changed: (value: string) => void): HTMLLabelElement {
    const select = make('select');
    for (const [value, words] of options) {
        select.append(make('option', { value, selected: value === chosen }, words));
    }
    select.addEventListener('change', () => changed(select.value));
    return make('label', { class: 'choice' }, label + ' ', select);
}

// On a dark ground the black and dark grey of bounds would not be seen: they become light grey.
function seen_on_ground(colour: string): string {
    const [r, g, b] = [1, 3, 5].map(k => parseInt(colour.slice(k, k + 2), 16)) as [number, number, number];
    const set = document.documentElement.dataset['theme'];
    const dark = set === 'dark' || (!set && window.matchMedia('(prefers-color-scheme: dark)').matches);
    return dark && Math.max(r, g, b) < 96 ? `#${[r, g, b].map(v => (255 - v).toString(16).padStart(2, '0')).join('')}` : colour;
}

// A colour of the data, when it is one: whatever else stands there must not reach a style.
export function colour_of(text: string, index: number): string {
    const own = ['#4269d0', '#efb118', '#ff725c', '#6cc5b0', '#3ca951', '#ff8ab7', '#a463f2', '#97bbf5', '#9c6b4e', '#9498a0'];
    return seen_on_ground(/^#[0-9a-fA-F]{6}$/.test(text) ? text : own[index % own.length]!);
}
export function dash_of(text: string): string | undefined {
    return /^[0-9. ]+$/.test(text) ? text : undefined;
}
