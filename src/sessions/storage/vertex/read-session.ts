import type { SessionKey } from '../../domain/values/ids.js';
import { type StateLimits, countedSize, readExcessError } from '../../domain/stored/state-size.js';
import { storedJson } from '../../domain/stored/stored-json.js';
import { ownEntries } from '../state-entries.js';
import type { ReadRequest, StoredSession, StoredState } from '../session-storage.js';
import type { LoadedSession } from './load-session.js';
import { baseStateIn, metadataIn, stateIn } from './snapshot.js';

/** Whether the end of the log that was read is enough for the request. */
export function isEnoughFor(request: ReadRequest): (loaded: LoadedSession) => boolean {
  return ({ record, replica, session, now, snapshot }) => {
    const { window, withSummary, withBase, find } = request;
    const { summarySeq, viewFromSeq } = record.marks;
    if (find || (withSummary && summarySeq > 0 && summarySeq < replica.from)) return false;
    if (withBase && findBaseState(session, snapshot !== undefined) === undefined) return false;
    if (!window) return true;
    const since = Math.max(window.since ?? 0, window.maxAgeMs === undefined ? 0 : now - window.maxAgeMs);
    const first = Math.max(
      (window.afterSeq ?? 0) + 1,
      window.inView ? viewFromSeq + 1 : 1,
      window.ranges?.[0]?.from ?? 1,
      since > replica.firstHighWater ? replica.from : 1,
    );
    if (first >= replica.from) return true;
    if (window.keep === 'oldest') return false;
    const { events, isCut } = replica.log.window(window, record, now);
    const isFull = isCut || events.length === window.limit;
    return isFull && (events[0]?.seq ?? replica.from) >= replica.from;
  };
}

/** The requested parts of a session. */
export function storedSession(
  { session, snapshot, replica, record, now }: LoadedSession,
  request: ReadRequest,
): StoredSession {
  const { log } = replica;
  const state = request.withState ? stateIn(session, snapshot?.removed) : undefined;
  if (state) expectReadable(state, record, request.maxStateBytes);
  const summary = request.withSummary ? log.at(record.marks.summarySeq) : undefined;
  return {
    record,
    now,
    ...(request.window ? log.window(request.window, record, now) : { events: [] }),
    ...(state && { state, scopeExpiry: {} }),
    ...(request.withMetadata && { metadata: metadataIn(session) }),
    ...(summary && { summary }),
    ...(request.withBase && {
      baseState: findBaseState(session, snapshot !== undefined) ?? foreignBase({ session, replica }),
    }),
    ...(request.find && { found: log.findInGroup(request.find) }),
  };
}

/** Refuses state that is too large. It was loaded, because the service does not tell its size, but it goes no further. */
export function expectReadable(state: StoredState, owner: SessionKey, limits: StateLimits | undefined): void {
  if (!limits) return;
  const { atMost: bytes } = countedSize(ownEntries(state.session));
  if (bytes > limits.session) throw readExcessError({ scope: 'session', bytes, most: limits.session }, owner);
}

/** The state at creation. Of a session that another program created, it is not known by itself. */
function findBaseState(session: LoadedSession['session'], isOurs: boolean): string | undefined {
  return baseStateIn(session) ?? (isOurs ? '{}' : undefined);
}

/** What no event has changed since. */
function foreignBase({ session, replica }: Pick<LoadedSession, 'session' | 'replica'>): string {
  const changed = new Set<string>();
  for (const { payload } of replica.log.entries()) {
    const { actions } = storedJson(payload ?? '{}', 'an event') as { actions?: { stateDelta?: object } };
    for (const key of Object.keys(actions?.stateDelta ?? {})) changed.add(key);
  }
  const members = ownEntries(stateIn(session).session).filter(([name]) => !changed.has(name));
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}
