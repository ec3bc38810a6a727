import { type SettingsWithDefaults, defaultsOf, wholeNumber } from '../../config/setting.js';
import { withDefaults } from '../../config/with-defaults.js';
import type { IdGenerator, SessionKey } from '../../sessions/domain/values/ids.js';
import { type EventInput, keepFilledInTimestamp } from '../../sessions/domain/event/event.js';
import { isByUser } from '../../sessions/domain/event/event-inspection.js';
import {
  type EndedPartials,
  MAX_PARTIALS_PER_TURN,
  type PartialOutcome,
  type PartialWrite,
} from '../../sessions/domain/stored/partial-event.js';
import {
  type PartialText,
  type TextPart,
  joinedParts,
  countCharacters,
  readTexts,
} from '../../sessions/domain/stored/partial-text.js';
import { discardEvent, isControlEvent } from './control-events.js';
import { formatSpeakerName } from '../../sessions/domain/event/open-calls.js';

/** How what running agents say is saved. */
export interface PartialSettings {
  /** How long what is said is collected at most before it is saved. Default: 75 ms. */
  readonly flushMs: number;
  /** How many bytes of a turn are saved at a time; what is beyond is only in the final events. Default: 262,144. */
  readonly maxBytes: number;
  /** How long it is kept after a death. Default: 86,400 seconds. */
  readonly ttlSeconds: number;
}

/** What each of these settings accepts, and its default. */
export const PARTIALS: SettingsWithDefaults<PartialSettings> = {
  flushMs: { kind: wholeNumber(1), default: 75 },
  maxBytes: { kind: wholeNumber(1), default: 262_144 },
  ttlSeconds: { kind: wholeNumber(1), default: 86_400 },
};

/** The settings, or undefined if nothing is to be saved. */
export function partialSettings(given: Partial<PartialSettings> | false = {}): PartialSettings | undefined {
  return given === false ? undefined : withDefaults<PartialSettings>(given, defaultsOf(PARTIALS));
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
  /** Characters that were said. */
  said: number;
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
  /** What a commit that is on its way completes. Nothing is saved meanwhile, since it would be removed, too. */
  #commit: { readonly completed: ReadonlyMap<string, OpenMessage>; readonly endsTurn: boolean } | undefined;

  constructor(
    private readonly target: PartialTarget,
    private readonly settings: PartialSettings,
    private readonly newId: IdGenerator,
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

  /** Collects a partial event. Returns the id of its message, which the event that completes it gets, and what was said before. */
  add(event: EventInput): { readonly id: string; readonly offset: number } {
    const { author = '', branch, invocationId = '', timestamp = Date.now() } = event;
    const by = { author, ...(branch !== undefined && { branch }), invocationId, timestamp };
    const name = formatSpeakerName(event);
    const message = this.#open.get(name) ?? newMessage(this.newId(), by);
    this.#open.set(name, message);
    const parts = readTexts(event);
    const place = { id: message.id, offset: message.said };
    message.said += countCharacters(parts);
    if (this.#isClosed || message.isFull || parts.length === 0) return place;
    message.bytes += parts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    message.isFull = this.#bytes > this.settings.maxBytes || this.#index >= MAX_PARTIALS_PER_TURN;
    if (message.isFull) return place;
    message.by = by;
    message.pending = joinedParts(message.pending, parts);
    return place;
  }

  /** The next write. The same again, if it failed. */
  take(): PartialWrite | undefined {
    if (this.#isClosed || this.#commit) return undefined;
    if (this.#written) return this.#written;
    const [name, message] = [...this.#open].find(([, { pending }]) => pending.length > 0) ?? [];
    if (name === undefined || !message) return undefined;
    const { id: messageId, by, offset, pending: parts } = message;
    message.offset += countCharacters(parts);
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
  }

  /**
   * The events of a commit: those that complete a message get its id. What nothing completes is taken back at the end. Call
   * {@link ended} when they are stored, and then, or if they are not, {@link resume}.
   */
  completing(events: readonly EventInput[], endsTurn: boolean): Completion {
    const completed = new Map<string, OpenMessage>();
    const completing = events.map((event, index) => {
      const name = formatSpeakerName(event);
      const message = this.#open.get(name);
      if (!message || index !== completerOf(events, name)) return event;
      completed.set(name, message);
      return event.id === undefined ? copyEventWithId(event, message.id) : event;
    });
    // Readers have pieces of these, and get no event instead of them.
    const left = [...this.#open].filter(([name, { id }]) => this.#stored.has(id) && !completed.has(name));
    const discards = endsTurn ? left.map(([, { id, by }]) => discardEvent({ ...by, id })) : [];
    const ids = [...completed.values()].map(({ id }) => id).filter((id) => this.#stored.has(id));
    const ended = [...this.#leftovers, ...ids];
    this.#commit = { completed, endsTurn };
    const isAll = endsTurn || ended.length === this.#stored.size;
    const hasAny = endsTurn ? this.hasStored : ended.length > 0;
    return { events: [...discards, ...completing], ...(hasAny && { endPartials: isAll ? 'all' : ended }) };
  }

  /** What a stored commit has completed and removed. */
  ended(endPartials: EndedPartials | undefined): void {
    for (const id of endPartials === 'all' ? [...this.#stored] : (endPartials ?? [])) this.#stored.delete(id);
    this.#leftovers = [];
    for (const [name, { id }] of this.#commit?.completed ?? []) {
      this.#open.delete(name);
      if (id === this.#written?.messageId) this.#written = undefined;
    }
    if (this.#commit?.endsTurn) this.close();
  }

  /** Saves again, after a commit. */
  resume(): void {
    this.#commit = undefined;
  }

  /** Nothing is saved any more. */
  close(): void {
    this.#isClosed = true;
    this.#open.clear();
    this.#written = undefined;
  }

  /** Whether there is something to save. */
  get isPending(): boolean {
    return this.#written !== undefined || [...this.#open.values()].some(({ pending }) => pending.length > 0);
  }

  get #bytes(): number {
    return [...this.#open.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }
}

function newMessage(id: string, by: OpenMessage['by']): OpenMessage {
  return { id, by, said: 0, offset: 0, pending: [], bytes: 0, isFull: false };
}

/** The events of a commit, and what it removes. */
interface Completion {
  readonly events: readonly EventInput[];
  readonly endPartials?: EndedPartials;
}

function copyEventWithId(event: EventInput, id: string): EventInput {
  const copy = { ...event, id };
  keepFilledInTimestamp(event, copy);
  return copy;
}

/** The event that completes what a speaker said: the first one with text, rather than a response of a tool. */
function completerOf(events: readonly EventInput[], name: string): number {
  const isOfSpeaker = (event: EventInput): boolean => completes(event) && formatSpeakerName(event) === name;
  const saying = events.findIndex((event) => isOfSpeaker(event) && readTexts(event).length > 0);
  return saying >= 0 ? saying : events.findIndex(isOfSpeaker);
}

/** Whether the event completes what its speaker said before. */
function completes(event: EventInput): boolean {
  return event.partial !== true && !isControlEvent(event) && !isByUser(event);
}
