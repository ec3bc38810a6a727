import { InvalidInputError } from '../sessions/domain/errors.js';
import type { IdGenerator } from '../sessions/domain/clock.js';
import { type EventInput, keepFilledInTimestamp } from '../sessions/domain/event.js';
import { isByUser } from '../sessions/domain/event-inspection.js';
import type { SessionKey } from '../sessions/domain/ids.js';
import {
  type EndedPartials,
  MAX_PARTIALS_PER_TURN,
  type PartialOutcome,
  type PartialWrite,
} from '../sessions/domain/partial-event.js';
import {
  type PartialText,
  type TextPart,
  joinedParts,
  lengthOf,
  textPartsOf,
} from '../sessions/domain/partial-text.js';
import { isControlEvent } from './control-events.js';
import { nameOf } from '../sessions/domain/open-calls.js';

/** How what running agents say is saved. */
export interface PartialSettings {
  /** How long what is said is collected before it is saved. Default: 75 ms. */
  readonly flushMs: number;
  /** How many bytes of a turn are saved at a time; what is beyond is only in the final events. Default: 262,144. */
  readonly maxBytes: number;
  /** How long it is kept after a death. Default: 86,400 seconds. */
  readonly ttlSeconds: number;
}

const DEFAULTS: PartialSettings = { flushMs: 75, maxBytes: 262_144, ttlSeconds: 86_400 };

/** The settings, or undefined if nothing is to be saved. */
export function partialSettings(given: Partial<PartialSettings> | false = {}): PartialSettings | undefined {
  if (given === false) return undefined;
  const settings = { ...DEFAULTS, ...given };
  for (const [name, value] of Object.entries(settings) as [string, unknown][]) {
    if (!Number.isSafeInteger(value) || (value as number) < 1) {
      throw new InvalidInputError('must be a whole number from 1 on', `partials.${name}`);
    }
  }
  return settings;
}

/** Where a turn saves. */
export interface PartialTarget {
  readonly key: SessionKey;
  readonly incarnation: string;
  readonly turnToken: string;
}

/** A message that a speaker has begun. */
interface OpenMessage {
  readonly id: string;
  /** Who says it, without what is said. */
  by: Omit<PartialText, 'offset' | 'parts'>;
  /** Characters that were taken for a write. */
  offset: number;
  pending: readonly TextPart[];
  bytes: number;
  isFull: boolean;
}

/**
 * What a turn says before it is stored. A speaker says one message at a time: the next event by the same author and branch
 * completes it. One write is on its way at a time, so that the pieces become visible in order.
 */
export class PartialLog {
  readonly #open = new Map<string, OpenMessage>();
  /** Messages that have pieces in the store. */
  readonly #stored = new Set<string>();
  #leftovers: readonly string[] = [];
  #written: PartialWrite | undefined;
  #index = 0;
  #isClosed = false;
  /** A write failed, and the store may still carry it out: until the turn ends, which refuses it. */
  #isInDoubt = false;
  /** A commit that removes pieces is on its way. It must not remove those that are saved meanwhile. */
  #isCommitting = false;

  /** @param onPending called when there is something to save */
  constructor(
    private readonly target: PartialTarget,
    private readonly settings: PartialSettings,
    private readonly newId: IdGenerator,
    private readonly onPending: (log: PartialLog) => void,
  ) {}

  get key(): SessionKey {
    return this.target.key;
  }

  /** Whether the store has, or may have, pieces of messages that are not complete. */
  get hasStored(): boolean {
    return this.#stored.size > 0 || this.#isInDoubt;
  }

  /** Messages of a turn that died. The next commit removes their pieces. */
  leaveToNextCommit(messageIds: readonly string[]): void {
    this.#leftovers = messageIds;
    for (const id of messageIds) this.#stored.add(id);
  }

  /** Collects a partial event. Returns the id of its message, which the event that completes it gets. */
  add(event: EventInput): string {
    const { author = '', branch, invocationId = '', timestamp = Date.now() } = event;
    const by = { author, ...(branch !== undefined && { branch }), invocationId, timestamp };
    const name = nameOf(event);
    const message = this.#open.get(name) ?? { id: this.newId(), by, offset: 0, pending: [], bytes: 0, isFull: false };
    this.#open.set(name, message);
    const parts = textPartsOf(event);
    if (this.#isClosed || message.isFull || parts.length === 0) return message.id;
    message.bytes += parts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    message.isFull = this.#bytes > this.settings.maxBytes || this.#index >= MAX_PARTIALS_PER_TURN;
    if (message.isFull) return message.id;
    message.by = by;
    message.pending = joinedParts(message.pending, parts);
    this.onPending(this);
    return message.id;
  }

  /** The next write. The same again, if it failed. */
  take(): PartialWrite | undefined {
    if (this.#isClosed || this.#isCommitting) return undefined;
    if (this.#written) return this.#written;
    const [name, message] = [...this.#open].find(([, { pending }]) => pending.length > 0) ?? [];
    if (name === undefined || !message) return undefined;
    const { id: messageId, by, offset, pending: parts } = message;
    message.offset += lengthOf(parts);
    message.pending = [];
    // The others are next.
    this.#open.delete(name);
    this.#open.set(name, message);
    const content = JSON.stringify({ ...by, offset, parts } satisfies PartialText);
    const ttlMs = this.settings.ttlSeconds * 1_000;
    this.#stored.add(messageId);
    this.#written = { ...this.target, index: ++this.#index, messageId, content, ttlMs };
    return this.#written;
  }

  /** The outcome of the last write; none if it is not known. */
  settle(outcome: PartialOutcome | undefined): void {
    if (outcome?.kind === 'lost') this.close();
    if (outcome?.kind === 'saved') this.#written = undefined;
    if (!outcome) this.#isInDoubt = true;
    this.#wake();
  }

  /**
   * The events of a commit: those that complete a message get its id. Call {@link ended} when they are stored, and then, or
   * if they are not, {@link resume}.
   */
  completing(events: readonly EventInput[], endsTurn: boolean): Completion {
    const ids = [...this.#leftovers];
    const completing = events.map((event) => {
      if (!completes(event)) return event;
      const name = nameOf(event);
      const message = this.#open.get(name);
      if (!message) return event;
      this.#open.delete(name);
      if (message.id === this.#written?.messageId) this.#written = undefined;
      if (this.#stored.has(message.id)) ids.push(message.id);
      return event.id === undefined ? copyOf(event, message.id) : event;
    });
    if (endsTurn) this.close();
    const isAll = endsTurn || ids.length === this.#stored.size;
    this.#isCommitting = true;
    // If the commit fails, the next one removes them.
    this.#leftovers = ids;
    const hasAny = endsTurn ? this.hasStored : ids.length > 0;
    return { events: completing, ...(hasAny && { endPartials: isAll ? 'all' : ids }) };
  }

  /** What a stored commit has removed. */
  ended(endPartials: EndedPartials | undefined): void {
    for (const id of endPartials === 'all' ? [...this.#stored] : (endPartials ?? [])) this.#stored.delete(id);
    this.#leftovers = [];
  }

  /** Saves again, after a commit. */
  resume(): void {
    this.#isCommitting = false;
    this.#wake();
  }

  /** Nothing is saved any more. */
  close(): void {
    this.#isClosed = true;
    this.#open.clear();
    this.#written = undefined;
  }

  #wake(): void {
    if (this.#written || [...this.#open.values()].some(({ pending }) => pending.length > 0)) this.onPending(this);
  }

  get #bytes(): number {
    return [...this.#open.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }
}

/** The events of a commit, and what it removes. */
interface Completion {
  readonly events: readonly EventInput[];
  readonly endPartials?: EndedPartials;
}

function copyOf(event: EventInput, id: string): EventInput {
  const copy = { ...event, id };
  keepFilledInTimestamp(event, copy);
  return copy;
}

/** Whether the event completes what its speaker said before. */
function completes(event: EventInput): boolean {
  return event.partial !== true && !isControlEvent(event) && !isByUser(event);
}
