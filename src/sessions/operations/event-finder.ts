import { SessionNotFoundError } from '../domain/errors/errors.js';
import { type GroupSearch, toEventGroup } from '../domain/event/event-group.js';
import { sessionKeyOf } from '../domain/values/ids.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import { loggedEvent } from '../domain/stored/stored-json.js';
import { EventGroups } from '../storage/event-groups.js';
import type { SessionStorage } from '../storage/session-storage.js';
import { readLog } from './read-log.js';

/** Asks the store for events of a group. If it cannot tell, this reads the log, once. */
export class EventFinder {
  #groups: EventGroups | undefined;

  constructor(
    private readonly storage: SessionStorage,
    private readonly record: SessionRecord,
  ) {}

  async find(search: GroupSearch): Promise<number> {
    if (this.#groups) return this.#groups.find(search);
    const key = sessionKeyOf(this.record);
    const read = await this.storage.read({ key, find: search });
    if (read?.record.incarnation !== this.record.incarnation) throw new SessionNotFoundError(key.sessionId);
    if (read.found !== undefined) return read.found;
    this.#groups = await this.#readGroups();
    return this.#groups.find(search);
  }

  async #readGroups(): Promise<EventGroups> {
    const groups = new EventGroups();
    const { firstSeq: from, lastSeq: to } = this.record;
    for await (const stored of readLog(this.storage, this.record, { from, to }))
      groups.add(toEventGroup(loggedEvent(stored)), stored.seq);
    return groups;
  }
}
