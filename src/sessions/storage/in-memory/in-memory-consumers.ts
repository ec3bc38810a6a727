import { compareBytes } from '../../domain/ids.js';
import { NEVER_DUE, claimedEntry, entryAfter, letterOf, revivedLetter } from '../../domain/consumer-work.js';
import type { NoteOutcome, WorkEntry, WorkProgress } from '../../domain/consumer-work.js';
import { markAfterDispatch, NOTHING_WAITS } from '../../domain/session-record.js';
import { dueTime } from '../../domain/coordination-rules.js';
import type {
  ChangedSession,
  ClaimRequest,
  ConsumerStore,
  DispatchRequest,
  StoredConsumer,
  StoredLag,
} from '../coordination.js';
import type { SessionIndex, StoredEntry } from './session-index.js';

interface Work {
  readonly entry: WorkEntry;
  readonly dueAt: number;
}

/** Consumers, their work, and the sessions with events that wait to be dispatched. */
export class InMemoryConsumers implements ConsumerStore {
  readonly #consumers = new Map<string, StoredConsumer>();
  /** The work of each consumer, by session and letter. */
  readonly #work = new Map<string, Map<string, Work>>();
  /** In the order in which they began to wait. */
  readonly #changed = new Set<StoredEntry>();

  /** @param now the time of an operation */
  constructor(
    private readonly sessions: SessionIndex,
    private readonly now: () => number,
  ) {}

  /** Call it after each write to a session, and when it is removed. */
  noteChange(session: StoredEntry): void {
    if (session.record.waitingSince !== NOTHING_WAITS && this.#changed.has(session)) return;
    const isStored = this.sessions.get(session.record) === session;
    if (isStored && session.record.waitingSince !== NOTHING_WAITS) this.#changed.add(session);
    else this.#changed.delete(session);
  }

  async register(name: string, settings: string): Promise<StoredConsumer> {
    const consumer = this.#consumers.get(name) ?? { name, registeredAt: Math.floor(this.now()), settings };
    this.#consumers.set(name, consumer);
    return consumer;
  }

  async list(): Promise<StoredConsumer[]> {
    this.now();
    return [...this.#consumers.values()];
  }

  async remove(name: string, limit: number): Promise<boolean> {
    this.now();
    const work = this.#workOf(name);
    for (const id of [...work.keys()].slice(0, limit)) work.delete(id);
    if (work.size > 0) return false;
    this.#work.delete(name);
    this.#consumers.delete(name);
    return true;
  }

  async apps(): Promise<string[]> {
    this.now();
    return this.sessions.appNames().toSorted(compareBytes);
  }

  async changed(limit: number): Promise<ChangedSession[]> {
    const now = this.now();
    const found: ChangedSession[] = [];
    for (const session of this.#changed) {
      if (found.length >= limit) break;
      if (session.record.expiresAt > now && this.sessions.get(session.record) === session) found.push(session.record);
      else this.#changed.delete(session);
    }
    return found;
  }

  async dispatch({ work, taken, settings }: DispatchRequest): Promise<boolean> {
    const now = this.now();
    const consumer = settings && this.#consumers.get(settings.name);
    if (settings && consumer?.settings !== settings.expected) return false;
    if (settings && consumer) this.#consumers.set(settings.name, { ...consumer, settings: settings.next });
    const marks = new Map(taken.map((seen) => [nameOf(seen, seen.incarnation), seen]));
    for (const added of work) {
      const session = this.#sessionOf(added);
      const seen = marks.get(nameOf(added.key, added.incarnation));
      if (!session || (seen && !markAfterDispatch(session.record, seen, now))) continue;
      const entry = { ...added, letterSeq: 0, tries: 0, claim: '', problem: '' };
      const queue = this.#workOf(added.consumer);
      const known = queue.get(idOf(entry));
      queue.set(
        idOf(entry),
        known ? { ...known, entry: { ...known.entry, upTo: added.upTo } } : { entry, dueAt: dueTime(now, 0) },
      );
    }
    for (const seen of taken) {
      const session = this.#sessionOf({ key: seen, incarnation: seen.incarnation });
      const mark = session && markAfterDispatch(session.record, seen, now);
      if (!session || !mark) continue;
      this.sessions.change(session, { ...session.record, ...mark });
      this.#changed.delete(session);
      this.noteChange(session);
    }
    return true;
  }

  async claim({ consumer, claim, limit, forMs }: ClaimRequest): Promise<WorkEntry[]> {
    const now = this.now();
    const queue = this.#workOf(consumer);
    const due = [...queue.values()].filter(({ dueAt }) => dueAt <= now).toSorted((a, b) => a.dueAt - b.dueAt);
    return due.slice(0, limit).map(({ entry }) => {
      const claimed = claimedEntry(entry, claim);
      queue.set(idOf(entry), { entry: claimed, dueAt: dueTime(now, forMs) });
      return claimed;
    });
  }

  async note(entry: WorkEntry, progress: WorkProgress): Promise<NoteOutcome> {
    const now = this.now();
    const queue = this.#workOf(entry.consumer);
    const stored = queue.get(idOf(entry))?.entry;
    if (stored?.claim !== entry.claim) return { kind: 'lost' };
    const next = entryAfter(stored, progress);
    if (next) queue.set(idOf(entry), { entry: next, dueAt: dueTime(now, progress.dueInMs) });
    else queue.delete(idOf(entry));
    const letter = progress.letter && letterOf(stored, progress.letter);
    if (letter && this.#sessionOf(letter)) queue.set(idOf(letter), { entry: letter, dueAt: NEVER_DUE });
    return next ? { kind: 'left', upTo: next.upTo } : { kind: 'done' };
  }

  async deadLetters(consumer: string, limit: number): Promise<WorkEntry[]> {
    this.now();
    const dead = [...this.#workOf(consumer).values()].filter(({ dueAt }) => dueAt === NEVER_DUE);
    return dead.slice(0, limit).map(({ entry }) => entry);
  }

  async resolve(letter: WorkEntry, how: 'retry' | 'drop'): Promise<boolean> {
    const now = this.now();
    const queue = this.#workOf(letter.consumer);
    const stored = queue.get(idOf(letter));
    if (stored?.dueAt !== NEVER_DUE) return false;
    if (how === 'drop') queue.delete(idOf(letter));
    else queue.set(idOf(letter), { entry: revivedLetter(stored.entry), dueAt: dueTime(now, 0) });
    return true;
  }

  async lag(consumer: string): Promise<StoredLag> {
    const now = this.now();
    const all = [...this.#workOf(consumer).values()];
    const waiting = all.filter(({ dueAt }) => dueAt !== NEVER_DUE).map(({ entry }) => entry.since);
    return {
      sessions: waiting.length,
      ...(waiting.length > 0 && { oldestSince: waiting.reduce((a, b) => Math.min(a, b)) }),
      deadLetters: all.length - waiting.length,
      now,
    };
  }

  /** Removes the work on a session. */
  forget(session: StoredEntry): void {
    this.#changed.delete(session);
    const { record } = session;
    const name = nameOf(record, record.incarnation);
    for (const queue of this.#work.values()) {
      for (const [id, { entry }] of queue) if (nameOf(entry.key, entry.incarnation) === name) queue.delete(id);
    }
  }

  all(): unknown[] {
    return [...this.#consumers.values(), ...[...this.#work.values()].flatMap((queue) => [...queue.values()])];
  }

  clear(): void {
    this.#consumers.clear();
    this.#work.clear();
    this.#changed.clear();
  }

  #sessionOf({ key, incarnation }: Pick<WorkEntry, 'key' | 'incarnation'>): StoredEntry | undefined {
    const session = this.sessions.get(key);
    return session?.record.incarnation === incarnation ? session : undefined;
  }

  #workOf(consumer: string): Map<string, Work> {
    const queue = this.#work.get(consumer) ?? new Map<string, Work>();
    // A worker may poll before there is work.
    if (this.#consumers.has(consumer)) this.#work.set(consumer, queue);
    return queue;
  }
}

function nameOf({ appName, userId, sessionId }: WorkEntry['key'], incarnation: string): string {
  return [appName, userId, sessionId, incarnation].join('\u0000');
}

function idOf({ key, incarnation, letterSeq }: WorkEntry): string {
  return `${nameOf(key, incarnation)}\u0000${letterSeq}`;
}
