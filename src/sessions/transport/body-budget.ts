/** What bodies may take. */
export interface BodyBudgetLimits {
  /** The bytes of all bodies at once. 0 = no limit. */
  readonly maxBytes: number;
  /** The bytes of all bodies of one address at once. 0 = no limit. */
  readonly maxBytesPerAddress: number;
}

/** The bytes of the bodies that a process reads or works on. A body that has no room is refused: its client can send it again. */
export class BodyBudget {
  #held = 0;
  readonly #heldBy = new Map<string, number>();

  constructor(private readonly limits: BodyBudgetLimits) {}

  /** Returns what gives the bytes back, or `undefined` if there is no room. A body is let in if nothing else is held. */
  reserve(address: string, bytes: number): (() => void) | undefined {
    const ofAddress = this.#heldBy.get(address) ?? 0;
    const { maxBytes, maxBytesPerAddress } = this.limits;
    if (!hasRoom(this.#held, bytes, maxBytes) || !hasRoom(ofAddress, bytes, maxBytesPerAddress)) return undefined;
    this.#change(address, bytes);
    let isHeld = true;
    return () => {
      if (isHeld) this.#change(address, -bytes);
      isHeld = false;
    };
  }

  #change(address: string, by: number): void {
    this.#held += by;
    const ofAddress = (this.#heldBy.get(address) ?? 0) + by;
    if (ofAddress === 0) this.#heldBy.delete(address);
    else this.#heldBy.set(address, ofAddress);
  }
}

function hasRoom(held: number, bytes: number, max: number): boolean {
  return max === 0 || held === 0 || held + bytes <= max;
}
