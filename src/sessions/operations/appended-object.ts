import type { StateChanges } from '../../state/state-changes.js';
import { isRewind, isSummary } from '../domain/event/event-inspection.js';
import type { LoggedEvent } from '../domain/event/event.js';
import type { SessionKey } from '../domain/values/ids.js';
import type { LoadedView } from '../domain/view/loaded-view.js';
import { metadataChanges } from '../domain/metadata/metadata.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import {
  applyCommit,
  applyEvents,
  applyTempState,
  getViewConfig,
  isUnseen,
  refreshEvents,
  replaceView,
} from '../domain/session/session-tracking.js';
import type { Session } from '../domain/session/session.js';
import { storedJson } from '../domain/stored/stored-json.js';
import { type UnparsedEvent, type ViewItem, unparsedViewItem } from '../domain/view/view-item.js';
import { type SessionEnvironment, appendFilter } from '../session-environment.js';
import { readMissing, readView } from './read-view.js';

/** A stored event, for the session object through which it was appended. */
export interface AppendedEvent {
  /** The event that the caller gets. */
  readonly event: LoggedEvent;
  /** The event as it is stored, if it may be parsed later. */
  readonly stored: UnparsedEvent;
  readonly temp: StateChanges;
  readonly appendedAt: number;
  /** The last event before it that was not a summary, if known. */
  readonly previousTipSeq?: number | undefined;
}

/**
 * Applies the events of an append to the caller's object, but no other writer's events. Errors here are reported in the
 * background, since the append is already stored.
 *
 * @param record the session after the append
 */
export function updateSessionObject(
  env: SessionEnvironment,
  session: Session,
  key: SessionKey,
  events: readonly AppendedEvent[],
  record: SessionRecord,
): Promise<void> | undefined {
  const report = (error: unknown): void => env.tasks.trackInBackground(Promise.reject(error));
  try {
    return applyAppend(env, session, key, events, record)?.catch(report);
  } catch (error) {
    report(error);
    return undefined;
  }
}

/** Most appends change the object immediately. */
function applyAppend(
  env: SessionEnvironment,
  session: Session,
  key: SessionKey,
  events: readonly AppendedEvent[],
  record: SessionRecord,
): Promise<void> | undefined {
  const unseen = events.filter(({ event }) => isUnseen(session, event.seq));
  for (const { event, temp, previousTipSeq } of events) {
    applyTempState(session, temp);
    const { metadataDelta } = event.actions;
    const metadata = metadataDelta && metadataChanges(metadataDelta);
    applyCommit(session, { seq: event.seq, changes: ownChanges(event), metadata, record, previousTipSeq });
  }
  if (unseen.length === 0) return undefined;
  if (unseen.some(({ event }) => isSummary(event) || isRewind(event) || record.marksSeq > event.seq)) {
    return readViewFor(env, session, key);
  }
  const filter = appendFilter(env);
  let now = 0;
  for (const { appendedAt } of unseen) now = Math.max(now, appendedAt);
  const lacking = applyEvents(session, unseen.map(toViewItem), filter, now);
  return lacking && readMissingFor(env, session, { ...key, incarnation: record.incarnation }, lacking);
}

function toViewItem({ stored }: AppendedEvent): ViewItem {
  return unparsedViewItem(stored);
}

/** A summary or a rewind changes the view. */
async function readViewFor(env: SessionEnvironment, session: Session, key: SessionKey): Promise<void> {
  const filter = appendFilter(env);
  const options = { config: getViewConfig(session), maxBytes: env.limits.maxViewBytes };
  const read = await readView(env.storage, key, filter, options);
  if (read) replaceView(session, read.view, read.source, read.stored.record, filter);
}

/** Reads the calls and the anchor that the object's view needs and that were not loaded. */
async function readMissingFor(
  { storage, ...env }: Pick<SessionEnvironment, 'storage' | 'history'>,
  session: Session,
  place: SessionKey & Pick<SessionRecord, 'incarnation'>,
  lacking: LoadedView,
): Promise<void> {
  const filter = appendFilter(env);
  const before = lacking.loaded;
  const { now } = lacking;
  lacking.mergeOlder(before, await readMissing(storage, place, before, { filter: lacking.filterOf(filter), now }));
  refreshEvents(session, lacking, filter);
}

/** A copy, so that the session's state does not share objects with the returned event. */
function ownChanges({ actions: { stateDelta, stateRemovals = [] } }: LoggedEvent): StateChanges {
  if (!hasObjects(stateDelta)) return { stateDelta, stateRemovals };
  return { stateDelta: storedJson(JSON.stringify(stateDelta), 'state') as StateChanges['stateDelta'], stateRemovals };
}

function hasObjects(values: Readonly<Record<string, unknown>>): boolean {
  for (const key of Object.keys(values)) if (typeof values[key] === 'object' && values[key] !== null) return true;
  return false;
}
