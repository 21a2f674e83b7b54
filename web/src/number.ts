// Numbers as people read them, scales and ticks.

export function show(value: number | null | undefined, digits = 4): string {
    if (value === null || value === undefined || Number.isNaN(value)) {
        return '–';
    }
    if (value === 0 || !Number.isFinite(value)) {
        return String(value);
    }
    const size = Math.abs(value);
    if (Number.isInteger(value) && size < 1e7) {
        return value.toLocaleString('en');
    }
    if (size >= 1e-3 && size < 1e6) {
        return String(Number(value.toPrecision(digits)));
    }
    const [mantissa, exponent] = value.toExponential(digits - 1).split('e') as [string, string];
    return `${Number(mantissa)}·10${superscript(Number(exponent))}`;
}

// A cosine: three decimals, and a minus sign that is one.
export function show_cosine(value: number | null | undefined): string {
    if (value === null || value === undefined || !Number.isFinite(value)) return '–';
    const text = value.toFixed(3);
    return text === '-0.000' ? '0.000' : text.replace('-', '−');
}

// A number with more digits than anyone reads, shorter; other text as it is.
export function shortened(text: string): string {
    return text.length > 8 && /^-?[0-9.]+(e-?[0-9]+)?$/.test(text) ? show(Number(text), 5) : text;
}

function superscript(value: number): string {
    const signs = '⁰¹²³⁴⁵⁶⁷⁸⁹';
    return String(value).replace(/[0-9]/g, digit => signs[Number(digit)]!).replace('-', '⁻');
}

// Beyond this, sums and ratios of an axis would not be finite.
const LARGEST = 1e300;
const MOST_TICKS = 40;

// A value that an axis can show.
export function drawable(value: number | null | undefined, log: boolean): value is number {
    return value !== null && value !== undefined && Math.abs(value) <= LARGEST && (!log || value >= 1 / LARGEST);
}

// How many digits tell numbers of this size apart that differ by a step: four, and more where the step is small beside them.
export function digits_for(size: number, step: number): number {
    const needed = 1 + Math.floor(Math.log10(size + step)) - Math.floor(Math.log10(step) + 1e-9);
    return Math.max(4, Math.min(15, needed));
}

export interface Tick { value: number; label: string }

export class Scale {
    constructor(readonly lo: number, readonly hi: number, readonly log: boolean, readonly from: number, readonly to: number) {}

    // Over the values an axis can show: finite, and positive on a log axis. Null where there is none.
    static over(values: Iterable<number | null>, log: boolean, from: number, to: number, min?: number, max?: number): Scale | null {
        let lo = Infinity;
        let hi = -Infinity;
        for (const value of values) {
            if (drawable(value, log)) {
                lo = Math.min(lo, value);
                hi = Math.max(hi, value);
            }
        }
        if (drawable(min, log)) lo = min;
        if (drawable(max, log)) hi = max;
        if (!(lo <= hi)) {
            return null;
        }
        if (lo === hi) {
            const room = log ? lo / 2 : Math.abs(lo) / 10 || 1;
            return new Scale(lo - room, log ? hi * 2 : hi + room, log, from, to);
        }
        return new Scale(lo, hi, log, from, to);
    }

    // Where a value stands, or NaN when it cannot be shown.
    at(value: number | null | undefined): number {
        if (!drawable(value, this.log)) {
            return NaN;
        }
        const share = this.log ? Math.log(value / this.lo) / Math.log(this.hi / this.lo) : (value - this.lo) / (this.hi - this.lo);
        return this.from + share * (this.to - this.from);
    }

    // `whole`: between whole numbers, such as blocks, there is nothing.
    ticks(most: number, whole = false): Tick[] {
        return this.log ? this.log_ticks(most) : this.even_ticks(most, whole);
    }

    private even_ticks(most: number, whole = false): Tick[] {
        const rough = Math.max((this.hi - this.lo) / Math.max(1, most), whole ? 1 : 0);
        const power = 10 ** Math.floor(Math.log10(rough));
        const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= rough * 0.999) ?? 10 * power;
        const digits = digits_for(Math.max(Math.abs(this.lo), Math.abs(this.hi)), step);
        const found: Tick[] = [];
        for (let k = Math.ceil(this.lo / step - 1e-9); k * step <= this.hi + step * 1e-9 && found.length < MOST_TICKS; ++k) {
            found.push({ value: k * step, label: show(Number((k * step).toPrecision(digits)), digits) });
        }
        return found;
    }

    private log_ticks(most: number): Tick[] {
        const first = Math.ceil(Math.log10(this.lo) - 1e-9);
        const last = Math.floor(Math.log10(this.hi) + 1e-9);
        if (last - first < 1) {  // less than two powers of ten: 1, 2, 5 times them, or plain steps
            const found: Tick[] = [];
            for (let k = first - 1; k <= last + 1; ++k) {
                for (const n of [1, 2, 5]) {
                    const value = n * 10 ** k;
                    if (value >= this.lo * 0.999 && value <= this.hi * 1.001) found.push({ value, label: show(Number(value.toPrecision(6))) });
                }
            }
            return found.length > 1 ? found : this.even_ticks(most);
        }
        const step = Math.max(1, Math.ceil((last - first) / Math.max(1, most)));
        const found: Tick[] = [];
        for (let k = first; k <= last && found.length < MOST_TICKS; k += step) {
            found.push({ value: 10 ** k, label: k >= -2 && k <= 4 ? show(10 ** k) : `10${superscript(k)}` });
        }
        return found;
    }
}

// The index of the value nearest to `wanted` in an increasing list.
export function nearest(list: ArrayLike<number | null>, wanted: number): number {
    let best = -1;
    let distance = Infinity;
    for (let i = 0; i < list.length; ++i) {
        const value = list[i];
        if (value !== null && value !== undefined && Math.abs(value - wanted) < distance) {
            distance = Math.abs(value - wanted);
            best = i;
        }
    }
    return best;
}
