import { isExpired } from '../../domain/values/expiry.js';
import { type SessionKey, sessionNameOf } from '../../domain/values/ids.js';
import type { SessionRecord } from '../../domain/stored/session-record.js';
import type { Engine } from './engines.js';
import { Replica } from './replica.js';
import { resourceIdsOf } from './session-ids.js';
import type { SessionsApi } from './sessions-api.js';
import { type Snapshot, findSessionExpiry, toVertexRecord, sessionIdOf, snapshotIn } from './snapshot.js';
import { type ReadEvent, readEvent } from './stamped-event.js';
import { type VertexConnection, belongsTo } from './vertex-connection.js';
import type { VertexSession } from './wire.js';

/** A session as Vertex AI has it now. */
export interface FoundSession {
  readonly api: SessionsApi;
  readonly id: string;
  readonly session: VertexSession;
  readonly snapshot: Snapshot | undefined;
  readonly incarnation: string;
  readonly expiresAt: number;
  readonly now: number;
}

/** A session with its log, or with as much of its end as was needed. */
export interface LoadedSession extends FoundSession {
  readonly replica: Replica;
  readonly record: SessionRecord;
}

/** The session, if it is there, live, and that of the user. */
export function foundSession(
  connection: VertexConnection,
  key: SessionKey,
  session: VertexSession | undefined,
): Omit<FoundSession, 'api' | 'id'> | undefined {
  const now = connection.now();
  if (!session || !isSessionOf(session, key, connection.engineOf(key.appName))) return undefined;
  const snapshot = snapshotIn(session);
  const expiresAt = findSessionExpiry(session, snapshot);
  if (snapshot?.isBuilding || isExpired(expiresAt, now)) return undefined;
  return { session, snapshot, now, expiresAt, incarnation: snapshot?.nonce ?? session.createTime };
}

/** Whether the session in Vertex AI has this key. */
export function isSessionOf(session: VertexSession, key: SessionKey, engine: Engine): boolean {
  return belongsTo(session, key, engine) && sessionIdOf(session) === key.sessionId;
}

/** Reads the session without its events. */
export async function findSession(connection: VertexConnection, key: SessionKey): Promise<FoundSession | undefined> {
  return (await findWith(connection, key, nothing))?.found;
}

async function nothing(): Promise<void> {}

/** Reads the session, and something else at the same time. */
async function findWith<Other>(
  connection: VertexConnection,
  key: SessionKey,
  readOther: (api: SessionsApi, id: string) => Promise<Other>,
): Promise<{ found: FoundSession; other: Other } | undefined> {
  connection.now();
  const api = connection.apiOf(connection.engineOf(key.appName));
  for (const id of resourceIdsOf(key)) {
    const [session, other] = await Promise.all([api.get(id), readOther(api, id)]);
    const found = foundSession(connection, key, session);
    if (found) return { found: { ...found, api, id }, other };
  }
  return undefined;
}

/**
 * Reads the session, and its log as far as needed: the newest page of it, and older ones unless a replica has them.
 *
 * @param isEnough whether an end of the log is enough; without it, all of it is read
 */
export async function loadSession(
  connection: VertexConnection,
  key: SessionKey,
  isEnough?: (loaded: LoadedSession) => boolean,
): Promise<LoadedSession | undefined> {
  const name = sessionNameOf(key);
  const read = await findWith(connection, key, (api, id) => api.eventPage(id, undefined));
  if (!read) {
    connection.cache.remove(name);
    return undefined;
  }
  const { found, other: page } = read;
  const loadedOf = (replica: Replica): LoadedSession => ({
    ...found,
    replica,
    record: toVertexRecord(key, found, replica.part),
  });

  const newest = (page.sessionEvents ?? []).map(readEvent);
  const known = connection.cache.get(name, found.incarnation);
  if (known?.isUpToDate(newest.toReversed(), !page.nextPageToken)) {
    const loaded = loadedOf(known);
    if (known.isWhole || isEnough?.(loaded)) return loaded;
  }
  const isEndEnough = isEnough && ((end: Replica): boolean => isEnough(loadedOf(end)));
  const replica = await readLog(found, newest, page.nextPageToken, isEndEnough);
  connection.cache.put(name, found.incarnation, replica);
  return loadedOf(replica);
}

/** Reads pages from the newest event back: one, two, four … until that is enough. */
async function readLog(
  { api, id, snapshot }: FoundSession,
  newestFirst: ReadEvent[],
  nextPage: string | undefined,
  isEnough: ((end: Replica) => boolean) | undefined,
): Promise<Replica> {
  let [token, pages, wanted] = [nextPage, 1, isEnough ? 1 : Infinity];
  while (token) {
    if (pages >= wanted) {
      const end = Replica.ofEnd(newestFirst.toReversed(), snapshot);
      if (end && isEnough?.(end)) return end;
      wanted = end ? pages * 2 : Infinity;
    }
    const page = await api.eventPage(id, token);
    newestFirst.push(...(page.sessionEvents ?? []).map(readEvent));
    [token, pages] = [page.nextPageToken, pages + 1];
  }
  return Replica.ofWhole(newestFirst.toReversed(), snapshot);
}
