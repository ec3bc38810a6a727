import { decide, noAnswer } from '../coordination/decide.js';
import { KnownEntries } from '../coordination/known-entries.js';
import { canonicalJson } from '../domain/values/canonical-json.js';
import { isDeletable } from '../domain/write/commit-rules.js';
import { EncryptionError } from '../domain/errors/encryption-errors.js';
import { UserBeingErasedError, mayHaveMissed } from '../domain/retention/erasure-rules.js';
import { SessionNotFoundError, StoreUnavailableError } from '../domain/errors/errors.js';
import { type SessionKey, type UserKey, sessionKeyOf } from '../domain/values/ids.js';
import type { MetadataChange } from '../domain/metadata/metadata-entries.js';
import {
  type RetentionHold,
  SessionHeldError,
  isHeld,
  mayMakeHeld,
  setsLabels,
} from '../domain/retention/retention-rules.js';
import { retryUndefined } from '../domain/process/retry-overtaken.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import { parseMetadataText } from '../domain/session/tracked-metadata.js';
import { storedJson } from '../domain/stored/stored-json.js';
import { runningErasures } from '../erasures/running-erasures.js';
import type { EntryPlace } from '../storage/entry-store.js';
import { keptEntry } from '../storage/new-entry.js';
import { listedSessions } from '../storage/listed-records.js';
import type { DeleteRequest, SessionStorage } from '../storage/session-storage.js';

const PLACE: EntryPlace = { space: 'retention', name: 'hold' };
/** How many sessions of a user one request reads. */
const PAGE = 100;

/**
 * Which sessions have to stay: as this process was told, and as any process has stored. The store keeps those of all policies, because
 * commands, scripts and older services are not told. A policy that loses its hold does not lift it.
 */
export class Holds {
  #given: readonly RetentionHold[] = [];

  constructor(private readonly storage: SessionStorage) {}

  /** Counts in this process from now on. */
  give(hold: RetentionHold): void {
    this.#given = joined(this.#given, hold);
  }

  /**
   * Counts in all processes, once it is stored.
   *
   * @throws UserBeingErasedError if a call that erases a user may not have seen it
   */
  async store(hold: RetentionHold): Promise<void> {
    await this.#change((holds) => joined(holds, hold));
    const [stored] = (await this.storage.entries.find([PLACE])).entries;
    const running = stored ? await runningErasures(this.storage) : [];
    if (running.some((erasure) => mayHaveMissed(erasure, stored?.since ?? 0))) throw new UserBeingErasedError();
  }

  /** Takes it from the store, and from this process. */
  async release(hold: RetentionHold): Promise<void> {
    this.#given = without(this.#given, hold);
    await this.#change((holds) => without(holds, hold));
  }

  /** All of them. One request. */
  async all(): Promise<readonly RetentionHold[]> {
    const { entries } = await this.storage.entries.find([PLACE]);
    return [...this.#given, ...holdsIn(entries[0]?.text)];
  }

  /**
   * Refuses what would take something from a session that is held, or from a user who has one.
   *
   * @throws SessionHeldError
   */
  async assertFree({ sessionId, ...user }: UserKey & Partial<SessionKey>): Promise<void> {
    const holds = await this.all();
    if (holds.length === 0) return;
    if (sessionId === undefined) await this.#assertNoneOf(user, holds);
    else await this.#freeRecord({ ...user, sessionId }, holds);
  }

  /**
   * Deletes a session that no hold keeps. A label is an event, so that one that comes meanwhile refuses the write, and is seen.
   *
   * @throws SessionHeldError
   */
  async deleteUnlessHeld(request: DeleteRequest): Promise<void> {
    const isDone = await retryUndefined(async () => {
      const holds = await this.all();
      if (holds.length === 0) {
        await this.storage.delete(request);
        return true;
      }
      const seen = await this.#freeRecord(request, holds);
      if (!isDeletable(seen, request)) return true;
      const { incarnation, lastSeq } = seen;
      await this.storage.delete({ ...request, incarnation, lastSeq });
      const left = await this.storage.read({ key: sessionKeyOf(seen) });
      return left?.record.incarnation === incarnation ? undefined : true;
    });
    if (!isDone)
      throw new StoreUnavailableError('Others wrote to the session each time that it was to be deleted.', false);
  }

  /**
   * Asked after a write, so that no hold is acknowledged and lost: either the erasure of the user has seen the label, or this sees the
   * erasure. It costs nothing where no label is set, and one request where no hold names it.
   *
   * @throws UserBeingErasedError if the changes have made the session held while its user is being erased
   * @throws SessionNotFoundError if it is gone by now
   */
  async confirm(key: SessionKey, changes: readonly MetadataChange[]): Promise<void> {
    if (!setsLabels(changes)) return;
    const holds = await this.all().catch(undefinedIfUnreadable);
    if (holds && !mayMakeHeld(changes, holds)) return;
    // In this order: an erasure that is over by now has removed the session.
    const running = await runningErasures(this.storage, key);
    const read = await this.storage.read({ key, withMetadata: true });
    if (!read) throw new SessionNotFoundError(key.sessionId);
    const mayBeHeld = !holds || isHeld(parseMetadataText(read.metadata ?? ''), holds);
    if (running.length > 0 && mayBeHeld) throw new UserBeingErasedError(key.userId);
  }

  /** How the session was when no hold kept it. Undefined if there is none. */
  async #freeRecord(session: SessionKey, holds: readonly RetentionHold[]): Promise<SessionRecord | undefined> {
    const key = sessionKeyOf(session);
    const read = await this.storage.read({ key, withMetadata: true });
    if (read && isHeld(parseMetadataText(read.metadata ?? ''), holds)) throw new SessionHeldError(key.sessionId);
    return read?.record;
  }

  /** Without a filter, since an encrypted store cannot compare labels. */
  async #assertNoneOf(user: UserKey, holds: readonly RetentionHold[]): Promise<void> {
    const listed = listedSessions(this.storage, user, { order: 'asc', pageSize: PAGE, withState: false });
    for await (const { record, metadata, unreadable, areLabelsSealed } of listed) {
      if (isHeld(parseMetadataText(metadata), holds)) throw new SessionHeldError(record.sessionId);
      // What its labels say cannot be read.
      if (areLabelsSealed) throw unreadable;
    }
  }

  async #change(next: (holds: readonly RetentionHold[]) => readonly RetentionHold[]): Promise<void> {
    await decide(new KnownEntries(this.storage.entries), { places: [PLACE] }, (seen) => {
      const stored = seen.at(PLACE);
      const before = holdsIn(stored?.text);
      const holds = next(before);
      if (holds.length === before.length) return { answer: noAnswer };
      const write = {
        ...PLACE,
        expected: stored?.stamp,
        next: holds.length > 0 ? keptEntry(JSON.stringify(holds)) : undefined,
      };
      return { writes: [write], answer: noAnswer };
    });
  }
}

/** Who lacks the key of the holds cannot know what they name. */
function undefinedIfUnreadable(error: unknown): undefined {
  if (!(error instanceof EncryptionError)) throw error;
}

function holdsIn(text: string | undefined): readonly RetentionHold[] {
  return text === undefined ? [] : (storedJson(text, 'the holds') as readonly RetentionHold[]);
}

function joined(holds: readonly RetentionHold[], hold: RetentionHold): readonly RetentionHold[] {
  return [...without(holds, hold), hold];
}

function without(holds: readonly RetentionHold[], hold: RetentionHold): readonly RetentionHold[] {
  const name = canonicalJson(hold);
  return holds.filter((other) => canonicalJson(other) !== name);
}
