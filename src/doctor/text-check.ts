import { SessionNotFoundError } from '../sessions/domain/errors/errors.js';
import type { SessionKey, StateOwner } from '../sessions/domain/values/ids.js';
import type { EncryptedStorage } from '../sessions/encryption/encrypted-storage.js';
import type { ExaminedText } from '../sessions/encryption/examined-texts.js';
import { DamagedDataError } from '../sessions/domain/stored/stored-json.js';
import { type Note, encryptionNote } from './findings.js';
import { LogChangedError, logPages } from './log-pages.js';
import type { CheckEnvironment } from './session-check.js';
import { isExcess, readForCheck, readSharedForCheck } from './state-excess.js';

/**
 * Opens every text of an encrypted store, and notes each that cannot be opened. It reads the store as it is, since one such text fails
 * what reads it.
 */
export class TextCheck {
  /** Texts that are not encrypted, and may be so. */
  plain = 0;

  constructor(
    private readonly env: CheckEnvironment,
    private readonly storage: EncryptedStorage,
  ) {}

  /** Each text of a session that cannot be opened. A log that changes meanwhile is left to the next check, and a damaged record to others. */
  async *session(key: SessionKey): AsyncGenerator<Note, void, undefined> {
    try {
      yield* this.#session(key);
    } catch (error) {
      if (![LogChangedError, SessionNotFoundError, DamagedDataError].some((known) => error instanceof known))
        throw error;
    }
  }

  async *#session(key: SessionKey): AsyncGenerator<Note, void, undefined> {
    const read = await readForCheck(this.#asStored, key);
    if (!read) return;
    const { record, ...stored } = read.stored;
    // State of users and apps is examined once, and not with each of their sessions.
    const own = stored.state && { state: { ...stored.state, user: [], app: [] } };
    yield* this.#notes(await this.storage.examineSession({ ...stored, ...own, record, events: [] }));
    const log = { from: record.firstSeq, to: record.lastSeq };
    for await (const events of logPages(this.storage.stored, record, log, this.env.pace))
      yield* this.#notes(await this.storage.examineSession({ record, now: stored.now, events }));
  }

  /** Each text of the state of a user or an app that cannot be opened. */
  async scope(owner: StateOwner): Promise<readonly Note[]> {
    const entries = await readSharedForCheck(this.#asStored, owner);
    return isExcess(entries) ? [] : [...this.#notes(await this.storage.examineState(entries, owner))];
  }

  /** What is left to encrypt. */
  *left(): Generator<Note, void, undefined> {
    if (this.plain === 0) return;
    yield {
      code: 'NOT_ENCRYPTED',
      detail: `${this.plain} texts are older than the encryption, and may be read by anybody`,
    };
  }

  get #asStored(): CheckEnvironment {
    return { ...this.env, storage: this.storage.stored };
  }

  *#notes(texts: readonly ExaminedText[]): Generator<Note, void, undefined> {
    for (const { place, isPlain, problem } of texts) {
      if (problem) yield encryptionNote(problem, named(place));
      else if (isPlain) this.plain++;
    }
  }
}

/** Names of metadata are content if metadata is sealed. */
function named({ field, id }: ExaminedText['place']): string {
  return id === '' || field.includes('metadata') ? field : `${field} ${JSON.stringify(id)}`;
}
