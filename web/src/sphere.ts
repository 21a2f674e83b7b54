// One run's particles on a 2D canvas: the ball, its circles, trails, and dots that are fainter behind.
import { Run } from './document';
import { Camera } from './camera';
import { colour_of } from './dom';

// [frames, shown, 3] of 16-bit numbers, -32767 .. 32767 for -1 .. 1, little-endian, in base64.
function decoded(text: string): Int16Array {
    const bytes = atob(text);
    const numbers = new Int16Array(bytes.length >> 1);
    for (let i = 0; i < numbers.length; ++i) {
        const value = bytes.charCodeAt(2 * i) | (bytes.charCodeAt(2 * i + 1) << 8);
        numbers[i] = value >= 0x8000 ? value - 0x10000 : value;
    }
    return numbers;
}

export class Sphere {
    readonly canvas: HTMLCanvasElement;
    private readonly points: Int16Array;
    private readonly colour: string;
    readonly last: number;  // time of the last frame

    constructor(readonly run: Run, private readonly shown: number, private readonly dim: number, private readonly camera: Camera, index: number) {
        this.points = decoded(run.points);
        this.colour = colour_of(run.colour, index);
        this.last = run.times[run.times.length - 1] ?? 0;
        this.canvas = document.createElement('canvas');
        this.canvas.tabIndex = 0;
        this.canvas.setAttribute('role', 'img');
        this.canvas.className = 'sphere';
    }

    // Where the dots of the last frame are, on the mean.
    gathering(): [number, number, number] {
        const sum: [number, number, number] = [0, 0, 0];
        const begin = Math.max(0, this.run.times.length - 1) * this.shown * 3;
        for (let i = begin; i < this.points.length; ++i) sum[(i - begin) % 3]! += this.points[i]! / 32767;
        return sum.map(v => v / Math.max(1, this.shown)) as [number, number, number];
    }

    // The frame before a time, and how far on to the next it is.
    private place(t: number): [number, number] {
        const { times } = this.run;
        let i = 0;
        while (i + 2 < times.length && times[i + 1]! <= t) ++i;
        if (times.length < 2) return [0, 0];
        const span = times[i + 1]! - times[i]!;
        return [i, Math.max(0, Math.min(1, span > 0 ? (t - times[i]!) / span : 0))];
    }

    private point(frame: number, share: number, token: number): [number, number, number] {
        const last = this.run.times.length - 1;
        const a = (Math.min(frame, last) * this.shown + token) * 3;
        const b = (Math.min(frame + 1, last) * this.shown + token) * 3;
        const at = (k: number) => ((1 - share) * this.points[a + k]! + share * this.points[b + k]!) / 32767;
        let p: [number, number, number] = [at(0), at(1), at(2)];
        if (this.dim <= 3) {  // on the sphere also between frames
            const length = Math.hypot(...p);
            if (length > 1e-6) p = [p[0] / length, p[1] / length, p[2] / length];
        }
        return p;
    }

    draw(t: number, trails: number, ink: string): void {
        const side = this.canvas.clientWidth || 240;
        const scale = Math.min(2, window.devicePixelRatio || 1);
        if (this.canvas.width !== Math.round(side * scale)) {
            this.canvas.width = this.canvas.height = Math.round(side * scale);
        }
        const context = this.canvas.getContext('2d');
        if (!context) return;
        context.setTransform(scale, 0, 0, scale, 0, 0);
        context.clearRect(0, 0, side, side);
        const middle = side / 2;
        const radius = side / 2 - 8;
        this.ball(context, middle, radius, ink);
        if (this.run.times.length === 0) return;
        const [frame, share] = this.place(t);
        if (trails > 0) this.trail(context, middle, radius, frame, share, trails);
        const dot = Math.max(1.6, Math.min(4, 40 / Math.sqrt(this.shown)));
        const seen: [number, number, number][] = [];
        for (let token = 0; token < this.shown; ++token) seen.push(this.camera.see(...this.point(frame, share, token)));
        seen.sort((a, b) => a[2] - b[2]);
        context.fillStyle = this.colour;
        for (const [x, y, z] of seen) {
            context.globalAlpha = z < 0 ? 0.28 : 0.9;
            context.beginPath();
            context.arc(middle + radius * x, middle - radius * y, dot * (1 + 0.25 * z), 0, 2 * Math.PI);
            context.fill();
        }
        context.globalAlpha = 1;
    }

    private trail(context: CanvasRenderingContext2D, middle: number, radius: number, frame: number, share: number, length: number): void {
        context.strokeStyle = this.colour;
        context.lineWidth = 1;
        const step = Math.max(1, Math.ceil(this.shown / 120));  // of many dots, some have a trail
        const first = Math.max(0, frame - length);
        context.globalAlpha = 0.3;
        context.beginPath();
        for (let token = 0; token < this.shown; token += step) {
            for (let k = first; k <= frame + 1; ++k) {
                const [x, y] = this.camera.see(...(k <= frame ? this.point(k, 0, token) : this.point(frame, share, token)));
                if (k === first) context.moveTo(middle + radius * x, middle - radius * y);
                else context.lineTo(middle + radius * x, middle - radius * y);
            }
        }
        context.stroke();
        context.globalAlpha = 1;
    }

    private ball(context: CanvasRenderingContext2D, middle: number, radius: number, ink: string): void {
        context.strokeStyle = ink;
        context.lineWidth = 1;
        context.globalAlpha = 0.7;
        context.beginPath();
        context.arc(middle, middle, radius, 0, 2 * Math.PI);
        context.stroke();
        if (this.dim === 2) {
            context.globalAlpha = 1;
            return;
        }
        // Three great circles, fainter behind.
        for (const normal of [0, 1, 2]) {
            let before: [number, number, number] | null = null;
            for (let i = 0; i <= 72; ++i) {
                const angle = (i / 72) * 2 * Math.PI;
                const p: [number, number, number] = [0, 0, 0];
                p[(normal + 1) % 3] = Math.cos(angle);
                p[(normal + 2) % 3] = Math.sin(angle);
                const now = this.camera.see(...p);
                if (before) {
                    context.globalAlpha = now[2] < 0 ? 0.12 : 0.3;
                    context.beginPath();
                    context.moveTo(middle + radius * before[0], middle - radius * before[1]);
                    context.lineTo(middle + radius * now[0], middle - radius * now[1]);
                    context.stroke();
                }
                before = now;
            }
        }
        context.globalAlpha = 1;
    }
}
