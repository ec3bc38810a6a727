import type { RemoteKey, RemoteSession, SessionsClient } from '../../src/client/index.js';
import type {
  ExplainedEvent,
  ExplainViewRequest,
  ViewExplanation,
} from '../../src/sessions/operations/explain-view.js';
import type { EventPage, ListEventsRequest } from '../../src/sessions/operations/list-events.js';

/** A session with what a model is given now. Its state is shown as it was after an event, so this is not read. */
export type ShownSession = Omit<RemoteSession, 'state'>;

/** What the page of a session reads: the client of an app has it, and a copy in a file. */
export interface SessionReads extends Pick<SessionsClient, 'stateAt' | 'stateChanges' | 'watch' | 'getModelRequest'> {
  /** A copy explains the view of the moment when it was made, and no other. */
  readonly isCopy?: boolean;
  getSession(key: RemoteKey): Promise<ShownSession | undefined>;
  explainView(request: Omit<ExplainViewRequest, 'config'>): Promise<Pick<ViewExplanation, 'events' | 'nextCursor'>>;
  listEvents(request: Omit<ListEventsRequest, 'invocationId'>): Promise<EventPage>;
}

/** Why each event of a part of the log is given to a model, or not: page by page, since large events make pages short. */
export async function* explainedEvents(
  reads: SessionReads,
  part: Omit<ExplainViewRequest, 'config' | 'cursor'>,
): AsyncGenerator<readonly ExplainedEvent[], void, void> {
  let cursor: string | undefined;
  do {
    const page = await reads.explainView({ ...part, cursor });
    yield page.events;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}
