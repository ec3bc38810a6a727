import { LimitExceededError } from '../../domain/errors/errors.js';
import type { SessionKey } from '../../domain/values/ids.js';
import { hasEntries } from '../../domain/metadata/metadata-entries.js';
import { NO_COUNTS } from '../../domain/stored/counters.js';
import { NO_MARKS } from '../../domain/stored/view-marks.js';
import { comparePositions, positionOf } from '../list-order.js';
import { ownEntries } from '../state-entries.js';
import type { ListRequest, ListResult, ListedSession } from '../session-storage.js';
import { APP_LABEL } from './engines.js';
import { type FoundSession, foundSession } from './load-session.js';
import type { SessionsApi } from './sessions-api.js';
import { expectReadable } from './read-session.js';
import { type RecordPart, metadataIn, toVertexRecord, sessionIdOf, stateIn } from './snapshot.js';
import type { VertexConnection } from './vertex-connection.js';
import { type VertexSession, millisOf } from './wire.js';

/** A list is sorted here, so all of its sessions are read. */
const MOST_SESSIONS = 10_000;

/** Lists sessions as their last own append left them. */
export async function listSessions(connection: VertexConnection, request: ListRequest): Promise<ListResult> {
  const all = await liveSessions(connection, request);
  const inOrder = all
    .map((listed) => ({ listed, position: positionOf(listed.record, request) }))
    .toSorted((a, b) => comparePositions(a.position, b.position, request));
  const { after, offset = 0, limit, filter, maxBytes = Infinity, withState = true } = request;
  const later = inOrder.filter(({ position }) => !after || comparePositions(position, after, request) > 0);
  const matching = later.filter(({ listed }) => hasEntries(listed.metadata, filter?.entries ?? []));
  const page = matching.slice(offset, offset + limit);
  let [size, count] = [0, 0];
  for (const { listed } of page) {
    if (withState) expectReadable(listed.state, listed.record, request.maxStateBytes);
    size += listed.metadata.length + (withState ? stateSizeOf(listed) : 0);
    if (count > 0 && size > maxBytes) break;
    count++;
  }
  return {
    sessions: page.slice(0, count).map(({ listed }) => listed),
    ...(request.withTotal && { total: inOrder.length }),
    ...(count < page.length && { isCut: true }),
  };
}

async function liveSessions(connection: VertexConnection, { appName, userId }: ListRequest): Promise<ListedSession[]> {
  connection.now();
  const engine = connection.engineOf(appName);
  const api = connection.apiOf(engine);
  const found = new Map<string, ListedSession>();
  for await (const session of listedByService(api, { userId, appLabel: engine.appLabel })) {
    const key = { appName, userId: userId ?? session.userId, sessionId: sessionIdOf(session) };
    const live = foundSession(connection, key, session);
    // A list that changes meanwhile may show a session twice.
    if (live) found.set(session.name, listedSession(live, key));
    if (found.size > MOST_SESSIONS) {
      throw new LimitExceededError(
        `Vertex AI sorts no lists, and more than ${MOST_SESSIONS} sessions are not sorted here. List those of one user.`,
      );
    }
  }
  return [...found.values()];
}

/** All sessions that the service lists, page by page, also those that do not count. */
export async function* listedByService(
  api: SessionsApi,
  { userId, appLabel }: { readonly userId: string | undefined; readonly appLabel: string | undefined },
): AsyncGenerator<VertexSession> {
  const filter = listFilter(userId, appLabel);
  let pageToken: string | undefined;
  do {
    const page = await api.sessionPage(filter, pageToken);
    yield* page.sessions ?? [];
    pageToken = page.nextPageToken || undefined;
  } while (pageToken);
}

function listedSession(found: Omit<FoundSession, 'api' | 'id'>, key: SessionKey): ListedSession {
  const { session, snapshot } = found;
  const record = toVertexRecord(key, found, snapshot ?? partOfForeign(session));
  return { record, metadata: metadataIn(session), state: stateIn(session, snapshot?.removed) };
}

/** A list shows no events, so those of another program are not counted. */
function partOfForeign({ createTime, updateTime = createTime }: VertexSession): RecordPart {
  return {
    lastUpdateTime: millisOf(updateTime),
    lastSeq: 0,
    tipSeq: 0,
    highWater: 0,
    counters: NO_COUNTS,
    marks: NO_MARKS,
    marksSeq: 0,
    turnsOnly: false,
    usage: [],
  };
}

function stateSizeOf({ state }: ListedSession): number {
  return ownEntries(state.session).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}

/** The filter of a list, in the language of Google's APIs. Undefined: all sessions. */
function listFilter(userId: string | undefined, appLabel: string | undefined): string | undefined {
  const terms = [
    ...(userId === undefined ? [] : [`user_id=${quoted(userId)}`]),
    ...(appLabel === undefined ? [] : [`labels.${APP_LABEL}=${quoted(appLabel)}`]),
  ];
  return terms.length === 0 ? undefined : terms.join(' AND ');
}

/** A string of a filter. The backslash comes first, since escaping adds more of them. */
function quoted(text: string): string {
  return `"${text.replaceAll('\\', String.raw`\\`).replaceAll('"', String.raw`\"`)}"`;
}
