// The page: what was run, what came out, folder by folder. Everything it shows is in the document embedded in it.
import { Document, Folder } from './document';
import { button, make } from './dom';
import { command_words } from './glossary';
import { parts_of } from './parts';

function facts(title: string, rows: [string, string][]): HTMLElement | null {
    if (rows.length === 0) return null;
    const list = make('dl', {});
    for (const [name, value] of rows) list.append(make('dt', {}, name), make('dd', {}, value));
    return make('div', {}, make('h3', {}, title), list);
}

function folder_of(folder: Folder, id: string): HTMLElement {
    const [title, words] = command_words(folder.command);
    const section = make('section', { class: 'folder', id }, make('h2', {}, title, ' ', make('span', { class: 'path' }, `folder ${folder.name}`)),
        folder.short.length ? make('div', { class: 'short' }, ...folder.short.map(text => make('p', {}, text))) : null, words ? make('p', {}, words) : null);
    for (const sentence of folder.unreadable) section.append(make('p', { class: 'unreadable', role: 'note' }, sentence));
    for (const element of parts_of(folder.parts)) {
        // A part without anything in it (all of its figures stand with their claims) is not shown.
        if (!(element.querySelector('.charts') && element.querySelector('.charts')!.childElementCount === 0)) section.append(element);
    }
    section.append(make('details', { class: 'about' }, make('summary', {}, 'What was run: settings and provenance'),
        facts('Settings', folder.settings), facts('Provenance', folder.provenance)));
    return section;
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
    const main = make('main', { id: 'main' });
    const links = make('nav', { 'aria-label': 'Folders', hidden: data.folders.length < 2 });
    data.folders.forEach((folder, i) => {
        main.append(folder_of(folder, `folder-${i}`));
        if (data.folders.length > 1) links.append(make('a', { href: `#folder-${i}` }, `${command_words(folder.command)[0]}: ${folder.name}`));
    });
    root.replaceChildren(make('a', { href: '#main', class: 'skip' }, 'Skip to the results'),
        make('header', {}, make('h1', {}, 'Flyball report'), theme_switch()), links,
        ...data.notes.map(note => make('p', { class: 'unreadable', role: 'note' }, note)), main,
        make('footer', {}, make('p', {}, `Written by Flyball ${data.version}. This page is one file: it loads nothing, and sends nothing. ` +
            'Its code is Flyball\'s own, under the Apache licence 2.0; it carries no library by others.')));
    root.dataset['ready'] = 'yes';
}

start();
