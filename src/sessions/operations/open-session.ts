import type { ViewSource } from '../domain/loaded-view.js';
import { metadataEntries } from '../domain/metadata-entries.js';
import { sessionMetadata } from '../domain/session-metadata.js';
import { trackSession } from '../domain/session-tracking.js';
import { Session } from '../domain/session.js';
import { stateRecord } from '../domain/stored-json.js';
import type { ViewItem } from '../domain/view-item.js';
import type { StoredSession, StoredState } from '../storage/session-storage.js';

/** Creates the session object for a caller. */
export function openSession(
  { record, state, metadata = '' }: Pick<StoredSession, 'record' | 'state' | 'metadata'>,
  view: readonly ViewItem[],
  source: ViewSource,
): Session {
  const session = new Session(
    record,
    state ? mergedState(state) : {},
    view.map(({ event }) => event),
    sessionMetadata(metadataEntries(metadata)),
  );
  trackSession(session, record, source, metadata);
  return session;
}

/** Merges all scopes; the prefixes keep the keys distinct. */
function mergedState({ app, user, session }: StoredState): Record<string, unknown> {
  return {
    ...stateRecord(app, 'app'),
    ...stateRecord(user, 'user'),
    ...stateRecord(session, 'session'),
  };
}
