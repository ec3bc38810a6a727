import { randomUUID } from 'node:crypto';
import { DAY_MS, NEVER, isExpired } from '../../domain/values/expiry.js';
import type { SessionKey } from '../../domain/values/ids.js';
import type { LogOrigin } from '../../domain/stored/session-record.js';
import type { StoredSession } from '../session-storage.js';
import type { NewSessionRequest } from '../session-store.js';
import { stateMembersOf } from './vertex-writes.js';
import { APP_LABEL } from './engines.js';
import { EventSender } from './event-sender.js';
import { foundSession, isSessionOf, loadSession } from './load-session.js';
import { storedSession } from './read-session.js';
import { BASE_KEY, METADATA_KEY, SNAPSHOT_KEY, assertOwnState, sharedStateError } from './reserved-keys.js';
import { resourceIdsOf } from './session-ids.js';
import type { Creation, NewSession, SessionsApi } from './sessions-api.js';
import {
  type Snapshot,
  type SnapshotOrigin,
  findSessionExpiry,
  recordPart,
  snapshotIn,
  snapshotText,
} from './snapshot.js';
import type { VertexConnection } from './vertex-connection.js';
import { VertexError } from './vertex-error.js';
import { type VertexSession, millisOf, timeText, ttlText } from './wire.js';

/** A creation that did not complete its log for so long was interrupted. */
const ABANDONED_MS = 10 * 60_000;
/** The service wants a day, by its own clock. */
const SHORTEST_LIFE_MS = DAY_MS + 3_600_000;
/** The last second that a time of the API can be. */
const LAST_EXPIRY = Date.UTC(9999, 11, 31, 23, 59, 59);

/** Creates a session; returns undefined if there is one. Of several processes, the service lets one create it. */
export async function createSession(
  connection: VertexConnection,
  request: NewSessionRequest,
): Promise<StoredSession | undefined> {
  const now = connection.now();
  const { key, baseState, upserts, expiry, metadata = '', log } = request;
  if (upserts.some(({ scope }) => scope !== 'session')) throw sharedStateError();
  assertOwnState(upserts);
  const engine = connection.engineOf(key.appName);
  const api = connection.apiOf(engine);
  const nonce = randomUUID();
  // The service says when it expires, and loads all of the state.
  const record = {
    ...request.recordAt(now),
    incarnation: nonce,
    expiresAt: log?.origin?.expiresAt ?? NEVER,
    stateBytes: 0,
  };
  const origin = log?.origin && originOf(log.origin, now);
  const events = (log?.events ?? []).map((event, index) => ({ ...event, group: event.group ?? '', seq: index + 1 }));
  const done: Snapshot = {
    ...recordPart(record),
    sessionId: key.sessionId,
    lastId: events.at(-1)?.id ?? '',
    removed: [],
    nonce,
    origin,
  };
  const begun: Snapshot = events.length === 0 ? done : { ...done, lastSeq: 0, lastId: '', isBuilding: true };
  const { ttlMs } = expiry.session;
  const body = {
    userId: key.userId,
    sessionState: stateMembersOf(upserts, {
      [SNAPSHOT_KEY]: snapshotText(begun),
      ...(baseState !== '{}' && { [BASE_KEY]: baseState }),
      ...(metadata !== '' && { [METADATA_KEY]: metadata }),
    }),
    ...(engine.appLabel !== undefined && { labels: { [APP_LABEL]: engine.appLabel } }),
    ...(ttlMs < NEVER && { ttl: ttlText(ttlMs) }),
    ...(origin && { expireTime: timeText(origin.givenExpiry * 1000) }),
  };
  // Another app or user may have the first id in this engine. Then this session may have been created under the second one.
  const [first = '', second] = resourceIdsOf(key);
  if (second !== undefined && (await isTaken(connection, key, api, second))) return undefined;
  const tried = await tryToCreate(connection, key, api, first, body, nonce);
  const isOthers = tried === 'of another' && second !== undefined;
  const id = isOthers ? second : first;
  if ((isOthers ? await tryToCreate(connection, key, api, id, body, nonce) : tried) !== 'created') return undefined;
  if (events.length > 0) {
    // With the last event the session appears.
    const sender = new EventSender(connection, { api, id, now });
    for (const event of events) {
      const delta = event.seq === events.length ? { [SNAPSHOT_KEY]: snapshotText(done) } : {};
      if (!(await sender.send(event, delta)))
        throw new VertexError('The session was deleted while it was created.', false);
    }
  }
  const everything = { key, withState: true, withMetadata: true };
  const loaded = await loadSession(connection, key, () => true);
  if (!loaded) throw new VertexError('Vertex AI does not show the session that it created.', true);
  return storedSession(loaded, everything);
}

async function isTaken(connection: VertexConnection, key: SessionKey, api: SessionsApi, id: string): Promise<boolean> {
  return foundSession(connection, key, await api.get(id)) !== undefined;
}

async function tryToCreate(
  connection: VertexConnection,
  key: SessionKey,
  api: SessionsApi,
  id: string,
  body: NewSession,
  nonce: string,
  mayRemove = true,
): Promise<'created' | 'exists' | 'of another'> {
  const outcome = await createWithExpiry(api, id, body);
  if (outcome === 'created') return 'created';
  const session = await api.get(id);
  if (session && snapshotIn(session)?.nonce === nonce) return 'created';
  if (outcome === 'unclear' && !session) throw new VertexError('Vertex AI lost the creation of the session.', true);
  if (session && !isSessionOf(session, key, connection.engineOf(key.appName))) return 'of another';
  if (!mayRemove || (session && !isOver(connection, session))) return 'exists';
  // What was left of an interrupted creation, or of a session that expired and was not removed yet.
  if (session) await api.delete(id);
  return tryToCreate(connection, key, api, id, body, nonce, false);
}

/** The service does not say how long a session may live. If it refuses the expiry, the session gets that of the service. */
async function createWithExpiry(api: SessionsApi, id: string, body: NewSession): Promise<Creation> {
  try {
    return await api.create(id, body);
  } catch (error) {
    if (body.expireTime === undefined || !(error instanceof VertexError) || error.httpStatus !== 400) throw error;
    return api.create(id, { ...body, expireTime: undefined });
  }
}

function originOf({ createTime, firstSeq, expiresAt }: LogOrigin, now: number): SnapshotOrigin {
  const givenExpiry = Math.min(Math.max(expiresAt, now + SHORTEST_LIFE_MS), LAST_EXPIRY);
  return { createTime, firstSeq, expiresAt, givenExpiry };
}

function isOver(connection: VertexConnection, session: VertexSession): boolean {
  const now = connection.now();
  const snapshot = snapshotIn(session);
  if (isExpired(findSessionExpiry(session, snapshot), now)) return true;
  return snapshot?.isBuilding === true && now - millisOf(session.createTime) > ABANDONED_MS;
}
