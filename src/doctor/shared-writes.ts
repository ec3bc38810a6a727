import { splitStateKey } from '../state/scopes.js';
import { digestOf } from '../sessions/domain/values/json-digest.js';
import type { LoggedEvent } from '../sessions/domain/event/event.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import { storedChanges } from '../sessions/domain/history/state-history.js';
import { storedJson } from '../sessions/domain/stored/stored-json.js';
import type { StateEntries } from '../sessions/storage/session-storage.js';
import type { Note } from './findings.js';

/** Writes of different sessions within this time may have been applied in any order. */
const SAME_TIME_MS = 60_000;
/** Of a key that many sessions write at the same time, any of so many writes may be the last one. */
const MOST_CANDIDATES = 8;

const REMOVED = '';

interface Write {
  readonly time: number;
  readonly sessionId: string;
  /** The digest of the value, or {@link REMOVED}. */
  readonly value: string;
}

/**
 * What events did to the state of one user or app. It holds the last writes of each key, not the events. State can
 * also change without events: by direct writes, by the initial state of a session, and by deleted sessions. So a key is
 * judged only by events that are younger than every session.
 */
export class SharedWrites {
  readonly #writes = new Map<string, Write[]>();
  #newestSession = 0;

  constructor(private readonly scope: 'user' | 'app') {}

  add(record: SessionRecord, { actions }: LoggedEvent, time: number): void {
    this.#newestSession = Math.max(this.#newestSession, record.createTime);
    const { stateDelta, stateRemovals } = storedChanges(actions);
    for (const [key, value] of Object.entries(stateDelta)) this.#note(record, key, time, digestOf(value));
    for (const key of stateRemovals) this.#note(record, key, time, REMOVED);
  }

  /** A session without events may have an initial state, too. */
  addSession({ createTime }: SessionRecord): void {
    this.#newestSession = Math.max(this.#newestSession, createTime);
  }

  /** How many keys of the current state are not what their last events say. */
  notes(state: StateEntries): Note[] {
    const current = new Map(state.map(([name, text]) => [name, digestOf(storedJson(text, 'state'))]));
    let unexplained = 0;
    for (const [name, writes] of this.#writes) {
      const isJudged = writes.every(({ time }) => time > this.#newestSession);
      const value = current.get(name) ?? REMOVED;
      if (isJudged && !writes.some((write) => write.value === value)) unexplained++;
    }
    if (unexplained === 0) return [];
    return [
      {
        code: 'SHARED_STATE_UNEXPLAINED',
        detail: `${unexplained} ${this.scope}: keys are not what the last events say`,
      },
    ];
  }

  #note({ sessionId, userId }: SessionRecord, key: string, time: number, value: string): void {
    const { scope, name } = splitStateKey(key);
    if (scope !== this.scope) return;
    const id = `${userId}\u0000${sessionId}`;
    const others = (this.#writes.get(name) ?? []).filter((write) => write.sessionId !== id);
    const writes = [...others, { time, sessionId: id, value }].sort((a, b) => b.time - a.time);
    const newest = writes[0]?.time ?? time;
    this.#writes.set(name, writes.filter((write) => newest - write.time <= SAME_TIME_MS).slice(0, MOST_CANDIDATES));
  }
}
