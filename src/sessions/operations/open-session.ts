import { type ViewSource, rememberLoading } from '../domain/session-knowledge.js';
import { Session } from '../domain/session.js';
import { stateRecord } from '../domain/stored-state.js';
import type { ViewItem } from '../domain/view-item.js';
import type { StoredSession, StoredState } from '../storage/session-storage.js';

/** Makes of what was read the session object that a caller gets. */
export function openSession(
  { record, state }: Pick<StoredSession, 'record' | 'state'>,
  view: readonly ViewItem[],
  source: ViewSource,
): Session {
  const session = new Session(
    record,
    state ? mergedState(state) : {},
    view.map(({ event }) => event),
  );
  rememberLoading(session, record, source);
  return session;
}

/** All scopes in one record; their prefixes keep them apart. */
function mergedState({ app, user, session }: StoredState): Record<string, unknown> {
  return {
    ...stateRecord(app, 'app'),
    ...stateRecord(user, 'user'),
    ...stateRecord(session, 'session'),
  };
}
