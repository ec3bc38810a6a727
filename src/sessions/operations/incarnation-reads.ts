import { SessionNotFoundError } from '../domain/errors.js';
import type { SessionKey } from '../domain/ids.js';
import type { SessionRecord } from '../domain/session-record.js';
import type { ReadRequest, SessionStorage, StoredSession } from '../storage/session-storage.js';

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
    const isOther = read && this.incarnation !== undefined && this.incarnation !== read.record.incarnation;
    if (!read || isOther) throw new SessionNotFoundError(this.key.sessionId, isOther);
    this.#record = read.record;
    this.incarnation = read.record.incarnation;
    return read;
  }
}
