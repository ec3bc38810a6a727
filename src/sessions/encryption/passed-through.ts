import type { TurnOutcome, TurnRequest } from '../domain/stored/turn.js';
import type { UsageQuery } from '../domain/usage/usage-periods.js';
import type { Agenda, LeaseStore } from '../storage/coordination.js';
import type { EntryStore } from '../storage/entry-store.js';
import type { ChangeFeed } from '../storage/session-changes.js';
import type {
  DeleteRequest,
  PurgeCounts,
  SessionStorage,
  TouchRequest,
  UsageReply,
} from '../storage/session-storage.js';

/**
 * The part of a store that has no content: it is used as it is. Without its search index, which would be of words; a search reads the logs
 * instead. Events never stay objects in it.
 */
export abstract class PassedThrough {
  constructor(protected readonly storage: SessionStorage) {}

  get entries(): EntryStore {
    return this.storage.entries;
  }

  get leases(): LeaseStore {
    return this.storage.leases;
  }

  get agenda(): Agenda {
    return this.storage.agenda;
  }

  get cleansUpByItself(): boolean | undefined {
    return this.storage.cleansUpByItself;
  }

  get feed(): ChangeFeed | undefined {
    return this.storage.feed;
  }

  get audit(): SessionStorage['audit'] {
    return this.storage.audit?.bind(this.storage);
  }

  get groupedEvents(): SessionStorage['groupedEvents'] {
    return this.storage.groupedEvents?.bind(this.storage);
  }

  get warnings(): SessionStorage['warnings'] {
    return this.storage.warnings?.bind(this.storage);
  }

  turn(request: TurnRequest): Promise<TurnOutcome> {
    return this.storage.turn(request);
  }

  touch(request: TouchRequest): Promise<void> {
    return this.storage.touch(request);
  }

  delete(request: DeleteRequest): Promise<void> {
    return this.storage.delete(request);
  }

  readUsage(queries: readonly UsageQuery[]): Promise<UsageReply> {
    return this.storage.readUsage(queries);
  }

  purgeExpired(limit: number): Promise<PurgeCounts> {
    return this.storage.purgeExpired(limit);
  }

  close(): Promise<void> {
    return this.storage.close();
  }
}
