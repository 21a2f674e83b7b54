// The view that all spheres share: a rotation, changed by dragging and by arrow keys.

export type Vector = [number, number, number];

export class Camera {
    // Rows: right, up, towards the viewer.
    private axes: [Vector, Vector, Vector] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];

    // Looks at a point of the sphere a little from the side, so that what gathers there is seen in front and as a place on a ball.
    face(target: Vector): void {
        const length = Math.hypot(...target) || 1;
        const front = target.map(v => v / length) as Vector;
        const helper: Vector = Math.abs(front[1]) < 0.9 ? [0, 1, 0] : [1, 0, 0];
        const right = unit(cross(helper, front));
        this.axes = [right, cross(front, right), front];
        this.turn(0.35, -0.25);
    }

    flat(): void {
        this.axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    }

    like(other: Camera): void {
        this.axes = other.axes.map(axis => [...axis]) as [Vector, Vector, Vector];
    }

    // By angles about the vertical and the horizontal of the screen.
    turn(across: number, along: number): void {
        const [right, up, front] = this.axes;
        const a = mix(right, Math.cos(across), front, -Math.sin(across));
        const b = mix(front, Math.cos(across), right, Math.sin(across));
        const c = mix(up, Math.cos(along), b, Math.sin(along));
        this.axes = [a, unit(c), unit(mix(b, Math.cos(along), up, -Math.sin(along)))];
    }

    // Right, up and towards the viewer, of a point.
    see(x: number, y: number, z: number): Vector {
        const [r, u, f] = this.axes;
        return [r[0] * x + r[1] * y + r[2] * z, u[0] * x + u[1] * y + u[2] * z, f[0] * x + f[1] * y + f[2] * z];
    }
}

function cross(a: Vector, b: Vector): Vector {
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}
function unit(a: Vector): Vector {
    const length = Math.hypot(...a) || 1;
    return [a[0] / length, a[1] / length, a[2] / length];
}
function mix(a: Vector, s: number, b: Vector, t: number): Vector {
    return [a[0] * s + b[0] * t, a[1] * s + b[1] * t, a[2] * s + b[2] * t];
}
