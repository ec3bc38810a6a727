import type { RemoteKey, RemoteSession, SessionsClient } from '../../src/client/index.js';
import type { EventPage, ListEventsRequest } from '../../src/sessions/operations/list-events.js';

/** A session with what a model is given now. Its state is shown as it was after an event, so this is not read. */
export type ShownSession = Omit<RemoteSession, 'state'>;

/** What the page of a session reads: the client of an app has it, and a copy in a file. */
export interface SessionReads extends Pick<SessionsClient, 'stateAt' | 'stateChanges' | 'watch'> {
  getSession(key: RemoteKey): Promise<ShownSession | undefined>;
  listEvents(request: Omit<ListEventsRequest, 'invocationId'>): Promise<EventPage>;
}
