import { SessionNotFoundError } from '../domain/errors/errors.js';
import type { SessionKey } from '../domain/values/ids.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import type { ReadRequest, SessionStorage, StoredSession } from '../storage/session-storage.js';

/** There is a session of the id, but not the one whose cursor was given, or which was read before. */
export function otherSessionError({ sessionId }: SessionKey): SessionNotFoundError {
  const error = new SessionNotFoundError(sessionId);
  const name = JSON.stringify(sessionId);
  error.message =
    `Session ${name} is not the one that was read before, or that the cursor is of: that was deleted, has expired, or ` +
    'has another id. Begin without a cursor.';
  return error;
}

/** Several reads of one session. They fail if another one has taken its id in between. */
export class IncarnationReads {
  #record: SessionRecord | undefined;

  /** @param incarnation of the session. Default: the one that the first read finds. */
  constructor(
    private readonly storage: Pick<SessionStorage, 'read'>,
    private readonly key: SessionKey,
    private incarnation: string | undefined,
  ) {}

  /** As of the last read. */
  get record(): SessionRecord {
    if (!this.#record) throw new SessionNotFoundError(this.key.sessionId);
    return this.#record;
  }

  async read(parts: Omit<ReadRequest, 'key'>): Promise<StoredSession> {
    const read = await this.storage.read({ key: this.key, ...parts });
    if (!read) throw new SessionNotFoundError(this.key.sessionId);
    const { incarnation } = read.record;
    if (this.incarnation !== undefined && this.incarnation !== incarnation) throw otherSessionError(this.key);
    this.#record = read.record;
    this.incarnation = incarnation;
    return read;
  }
}
