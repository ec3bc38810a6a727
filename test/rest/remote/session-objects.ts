import type { RemoteAppend, RemoteSession, SessionsClient } from '../../../src/client/index.js';
import { isRewind, isSummary } from '../../../src/sessions/domain/event/event-inspection.js';
import type { EventInput, LoggedEvent } from '../../../src/sessions/domain/event/event.js';
import {
  applyCommit,
  applyEvents,
  applyTempState,
  isUnseen,
  replaceView,
  trackSession,
} from '../../../src/sessions/domain/session/session-tracking.js';
import { EMPTY_SOURCE, type ViewSource } from '../../../src/sessions/domain/view/loaded-view.js';
import { metadataChanges } from '../../../src/sessions/domain/metadata/metadata.js';
import { metadataAfter } from '../../../src/sessions/domain/metadata/metadata-entries.js';
import { type SessionRecord, newRecord } from '../../../src/sessions/domain/stored/session-record.js';
import { Session } from '../../../src/sessions/domain/session/session.js';
import { type ViewItem, viewItemOf } from '../../../src/sessions/domain/view/view-item.js';
import type { ViewFilter } from '../../../src/sessions/domain/view/cut-view.js';
import { isTempKey } from '../../../src/state/scopes.js';
import { filterChanges } from '../../../src/state/state-changes.js';

/** HTTP identifies sessions by their ids only, without the incarnation. */
const INCARNATION = 'unknown';

/** Converts a session of the routes to a session object of the service. */
export function sessionObject(remote: RemoteSession): Session {
  const record = recordOf(remote);
  const session = new Session(record, remote.state, remote.events, remote.metadata);
  const changes = metadataChanges({ ...remote.metadata, tags: { add: remote.metadata.tags } });
  trackSession(session, record, sourceOf(remote), metadataAfter('', changes));
  return session;
}

/** The object gets the events that were appended through it, but no events of other writers. */
export async function bringUpToDate(
  session: Session,
  submitted: EventInput,
  { event, duplicate }: RemoteAppend,
  { client, filter, now }: { client: SessionsClient; filter: ViewFilter; now: number },
): Promise<void> {
  const key = { appName: session.appName, userId: session.userId, sessionId: session.id };
  const isNew = isUnseen(session, event.seq);
  const { stateDelta = {}, stateRemovals = [] } = submitted.actions ?? {};
  applyTempState(session, copyOf(filterChanges({ stateDelta, stateRemovals }, isTempKey)));
  const isControl = isSummary(event) || isRewind(event) || duplicate;
  const remote = await client.getSession({ ...key, ...(!isControl && { numRecentEvents: 0 }) });
  if (!remote) return;
  const stored = copyOf(event);
  applyCommit(session, {
    seq: event.seq,
    changes: { stateDelta: stored.actions.stateDelta, stateRemovals: stored.actions.stateRemovals ?? [] },
    metadata: metadataChanges(stored.actions.metadataDelta ?? {}),
    record: recordOf(remote),
    previousTipSeq: duplicate ? undefined : await tipBefore(client, key, session.version, event.seq),
  });
  if (!isNew) return;
  if (isControl) {
    replaceView(session, itemsOf(remote), sourceOf(remote), recordOf(remote), filter);
    return;
  }
  const lacking = applyEvents(session, [viewItemOf(copyOf(event), now)], filter, now);
  const whole = lacking && (await client.getSession(key));
  if (whole) replaceView(session, itemsOf(whole), sourceOf(whole), recordOf(whole), filter);
}

/** Summaries between two events do not make a writer stale. */
async function tipBefore(
  client: SessionsClient,
  key: { appName: string; userId: string; sessionId: string },
  version: number,
  seq: number,
): Promise<number | undefined> {
  if (seq === version + 1) return undefined;
  const { events } = await client.listEvents({
    ...key,
    afterSeq: version,
    beforeSeq: seq,
    order: 'desc',
    limit: 1_000,
  });
  return events.find((event) => !isSummary(event))?.seq ?? version;
}

function recordOf(remote: RemoteSession): SessionRecord {
  const {
    appName,
    userId,
    id: sessionId,
    createTime,
    lastUpdateTime,
    version,
    conversationCount,
    turnsOnly = false,
  } = remote;
  const record = newRecord({ appName, userId, sessionId }, INCARNATION, createTime, 0);
  const counters = { ...record.counters, turns: conversationCount };
  return { ...record, lastUpdateTime, lastSeq: version, counters, turnsOnly };
}

function itemsOf({ events }: RemoteSession): ViewItem[] {
  return copyOf(events).map((event: LoggedEvent) => viewItemOf(event, event.timestamp));
}

/** The loaded view is the visible one, since older events would need another request. */
function sourceOf(remote: RemoteSession): ViewSource {
  const items = itemsOf(remote);
  const summary = items.find(({ event }) => isSummary(event));
  const conversation = { summary, items: items.filter((item) => item !== summary), hasOlder: remote.version > 0 };
  return { ...EMPTY_SOURCE, conversation };
}

function copyOf<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
