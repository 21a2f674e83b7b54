// The document that the program embeds in the page (src/results writes it, src/report/page.cpp embeds it). Every text in it
// may come from a file somebody else wrote: it is shown with textContent and never as markup. A number that was not finite
// is null.

export type Numbers = (number | null)[];

export interface Axis { label: string; log: boolean; min?: number; max?: number }
export interface Look { name: string; colour: string; dash: string }

// One line: its own x, or the x of its series.
export interface Series extends Look {
    points: number;  // before it was thinned
    x: Numbers;
    y: { [quantity: string]: Numbers };
    own_x?: { [quantity: string]: Numbers };
}
export interface Curves {
    kind: 'curves'; title: string; about: string; x: Axis; quantities: string[]; shown: string[]; series: Series[];
    bands: { [quantity: string]: [string, string] };  // which two quantities are drawn as a band around this one
}
export interface Run extends Look { equation: string; outcome: string; times: number[]; points: string; cosine: Numbers; groups: Numbers }
export interface Spheres {
    kind: 'spheres'; title: string; tokens: number; shown: number; dim: number; share: number | null; samples: number; runs: Run[];
}
export interface LineFigure {
    kind: 'lines'; name: string; title: string; caption: string; x: Axis; y: Axis;
    series: (Look & { points: number; x: Numbers; y: Numbers; lo?: Numbers; hi?: Numbers })[];
}
export interface HeatFigure {
    kind: 'heat'; name: string; title: string; caption: string; x: Axis; y: Axis; colour: Axis;
    x_values: number[]; y_values: number[]; values: Numbers; centre?: number;
}
export interface BoxFigure {
    kind: 'boxes'; name: string; title: string; caption: string; axis: Axis;
    groups: { label: string; colour: string; five: Numbers; count: number; marks: { label: string; value: number | null }[] }[];
}
export type Figure = LineFigure | HeatFigure | BoxFigure;
export interface Claim {
    id: string; statement: string; source: string; predicted: string; measured: string; tolerance: string;
    verdict: string; recorded: string; note: string; seconds: number | null; figures: string[];
}
export interface Claims { kind: 'claims'; claims: Claim[]; papers: { [group: string]: string }; telling: string[] }  // telling: figures that are shown without a click
export interface Figures { kind: 'figures'; title: string; figures: Figure[] }
export interface Head { layer: number; head: number; numbers: { [quantity: string]: number | null }; words: { [name: string]: string } }
export interface Heads { kind: 'heads'; title: string; about: string; quantities: string[]; shown: string; heads: Head[] }
export interface Table { kind: 'table'; title: string; about: string; columns: string[]; rows: (string | number | null)[][]; of: number }
export interface Sentences { kind: 'sentences'; title: string; sentences: string[] }
export interface Finding { severity: string; id: string; message: string; evidence: [string, string][] }
export interface Findings {
    kind: 'findings'; title: string; verdict: string; equation: string; advice: string; facts: [string, string][]; findings: Finding[];
}
export type Part = Spheres | Curves | Claims | Figures | Heads | Table | Sentences | Findings;

export interface Folder {
    name: string; command: string;
    state: string;  // awaited: no run has begun; unfinished; finished
    short: string[]; settings: [string, string][]; provenance: [string, string][]; unreadable: string[]; parts: Part[];
}
export interface Document { version: string; folders: Folder[]; notes: string[] }
