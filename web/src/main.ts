// The page: what was run, what came out, folder by folder. Everything it shows is in the document embedded in it; a page that is
// served asks for newer ones (live.ts).
import { Document, Folder } from './document';
import { button, make } from './dom';
import { command_words } from './glossary';
import { held_in_place } from './carry';
import { Live } from './live';
import { Parts } from './parts';

function facts(title: string, rows: [string, string][]): HTMLElement | null {
    if (rows.length === 0) return null;
    const list = make('dl', {});
    for (const [name, value] of rows) list.append(make('dt', {}, name), make('dd', {}, value));
    return make('div', {}, make('h3', {}, title), list);
}

// One folder on the page; a newer document changes it in place.
class FolderView {
    readonly element: HTMLElement;
    private readonly short = make('div', { class: 'short' });
    private readonly notes = make('div', {});
    private readonly about = make('div', {});
    private readonly parts: Parts;

    constructor(private folder: Folder, id: string, private readonly live: boolean) {
        const [title, words] = command_words(folder.command);
        const end = make('details', { class: 'about' }, make('summary', {}, 'What was run: settings and provenance'), this.about);
        this.element = make('section', { class: 'folder', id }, make('h2', {}, title, ' ', make('span', { class: 'path' }, `folder ${folder.name}`)),
            this.short, words ? make('p', {}, words) : null, this.notes, end);
        this.parts = new Parts(end);
        this.show(folder);
    }

    // False: it is of another run, and has to be made anew.
    update(folder: Folder): boolean {
        if (folder.command !== this.folder.command || folder.name !== this.folder.name) return false;
        if (JSON.stringify(folder) !== JSON.stringify(this.folder)) this.show(folder);
        return true;
    }

    private show(folder: Folder): void {
        this.folder = folder;
        this.short.replaceChildren(...folder.short.map(text => make('p', {}, text)));
        this.short.hidden = folder.short.length === 0;
        const state = folder.state === 'finished' || this.live ? '' : 'This run is not finished. The page shows what it had written when the page was made.';
        this.notes.replaceChildren(...(state ? [make('p', { class: 'unfinished', role: 'note' }, state)] : []),
            ...(folder.state === 'awaited' ? [make('p', {}, 'No run has begun in this folder yet.')] : []),
            ...folder.unreadable.map(sentence => make('p', { class: 'unreadable', role: 'note' }, sentence)));
        this.about.replaceChildren(...[facts('Settings', folder.settings), facts('Provenance', folder.provenance)].filter((one): one is HTMLElement => one !== null));
        this.parts.show(folder.parts);
    }
}

function theme_switch(): HTMLElement {
    const root = document.documentElement;
    const dark = () => root.dataset['theme'] === 'dark' || (!root.dataset['theme'] && window.matchMedia('(prefers-color-scheme: dark)').matches);
    const words = () => dark() ? '☀ Light' : '☾ Dark';
    const toggle = button(words(), { class: 'theme', 'aria-label': 'Switch between light and dark colours' }, () => {
        root.dataset['theme'] = dark() ? 'light' : 'dark';
        toggle.textContent = words();
        window.dispatchEvent(new Event('resize'));
    });
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
        toggle.textContent = words();
        window.dispatchEvent(new Event('resize'));
    });
    return toggle;
}

function start(): void {
    const root = document.getElementById('page')!;
    const data = JSON.parse(document.getElementById('data')!.textContent ?? '') as Document;
    const { address, tag } = root.dataset;  // of a page that is served; one in a file has none
    const main = make('main', { id: 'main' });
    const links = make('nav', { 'aria-label': 'Folders', hidden: data.folders.length < 2 });
    const notes = make('div', {});
    const views: FolderView[] = [];
    const show = (newer: Document) => {
        notes.replaceChildren(...newer.notes.map(note => make('p', { class: 'unreadable', role: 'note' }, note)));
        newer.folders.forEach((folder, i) => {
            if (views[i]?.update(folder)) return;
            const made = new FolderView(folder, `folder-${i}`, address !== undefined);
            if (views[i]) views[i]!.element.replaceWith(made.element);
            else main.append(made.element);
            views[i] = made;
        });
        links.replaceChildren(...(newer.folders.length > 1 ? newer.folders : []).map((folder, i) =>
            make('a', { href: `#folder-${i}` }, `${command_words(folder.command)[0]}: ${folder.name}`)));
    };
    show(data);
    const live = address === undefined ? null : new Live(data, address, tag ?? '', newer => held_in_place(() => show(newer)));
    root.replaceChildren(make('a', { href: '#main', class: 'skip' }, 'Skip to the results'),
        make('header', {}, make('h1', {}, 'Flyball report'), theme_switch()), ...(live ? [live.element] : []), links, notes, main,
        make('footer', {}, make('p', {}, `Written by Flyball ${data.version}. ` + (live
            ? 'This page asks the program on this machine that serves it for newer results, and nobody else for anything. '
            : 'This page is one file: it loads nothing, and sends nothing. ') +
            'Its code is Flyball\'s own, under the Apache licence 2.0; it carries no library by others.')));
    root.dataset['ready'] = 'yes';
}

start();
