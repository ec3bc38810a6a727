import { hash } from 'node:crypto';
import { AGENDA_SEPARATOR, SUMMARIES, agendaNameOf } from '../sessions/domain/background/agenda-names.js';
import { MAX_DUE_ENTRIES } from '../sessions/domain/background/agenda-limits.js';
import { InvalidInputError } from '../sessions/domain/errors/errors.js';
import { isCount } from '../sessions/domain/values/input-checks.js';
import type { SessionKey } from '../sessions/domain/values/ids.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import { lastChangeOf } from '../sessions/domain/stored/view-marks.js';
import { TaskTracker } from '../sessions/lifecycle.js';
import type { Agenda, AgendaEntry } from '../sessions/storage/coordination.js';
import { BoundedMap } from '../sessions/domain/process/bounded-map.js';

export interface SummaryAgendaOptions {
  readonly agenda: Agenda;
  /** Whether to store triggers: not needed if thresholds use counters only, which are stored with the session. */
  readonly storesTriggers: boolean;
  /** Whether other processes write the summaries: a trigger is then due at once. */
  readonly leaveToOthers: boolean;
  readonly onError: (error: unknown) => void;
}

/** A session whose entry on the agenda is due. */
export interface DueSession {
  readonly entry: AgendaEntry;
  readonly key: SessionKey;
  readonly trigger?: DueTrigger | undefined;
}

/** An entry is due this long after the last event, or after a process has taken it. */
const DELAY_MS = 60_000;
const MAX_DELAY_MS = 10 * 60_000;
/** An entry is renewed after half of its delay, so that it does not become due while the session is in use. */
const RENEW_AFTER_MS = DELAY_MS / 2;
const MAX_NOTED = 50_000;
const MAX_TRIGGERS = 10_000;
const PAGE_SIZE = 100;
/** Ends the name of an entry that is due at once. No incarnation stands alone. */
const NOW = 'now';

/**
 * The queue of summaries, on the agenda of the store. Every session in use has an entry before its first append, and keeps
 * it until nothing is left to do: another process finds it there after a crash. A session in use costs one small write
 * per half minute, which no append waits for.
 */
export class SummaryAgenda {
  readonly #options: SummaryAgendaOptions;
  /** When this process wrote an entry. */
  readonly #notedAt = new BoundedMap<number>(MAX_NOTED);
  /** The triggers that this process knows. */
  readonly #triggers = new BoundedMap<DueTrigger>(MAX_TRIGGERS);
  readonly #writes = new TaskTracker(() => undefined);

  constructor(options: SummaryAgendaOptions) {
    this.#options = options;
  }

  /** Adds or renews the entry of a session. Without `inMs`, at most once per half minute. */
  note(key: SessionKey, inMs?: number): void {
    this.#note(agendaNameOf(key), inMs);
  }

  /** Makes a session in use due at once. An entry of its own: `note` postpones the other one. */
  noteNow(key: SessionKey): void {
    this.#note([agendaNameOf(key), NOW].join(AGENDA_SEPARATOR), 0);
  }

  triggerOf(key: SessionKey): DueTrigger | undefined {
    return this.#triggers.get(agendaNameOf(key));
  }

  /** Stores the trigger of a session, unless an earlier one is in force. Returns whether it did. */
  addTrigger(key: SessionKey, trigger: DueTrigger, record: SessionRecord): boolean {
    const name = agendaNameOf(key);
    const known = this.#triggers.get(name);
    if (known && isInForce(known, record)) return false;
    this.#triggers.set(name, trigger);
    this.#noteTrigger(key, trigger, this.#options.leaveToOthers ? 0 : undefined);
    return true;
  }

  /** Keeps a trigger that was read from the agenda. */
  rememberTrigger(key: SessionKey, trigger: DueTrigger): void {
    const name = agendaNameOf(key);
    if (!this.#triggers.has(name)) this.#triggers.set(name, trigger);
  }

  /** Drops a trigger. A newer one stays. */
  forgetTrigger(key: SessionKey, trigger: DueTrigger | undefined): void {
    const name = agendaNameOf(key);
    if (this.#triggers.get(name) === trigger) this.#triggers.delete(name);
  }

  /** Makes a session due again after `waitMs`. */
  retryIn(key: SessionKey, trigger: DueTrigger | undefined, waitMs: number): void {
    this.note(key, waitMs);
    if (trigger) this.#noteTrigger(key, trigger, waitMs);
  }

  /** All due sessions. The caller must remove or postpone each entry before it asks for the next. */
  async *due(): AsyncGenerator<DueSession> {
    for (let others = 0; ;) {
      const limit = Math.min(MAX_DUE_ENTRIES, PAGE_SIZE + others);
      const entries = await this.#options.agenda.due(limit);
      const own = entries.flatMap((entry) => {
        const parsed = parseAgendaName(entry.name);
        return parsed ? [{ entry, ...parsed }] : [];
      });
      yield* own;
      // Entries of others stay, before those of the next page.
      others = entries.length - own.length;
      if (entries.length < limit || others === MAX_DUE_ENTRIES) return;
    }
  }

  /**
   * Delays an entry while this process works on the session. The longer a session is idle, the longer the delay: a
   * pending tool call may prevent a summary forever.
   */
  async postpone({ name }: AgendaEntry, idleMs = 0): Promise<void> {
    await this.#put(name, Math.min(Math.max(DELAY_MS, Math.floor(idleMs)), MAX_DELAY_MS));
  }

  async reschedule({ name }: AgendaEntry, inMs: number): Promise<void> {
    await this.#put(name, inMs);
  }

  async remove(entry: AgendaEntry): Promise<void> {
    await this.#options.agenda.remove(entry);
  }

  async whenWritten(): Promise<void> {
    await this.#writes.whenIdle();
  }

  #noteTrigger(key: SessionKey, trigger: DueTrigger, inMs?: number): void {
    if (this.#options.storesTriggers) this.#note(triggerNameOf(key, trigger), inMs);
  }

  #note(name: string, inMs?: number): void {
    const now = performance.now();
    const notedAt = this.#notedAt.get(name);
    if (inMs === undefined && notedAt !== undefined && now - notedAt < RENEW_AFTER_MS) return;
    this.#notedAt.set(name, now);
    const write = this.#put(name, inMs ?? DELAY_MS).catch((error: unknown) => {
      this.#notedAt.delete(name);
      this.#options.onError(error);
    });
    this.#writes.trackInBackground(write);
  }

  /** Async, so that also a store that throws synchronously rejects the promise and fails no append. */
  async #put(name: string, inMs: number): Promise<void> {
    await this.#options.agenda.put(name, inMs);
  }
}

/** The event that made a summary due. The session stays due until a summary or a rewind, regardless of later events. */
export interface DueTrigger {
  readonly incarnation: string;
  readonly seq: number;
  /** Which branch needs a summary; missing for the whole conversation. */
  readonly branch?: string | undefined;
}

/** It comes back through a queue, perhaps by hand. */
export function assertTrigger(dueSince: unknown): void {
  const { incarnation, seq } = Object(dueSince) as Partial<DueTrigger>;
  if (typeof incarnation === 'string' && isCount(seq)) return;
  throw new InvalidInputError('must be what hooks.onDue gave, { incarnation, seq }', 'dueSince');
}

export function isInForce(
  { incarnation, seq }: DueTrigger,
  record: Pick<SessionRecord, 'incarnation' | 'marks'>,
): boolean {
  return incarnation === record.incarnation && lastChangeOf(record.marks) < seq;
}

/** The name of a session with its trigger on the agenda, for processes that did not see the event. */
function triggerNameOf(key: SessionKey, { incarnation, seq }: DueTrigger): string {
  return [agendaNameOf(key), incarnation, seq].join(AGENDA_SEPARATOR);
}

/** Parses a name on the agenda; `undefined` for entries of others. */
function parseAgendaName(
  name: string,
): { readonly key: SessionKey; readonly trigger?: DueTrigger | undefined } | undefined {
  const [kind, appName, userId, sessionId, incarnation, seq] = name.split(AGENDA_SEPARATOR);
  if (kind !== SUMMARIES || appName === undefined || userId === undefined || sessionId === undefined) return undefined;
  return {
    key: { appName, userId, sessionId },
    trigger: incarnation === undefined || seq === undefined ? undefined : { incarnation, seq: Number(seq) },
  };
}

/** The lease of a session. It is a hash, because ids together may be longer than the name of a lease. */
export function leaseNameOf(key: SessionKey): string {
  return `${SUMMARIES}:${hash('sha256', agendaNameOf(key), 'base64url')}`;
}
