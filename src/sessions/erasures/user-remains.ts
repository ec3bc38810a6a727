import { countWhere } from '../coordination/find-entries.js';
import { AGENDA_SPACE } from '../coordination/entry-agenda.js';
import { KnownEntries } from '../coordination/known-entries.js';
import { spaceOfWork, workPrefixOf } from '../coordination/work-entries.js';
import { agendaPrefixOf } from '../domain/background/agenda-names.js';
import { componentPrefixOf } from '../domain/stored/component.js';
import { type UserKey, assertId } from '../domain/values/ids.js';
import { componentSessionsWith } from '../storage/component-sessions.js';
import type { ComponentStore } from '../storage/component-store.js';
import { countSessions } from '../storage/count-sessions.js';
import type { SessionStorage } from '../storage/session-storage.js';

/** What a store has of a user: how many of each. */
export interface UserRemains {
  readonly sessions: number;
  /** Values of the state of the user. */
  readonly state: number;
  /** Sums of tokens, by model. */
  readonly usage: number;
  /** Sessions that have component state. */
  readonly components: number;
  /** Entries of the agenda, and work of consumers. */
  readonly work: number;
}

/** Looks in all places that an erasure empties. */
export async function findUser(storage: SessionStorage, { appName, userId }: UserKey): Promise<UserRemains> {
  assertId(appName, 'appName');
  assertId(userId, 'userId');
  const user = { appName, userId };
  const scope = await storage.readScope(user);
  const { found } = await storage.readUsage([{ ...user, period: 'total' }]);
  return {
    sessions: await countSessions(storage, user),
    state: scope.entries.length,
    usage: found[0]?.length ?? 0,
    components: storage.components ? await countComponents(storage.components, user) : 0,
    work: await countWork(storage, user),
  };
}

async function countComponents(components: ComponentStore, user: UserKey): Promise<number> {
  const sessions: string[] = [];
  for await (const session of componentSessionsWith(componentPrefixOf(user), components)) sessions.push(session);
  return sessions.length;
}

async function countWork(storage: SessionStorage, user: UserKey): Promise<number> {
  const entries = new KnownEntries(storage.entries);
  let count = await countWhere(entries, AGENDA_SPACE, (name) => name.startsWith(agendaPrefixOf(user)));
  for (const { name } of await storage.consumers.list()) {
    count += await countWhere(entries, spaceOfWork(name), (work) => work.startsWith(workPrefixOf(user)));
  }
  return count;
}
