/** The events after one number, up to and with another. */
interface Stretch {
  readonly after: number;
  readonly to: number;
}

/** What is known of a log beyond a gap: as stretches, since what lies in the gap may never be heard of. */
export class KnownStretches {
  /** In order, and apart from each other. */
  #stretches: Stretch[] = [];

  has(seq: number): boolean {
    return this.#stretches.some(({ after, to }) => seq > after && seq <= to);
  }

  add(after: number, to: number): void {
    const last = this.#stretches.at(-1);
    if (!last || after > last.to) this.#stretches.push({ after, to });
    else if (after >= last.after) this.#stretches.splice(-1, 1, { after: last.after, to: Math.max(last.to, to) });
    else this.#stretches = merged([...this.#stretches, { after, to }]);
  }

  /** How far everything is known, given that it is known up to `seq`. */
  reachFrom(seq: number): number {
    let reach = seq;
    while (this.#stretches[0] && this.#stretches[0].after <= reach) {
      reach = Math.max(reach, this.#stretches[0].to);
      this.#stretches.shift();
    }
    return reach;
  }

  forgetUpTo(seq: number): void {
    while (this.#stretches[0] && this.#stretches[0].to <= seq) this.#stretches.shift();
  }
}

function merged(stretches: readonly Stretch[]): Stretch[] {
  const apart: Stretch[] = [];
  for (const next of stretches.toSorted((a, b) => a.after - b.after)) {
    const last = apart.at(-1);
    if (!last || next.after > last.to) apart.push(next);
    else apart.splice(-1, 1, { after: last.after, to: Math.max(last.to, next.to) });
  }
  return apart;
}
