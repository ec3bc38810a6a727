/** What becomes of an event. It is the same for each consumer, session and delivery. */
export type Fate =
  | { readonly kind: 'works' }
  /** Its handler throws so many times. */
  | { readonly kind: 'throws'; readonly times: number }
  /** Its process ends so many times. */
  | { readonly kind: 'crashes'; readonly times: number }
  /** Its handler takes longer than the lease, once. */
  | { readonly kind: 'overtaken' };

export interface Delivery {
  readonly incarnation: string;
  readonly seq: number;
  readonly attempt: number;
  readonly isLetter: boolean;
  /** Whether its process handles nothing else, since the event is suspected to end processes. */
  readonly isAlone: boolean;
}

/** What a consumer knows of an event. */
interface Progress {
  /** Failed tries since the first delivery, or since the last retry of the dead letter. A crash is one if it was alone. */
  failures: number;
  /** All failed deliveries, also crashes that are no tries. */
  failed: number;
  state: 'waiting' | 'handled' | 'dead' | 'revived' | 'dropped';
  wasDead: boolean;
  wasOvertaken: boolean;
}

export interface ModelConsumerOptions {
  readonly name: string;
  readonly apps: readonly string[] | undefined;
  readonly maxTries: number;
  /** The last event before the registration, of each session that existed. */
  readonly starts: ReadonlyMap<string, number>;
}

/** What a consumer must have been given, and must not be given yet. */
export class ModelConsumer {
  readonly #events = new Map<string, Progress>();

  constructor(readonly options: ModelConsumerOptions) {}

  wants(appName: string): boolean {
    return this.options.apps?.includes(appName) ?? true;
  }

  /** Refuses a delivery that breaks a guarantee. Returns what its handler does. */
  deliver(delivery: Delivery, fate: Fate): Fate['kind'] {
    const { incarnation, seq, attempt, isAlone } = delivery;
    this.#assertMayCome(delivery);
    const event = this.#event(incarnation, seq);
    if (event.state === 'handled') return 'works';
    if (fate.kind === 'throws') same(attempt, event.failures + 1, `attempt of event ${seq}`);
    if (fate.kind === 'overtaken' && !event.wasOvertaken) {
      event.wasOvertaken = true;
      return 'overtaken';
    }
    if ('times' in fate && event.failed < fate.times) {
      event.failed++;
      if (fate.kind === 'throws' || isAlone) event.failures++;
      if (event.failures === this.options.maxTries) this.#bury(event);
      return fate.kind;
    }
    event.state = 'handled';
    return 'works';
  }

  handled({ incarnation, seq }: Pick<Delivery, 'incarnation' | 'seq'>): void {
    this.#event(incarnation, seq).state = 'handled';
  }

  retry(incarnation: string, seq: number): void {
    Object.assign(this.#event(incarnation, seq), { state: 'revived', failures: 0 });
  }

  drop(incarnation: string, seq: number): void {
    this.#event(incarnation, seq).state = 'dropped';
  }

  /** The events of a log that it must still get. */
  pending(incarnation: string, lastSeq: number): number[] {
    const states = new Set(['waiting', 'revived']);
    return this.#log(incarnation, lastSeq).filter((seq) => states.has(this.#event(incarnation, seq).state));
  }

  dead(incarnation: string, lastSeq: number): number[] {
    return this.#log(incarnation, lastSeq).filter((seq) => this.#event(incarnation, seq).state === 'dead');
  }

  #assertMayCome({ incarnation, seq, attempt, isLetter }: Delivery): void {
    const { maxTries } = this.options;
    const event = this.#event(incarnation, seq);
    // Crashes that are no tries count as one attempt.
    if (attempt < 1 || attempt > maxTries + 1) throw new Error(`Attempt ${attempt} with ${maxTries} tries`);
    if (isLetter) return same(event.state, 'revived', `dead letter ${seq}`);
    if (event.wasDead) throw new Error(`The dead event ${seq} came without a retry`);
    if (seq <= this.#start(incarnation)) throw new Error(`Event ${seq} is older than the consumer`);
    const early = this.#log(incarnation, seq - 1).filter((earlier) => !this.#isPassed(incarnation, earlier));
    if (early.length > 0) throw new Error(`Event ${seq} came before event ${early.join()}`);
  }

  #isPassed(incarnation: string, seq: number): boolean {
    const { state, wasDead } = this.#event(incarnation, seq);
    return wasDead || state === 'handled';
  }

  #bury(event: Progress): void {
    Object.assign(event, { state: 'dead', wasDead: true });
  }

  #log(incarnation: string, lastSeq: number): number[] {
    const start = this.#start(incarnation);
    return Array.from({ length: Math.max(0, lastSeq - start) }, (_, index) => start + 1 + index);
  }

  #start(incarnation: string): number {
    return this.options.starts.get(incarnation) ?? 0;
  }

  #event(incarnation: string, seq: number): Progress {
    const id = `${incarnation}:${seq}`;
    const known = this.#events.get(id);
    if (known) return known;
    const event: Progress = { failures: 0, failed: 0, state: 'waiting', wasDead: false, wasOvertaken: false };
    this.#events.set(id, event);
    return event;
  }
}

function same(real: unknown, expected: unknown, what: string): void {
  if (real !== expected) throw new Error(`${what}: ${String(real)}, not ${String(expected)}`);
}
