import type { SessionKey } from '../domain/values/ids.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import { positionOf } from './list-order.js';
import type { ListedSession } from './session-list.js';
import type { ListPosition, ListRequest, SessionStorage } from './session-storage.js';

/** How to go through a list of sessions. */
export interface ListedRecordsOptions extends Pick<ListRequest, 'order' | 'filter'> {
  readonly pageSize: number;
  /** Begins after this session. Default: with the first. */
  readonly after?: ListPosition | undefined;
  /** Called for those whose records are damaged, which are left out. */
  readonly onDamaged?: ((key: SessionKey) => void) | undefined;
  /** Called between two requests to the store. */
  readonly pause?: (() => Promise<void>) | undefined;
}

/**
 * The sessions of an app or a user by the time of their creation, page by page. Those that are created meanwhile may be left out.
 *
 * @example for await (const record of listedRecords(storage, { appName: 'shop' }, { order: 'asc', pageSize: 100 })) check(record);
 */
export async function* listedRecords(
  storage: Pick<SessionStorage, 'list'>,
  owner: Pick<ListRequest, 'appName' | 'userId'>,
  options: ListedRecordsOptions,
): AsyncGenerator<SessionRecord, void, void> {
  for await (const { record } of listedSessions(storage, owner, { ...options, withState: false })) yield record;
}

/** The same, with their metadata and, if that is asked for, their state. */
export async function* listedSessions(
  storage: Pick<SessionStorage, 'list'>,
  { appName, userId }: Pick<ListRequest, 'appName' | 'userId'>,
  {
    order,
    filter,
    pageSize,
    after: begin,
    onDamaged,
    pause,
    withState,
  }: ListedRecordsOptions & Pick<ListRequest, 'withState'>,
): AsyncGenerator<ListedSession, void, void> {
  const request = { appName, userId, filter, orderBy: 'createTime', order, limit: pageSize, withState } as const;
  for (let after = begin; ;) {
    const { sessions, damaged = [], isCut, examinedTo } = await storage.list({ ...request, after });
    if (onDamaged) damaged.forEach(onDamaged);
    yield* sessions;
    const last = sessions.at(-1);
    const isFull = sessions.length >= pageSize || isCut;
    after = examinedTo ?? (last && isFull ? positionOf(last.record, request) : undefined);
    if (!after) return;
    await pause?.();
  }
}
