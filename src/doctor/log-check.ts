import type { StoredEvent } from '../sessions/domain/stored/commit.js';
import { EncryptionError } from '../sessions/domain/errors/encryption-errors.js';
import { metadataChanges } from '../sessions/domain/metadata/metadata.js';
import { eventDigest, isDigest, payloadChecksum } from '../sessions/domain/write/event-digest.js';
import { isAnchor, isAnySummary, isRewind, isSummary } from '../sessions/domain/event/event-inspection.js';
import type { LoggedEvent } from '../sessions/domain/event/event.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import { BuiltSize, type StateLimits } from '../sessions/domain/stored/state-size.js';
import { StateFold } from '../sessions/domain/history/state-history.js';
import { DamagedDataError, loggedEvent, storedJson } from '../sessions/domain/stored/stored-json.js';
import { readingProblem } from '../sessions/domain/write/stored-forms.js';
import { type ModelUsage, usageByModel, usageOfEvent } from '../sessions/domain/usage/usage.js';
import { type Note, encryptionNote, gapNote } from './findings.js';
import { type Control, LiveSums } from './live-path.js';

/** So many notes of a kind are enough to see what is wrong. */
const MOST_NOTES = 10;

/**
 * Folds the log of a session into what follows from it. Holds the state and the summaries and rewinds, not the events.
 *
 * @example
 * const fold = new LogCheck(record, baseState, limits);
 * for await (const stored of log) fold.add(stored);
 * fold.isWhole && fold.state?.toRecord();
 */
export class LogCheck {
  /** Missing if it is not known, or too large to be built. */
  state: StateFold | undefined;
  readonly #size: BuiltSize;
  readonly controls: Control[] = [];
  /** What the events add up to, if there are no summaries and rewinds. */
  readonly sums: LiveSums;
  /** The last event that is not a summary. */
  tipSeq = 0;
  /** The latest append of an event that is not a summary. */
  lastUpdateTime = 0;
  highWater = 0;
  /** What events last said about each entry of the metadata; `null` is a removal. */
  readonly metadata = new Map<string, string | null>();
  readonly notes: Note[] = [];
  /** The events that cannot be read. */
  readonly damaged: Pick<StoredEvent, 'seq' | 'id' | 'appendedAt'>[] = [];
  /** Models and their tokens, of events that were certainly counted, and of those that came with the session. */
  #usage: ModelUsage[] = [];
  #initialUsage: ModelUsage[] = [];
  #next: number;
  #noted = 0;

  constructor(
    private readonly record: SessionRecord,
    baseState: string | undefined,
    limits: StateLimits,
  ) {
    this.state =
      baseState === undefined ? undefined : new StateFold(storedJson(baseState, 'state') as Record<string, unknown>);
    this.#size = new BuiltSize(limits, Buffer.byteLength(baseState ?? ''));
    this.sums = new LiveSums(0, record.firstSeq === 1);
    this.#next = record.firstSeq;
  }

  /** Whether every event is there and readable. Otherwise nothing follows from the log. */
  get isWhole(): boolean {
    return this.#noted === 0;
  }

  /** Whether nothing is wrong with the other events. */
  get isWholeBesideDamaged(): boolean {
    return this.#noted === this.damaged.length;
  }

  /** Adds the next event. Returns it, unless it cannot be read. */
  add(stored: StoredEvent): LoggedEvent | undefined {
    this.#passTo(stored.seq);
    this.#next = stored.seq + 1;
    const event = this.#read(stored);
    if (!event) return undefined;
    this.#addState(event, stored);
    this.sums.add(event);
    const { compaction, rewind } = event.actions;
    if (compaction ?? rewind) {
      this.controls.push({ seq: event.seq, rewindTo: rewind?.toSeq, summaryTo: compaction?.toSeq });
    }
    if (!isAnySummary(event)) {
      this.tipSeq = event.seq;
      this.lastUpdateTime = Math.max(this.lastUpdateTime, stored.appendedAt);
    }
    this.highWater = Math.max(this.highWater, stored.appendedAt, event.timestamp);
    // The log with which a session was created, such as a fork's, is neither counted nor has it changed metadata.
    const isInitial = stored.appendedAt <= this.record.createTime;
    const { metadataDelta } = event.actions;
    if (metadataDelta && !isInitial) {
      for (const [name, value] of metadataChanges(metadataDelta)) this.metadata.set(name, value);
    }
    this.#addUsage(event, isInitial);
    return event;
  }

  /** After the last event. */
  end(): void {
    this.#passTo(this.record.lastSeq + 1);
  }

  /** The least and the most tokens that the session can have, by model. */
  get usage(): { readonly least: readonly ModelUsage[]; readonly most: readonly ModelUsage[] } {
    return { least: this.#usage, most: usageByModel([...this.#usage, ...this.#initialUsage]) };
  }

  #addState(event: LoggedEvent, { payload }: StoredEvent): void {
    const { state } = this;
    if (!state) return;
    state.add(event);
    if (!this.#size.fits(Buffer.byteLength(payload ?? ''), () => state.countBytes())) this.state = undefined;
  }

  #passTo(seq: number): void {
    if (seq > this.#next) this.#note(gapNote(this.#next, seq));
  }

  #read(stored: StoredEvent): LoggedEvent | undefined {
    try {
      const event = loggedEvent(stored);
      const problem = readingProblem(event);
      if (problem) return this.#skip(stored, `is not what an append stores: ${problem}`);
      if (isAltered(stored, event) || event.id !== stored.id) {
        this.#note({ code: 'EVENT_ALTERED', detail: `event ${stored.seq} is not what was appended` });
      }
      return event;
    } catch (error) {
      if (error instanceof EncryptionError) {
        this.#note(encryptionNote(error, `event ${stored.seq}`));
        return undefined;
      }
      if (stored.payload !== null && !(error instanceof DamagedDataError)) throw error;
      return this.#skip(stored, stored.payload === null ? 'has no text, and is not trimmed' : 'cannot be read');
    }
  }

  #skip({ seq, id, appendedAt }: StoredEvent, problem: string): undefined {
    this.damaged.push({ seq, id, appendedAt });
    this.#note({ code: 'EVENT_UNREADABLE', detail: `event ${seq} ${problem}` });
  }

  #note(note: Note): void {
    if (this.#noted++ < MOST_NOTES) this.notes.push(note);
  }

  #addUsage(event: LoggedEvent, isInitial: boolean): void {
    const usage = usageOfEvent(event);
    if (!usage) return;
    if (!isInitial) this.#usage = usageByModel([...this.#usage, usage]);
    else this.#initialUsage = usageByModel([...this.#initialUsage, usage]);
  }
}

/** Whether the text is not the one that was stored. Older versions stored a digest instead of a checksum. */
function isAltered({ digest, payload }: StoredEvent, event: LoggedEvent): boolean {
  if (digest === '') return false;
  if (!isDigest(digest)) return payloadChecksum(payload ?? '') !== digest;
  return !isControl(event) && eventDigest(event) !== digest;
}

/** Their texts are changed when they are copied to a fork, and in older forks the digest is not. */
function isControl(event: LoggedEvent): boolean {
  return isSummary(event) || isRewind(event);
}

/** The events with which a view can begin. */
export function listAnchorSeqs(events: readonly LoggedEvent[]): number[] {
  return events.filter(isAnchor).map(({ seq }) => seq);
}
