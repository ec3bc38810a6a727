/** Bytes of a slab. Larger texts have one of their own. */
const SLAB_BYTES = 131_072;
/** Texts from this size on do not begin a new slab while the current one has room for others. */
const LARGE_BYTES = SLAB_BYTES / 4;
/** Before each text: its bytes and its encoding. */
const HEADER_BYTES = 4;
/** A UTF-16 unit has at most three bytes of UTF-8. */
const MOST_BYTES_OF_A_UNIT = 3;
/** Slabs may be half empty; a few more are no waste. */
const FEW_SLABS = 4;

const ENCODINGS = ['latin1', 'utf8', 'utf16le'] as const;
type Encoding = 0 | 1 | 2;

/** Where a text is. */
export type TextPlace = number;

interface Slab {
  readonly number: number;
  readonly buffer: Buffer;
  /** The last sweep that moved its texts here. */
  sweep: number;
  used: number;
  /** Bytes of texts that were not released. */
  live: number;
}

/** A text that is decoded when somebody looks at it. It stays readable when its place is released. */
export class SlabText {
  constructor(
    private readonly buffer: Buffer,
    private readonly from: number,
    private readonly header: number,
  ) {}

  get bytes(): number {
    return this.header >>> 2;
  }

  toString(): string {
    return this.buffer.toString(ENCODINGS[(this.header & 3) as Encoding], this.from, this.from + (this.header >>> 2));
  }
}

/**
 * Texts in large buffers outside the heap, so that they take no more than their bytes and the garbage collector does not
 * copy them. A slab is let go when all its texts are released. If slabs become half empty, a sweep moves what is left in
 * them: the owner of the texts calls {@link moved} for each place.
 *
 * @example
 * const place = texts.add(payload);
 * texts.at(place).toString() === payload;
 */
export class TextSlabs {
  readonly #slabs: (Slab | undefined)[] = [];
  readonly #freeNumbers: number[] = [];
  #current: Slab | undefined;
  #held = 0;
  #live = 0;
  #sweeps = 0;
  #isSweeping = false;

  /** Bytes of all slabs, and of the texts in them. */
  get bytes(): { readonly held: number; readonly live: number } {
    return { held: this.#held, live: this.#live };
  }

  add(text: string): TextPlace {
    const encoding: Encoding = text.isWellFormed() ? 1 : 2;
    const most = HEADER_BYTES + text.length * MOST_BYTES_OF_A_UNIT;
    const hasRoom = this.#current && this.#current.buffer.length - this.#current.used >= most;
    const slab = hasRoom
      ? (this.#current as Slab)
      : this.#slabFor(HEADER_BYTES + Buffer.byteLength(text, ENCODINGS[encoding]));
    const from = slab.used + HEADER_BYTES;
    const bytes = slab.buffer.write(text, from, ENCODINGS[encoding]);
    // Text of ASCII is decoded fastest as Latin-1.
    const header = bytes * 4 + (encoding === 1 && bytes === text.length ? 0 : encoding);
    slab.buffer.writeUInt32LE(header, slab.used);
    return this.#placed(slab, HEADER_BYTES + bytes);
  }

  at(place: TextPlace): SlabText {
    const { buffer } = this.#slabOf(place);
    const from = place % SLAB_BYTES;
    return new SlabText(buffer, from + HEADER_BYTES, buffer.readUInt32LE(from));
  }

  /** Returns how many bytes are free now. */
  release(place: TextPlace): number {
    const slab = this.#slabOf(place);
    const bytes = bytesAt(slab, place % SLAB_BYTES);
    slab.live -= bytes;
    this.#live -= bytes;
    if (slab.live === 0 && slab !== this.#current) this.#letGo(slab);
    return bytes;
  }

  /** Whether a sweep is due. It begins with this call. */
  beginSweep(): boolean {
    if (this.#isSweeping || this.#held <= 2 * this.#live + FEW_SLABS * SLAB_BYTES) return false;
    this.#isSweeping = true;
    this.#sweeps++;
    const last = this.#current;
    this.#current = undefined;
    if (last?.live === 0) this.#letGo(last);
    return true;
  }

  /** Call it when each place was passed to {@link moved}. */
  endSweep(): void {
    this.#isSweeping = false;
  }

  /** In a sweep: the new place of a text. */
  moved(place: TextPlace): TextPlace {
    const slab = this.#slabOf(place);
    // The text of a large slab is alone in it.
    if (slab.buffer.length !== SLAB_BYTES) slab.sweep = this.#sweeps;
    if (slab.sweep === this.#sweeps) return place;
    const from = place % SLAB_BYTES;
    const bytes = bytesAt(slab, from);
    const target =
      this.#current && this.#current.buffer.length - this.#current.used >= bytes ? this.#current : this.#slabFor(bytes);
    slab.buffer.copy(target.buffer, target.used, from, from + bytes);
    this.release(place);
    return this.#placed(target, bytes);
  }

  clear(): void {
    this.#slabs.length = 0;
    this.#freeNumbers.length = 0;
    this.#current = undefined;
    this.#held = 0;
    this.#live = 0;
  }

  #placed(slab: Slab, bytes: number): TextPlace {
    const place = slab.number * SLAB_BYTES + slab.used;
    slab.used += bytes;
    slab.live += bytes;
    this.#live += bytes;
    return place;
  }

  /** A slab with room for so many bytes. */
  #slabFor(bytes: number): Slab {
    const current = this.#current;
    if (current && current.buffer.length - current.used >= bytes) return current;
    if (bytes >= LARGE_BYTES) return this.#newSlab(bytes);
    this.#current = this.#newSlab(SLAB_BYTES);
    if (current?.live === 0) this.#letGo(current);
    return this.#current;
  }

  #newSlab(size: number): Slab {
    const number = this.#freeNumbers.pop() ?? this.#slabs.length;
    // Not from the pool of Node.js, and not filled with zeros.
    const slab = { number, buffer: Buffer.allocUnsafeSlow(size), sweep: this.#sweeps, used: 0, live: 0 };
    this.#slabs[number] = slab;
    this.#held += size;
    return slab;
  }

  #letGo({ number, buffer }: Slab): void {
    this.#slabs[number] = undefined;
    this.#freeNumbers.push(number);
    this.#held -= buffer.length;
  }

  #slabOf(place: TextPlace): Slab {
    const slab = this.#slabs[Math.floor(place / SLAB_BYTES)];
    if (!slab) throw new Error('A text was read after it was released');
    return slab;
  }
}

/** With its header. */
function bytesAt({ buffer }: Slab, from: number): number {
  return HEADER_BYTES + (buffer.readUInt32LE(from) >>> 2);
}
